// Received audio of one leg by RTP timestamp, as it came: who decodes it, and when, is not its business.
//
// Packets are kept whole, as codecs with a past need them, and handed out in parts, as frames of 20 ms need
// them: so packets of any length (10-120 ms), repeated, overlapping or out of order, all become stretches of
// time with a part of a packet for each. A packet stands for its time until the next one begins. Everything
// has a fixed place: nothing is
// allocated once it stands.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/base/prefetch.hpp"
#include "core/codec/codec.hpp"

namespace carillon {

class PayloadStore {
 public:
  /// The largest playout delay (200 ms), the largest packet (120 ms), and room for a burst.
  static constexpr Nanos kHeldTime = 512 * kMillisecond;
  /// So many packets and stretches of silence: 480 ms of 10 ms each. What is shorter is held for less long.
  static constexpr size_t kMaxPackets = 48;
  /// In octets: 120 ms of L16 at 16 kHz.
  static constexpr size_t kLongestPayload = 3840;

  /// Payloads are kept for so long: what is read is at most a playout delay, a packet and what a decoder is
  /// shown of its past behind the newest.
  static constexpr Nanos kKeptTime = 360 * kMillisecond;

  /// Has room for kKeptTime at that rate. At a higher rate packets are kept for less long.
  PayloadStore(RtpClockRate clock, size_t octets_per_second)
      : capacity_(clock.in(kHeldTime)),
        octets_(octets_per_second * static_cast<size_t>(kKeptTime / kMillisecond) / 1000) {}

  /// kHeldTime on the packets' clock.
  [[nodiscard]] RtpTicks capacity() const { return capacity_; }

  enum class Written : uint8_t {
    stored,
    too_old,  // before everything the store can still hold
    jumped,   // beyond it: the caller decides whether to restart
    too_long,
  };

  /// What lies between the newest so far and `timestamp` is missing.
  Written write(RtpTime timestamp, RtpTicks duration, Coding coding, Bytes payload);

  /// Declares the time from end() up to `timestamp` to be silence that the sender chose not to send.
  void fill_silence_until(RtpTime timestamp);

  /// The longest stretch from `timestamp` on, at most `limit`, that is one packet's, silent or wholly
  /// missing.
  struct Run {
    RtpTicks length;
    /// Without a payload where nothing came. `begins` is the packet's, `into` where the stretch starts in it.
    PacketPart part;
    /// Missing: the payload of the packet right behind the stretch, if there is one.
    Bytes following;
  };
  /// Its payloads stand until the next call on this thread.
  [[nodiscard]] Run run_at(RtpTime timestamp, RtpTicks limit) const;
  /// Nothing of it is missing.
  [[nodiscard]] bool complete(RtpTime timestamp, RtpTicks length) const;

  /// What every access needs, at the beginning of the object.
  static constexpr size_t kHeadBytes = 2 * kCacheLine;
  /// Hints, once that is there: write() will be called soon; run_at().
  void expect_write() const;
  void expect_read(RtpTime timestamp, RtpTicks length) const;

  void reset();
  [[nodiscard]] bool empty() const { return empty_; }
  /// One past the newest tick.
  [[nodiscard]] RtpTime end() const { return end_; }
  /// Changes with every reset: a reader that sees a new one starts over.
  [[nodiscard]] uint32_t generation() const { return generation_; }

 private:
  /// What stands from `begin` on: a packet, what another one left of it, or silence.
  struct Stretch {
    RtpTime begin;
    /// Where its payload was written, counted since the beginning: overwritten when the ring has gone round.
    uint64_t at = 0;
    RtpTicks length;
    /// What of the packet lies before this stretch.
    RtpTicks into;
    size_t octets = 0;
    Coding coding = Coding::missing;

    [[nodiscard]] RtpTime end() const { return begin + length; }
  };
  /// The same as it is kept: its instants by their low bits, which are all that tells those of the last
  /// seconds apart.
  struct Kept {
    uint32_t begin = 0;
    uint32_t at = 0;
    /// At most the capacity: 24,576 at 48 kHz.
    uint16_t ticks = 0;
    uint16_t ticks_into = 0;
    uint16_t octets = 0;
    Coding coding = Coding::missing;
  };

  // In order of time, 0 being the oldest.
  [[nodiscard]] const Kept& kept(size_t n) const { return stretches_[(first_ + n) % kMaxPackets]; }
  [[nodiscard]] RtpTime begin_of(size_t n) const;
  [[nodiscard]] Stretch nth(size_t n) const;
  void set(size_t n, const Stretch& stretch);
  /// How many begin at `timestamp` or before it.
  [[nodiscard]] size_t count_until(RtpTime timestamp) const;
  /// Its time is within the capacity and its payload, if it has one, still there.
  [[nodiscard]] bool held(const Stretch& stretch) const;
  [[nodiscard]] Bytes payload(const Stretch& stretch) const;
  void place(const Stretch& stretch);
  void insert(size_t n, const Stretch& stretch);
  void forget_oldest();
  uint64_t keep(Bytes payload);

  // What every access needs comes first.
  RtpTicks capacity_;
  RtpTime end_;
  uint64_t written_ = 0;
  size_t first_ = 0;
  size_t count_ = 0;
  uint32_t generation_ = 0;
  bool empty_ = true;
  std::array<Kept, kMaxPackets> stretches_{};
  std::vector<uint8_t> octets_;
};

}  // namespace carillon
