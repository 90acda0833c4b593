// Received audio of one leg by RTP timestamp, as it came: who decodes it, and when, is not its business.
//
// It holds one octet a tick of the RTP clock, as G.711 has it: so packets of any length (10-120 ms),
// repeated, overlapping or out of order, all become the same thing, octets at their place. A codec whose
// packets cannot be cut needs a store that keeps them whole behind the same runs.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "core/base/prefetch.hpp"
#include "core/codec/codec.hpp"

namespace carillon {

class PayloadStore {
 public:
  /// 512 ms of G.711: the largest playout delay (200 ms), the largest packet (120 ms), and room for a burst.
  static constexpr int64_t kCapacity = 4096;

  enum class Written : uint8_t {
    stored,
    too_old,  // before everything the store can still hold
    jumped,   // beyond it: the caller decides whether to restart
  };

  /// `timestamp` is extended (see unwrap.hpp). What lies between the newest so far and `timestamp` is
  /// missing.
  Written write(int64_t timestamp, Coding coding, Bytes payload);

  /// Declares the time from end() up to `timestamp` to be silence that the sender chose not to send.
  void fill_silence_until(int64_t timestamp);

  /// The longest stretch from `timestamp` on, at most `limit`, that is coded in one way or wholly missing.
  struct Run {
    size_t count;
    Coding coding;
  };
  [[nodiscard]] Run run_at(int64_t timestamp, size_t limit) const;
  /// Nothing of it is missing.
  [[nodiscard]] bool complete(int64_t timestamp, size_t count) const;

  /// The octets of a run that has a payload; fewer than `count` at the end of the ring.
  [[nodiscard]] Bytes payload(int64_t timestamp, size_t count) const;

  /// Hints: write() will be called soon; payload().
  void expect_write() const { prefetch(this, sizeof(*this) - sizeof(codings_) - sizeof(octets_)); }
  void expect_read(int64_t timestamp, size_t count) const {
    const auto from = static_cast<size_t>(timestamp & (kCapacity - 1));
    prefetch(&codings_[from / 64], sizeof(CodingWord));
    prefetch(&octets_[from], std::min(count, octets_.size() - from));
  }

  void reset();
  [[nodiscard]] bool empty() const { return empty_; }
  /// One past the newest octet.
  [[nodiscard]] int64_t end() const { return end_; }
  /// Changes with every reset: a reader that sees a new one starts over.
  [[nodiscard]] uint32_t generation() const { return generation_; }

 private:
  /// The codings of 64 ticks, the two bits of each in the same place of two words.
  struct CodingWord {
    uint64_t low = 0;
    uint64_t high = 0;
  };
  static constexpr uint64_t all_or_none(Coding coding, unsigned bit) {
    return (static_cast<unsigned>(coding) >> bit & 1) != 0 ? ~uint64_t{0} : 0;
  }

  [[nodiscard]] Coding coding_at(int64_t timestamp) const;
  void mark(int64_t timestamp, int64_t count, Coding coding);
  void store(int64_t timestamp, Bytes payload);

  int64_t end_ = 0;
  uint32_t generation_ = 0;
  bool empty_ = true;
  std::array<CodingWord, kCapacity / 64> codings_{};
  std::array<uint8_t, kCapacity> octets_{};
};

}  // namespace carillon
