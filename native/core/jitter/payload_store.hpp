// Stores received payloads of one leg by RTP timestamp, without decoding them.
//
// Packets are stored whole, because codecs with state need whole packets, but read in parts, in 20 ms frames.
// Packets of any length (10-120 ms), duplicates, overlaps and reordering thus become sections of time, each
// with part of a packet. A packet covers its time until the next one begins. All memory is allocated in the
// constructor.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/base/prefetch.hpp"
#include "core/codec/codec.hpp"

namespace carillon {

/// `kPackets`: maximum number of packets and silence sections. `kHeldMs`: longest stored time.
/// `kKeptMs`: time for which payloads are kept.
template <size_t kPackets, int kHeldMs, int kKeptMs>
class PacketStore {
 public:
  static constexpr Nanos kHeldTime = kHeldMs * kMillisecond;
  static constexpr size_t kMaxPackets = kPackets;
  /// Largest payload in octets: 120 ms of L16 at 16 kHz.
  static constexpr size_t kLongestPayload = 3840;

  /// Allocates memory for kKeptMs at this octet rate. Higher rates are kept for less time.
  PacketStore(RtpClockRate clock, size_t octets_per_second)
      : capacity_(clock.in(kHeldTime)), octets_(octets_in(octets_per_second)) {}

  /// kHeldTime on the RTP clock.
  [[nodiscard]] RtpTicks capacity() const { return capacity_; }

  enum class Written : uint8_t {
    stored,
    too_old,  // before the stored time range
    jumped,   // after the stored time range: the caller decides whether to restart
    too_long,
  };

  /// Stores a packet. Time between the newest packet and `timestamp` becomes missing.
  Written write(RtpTime timestamp, RtpTicks duration, Coding coding, Bytes payload);

  /// Declares the time from end() to `timestamp` as a sender pause, played as silence, or as comfort noise if
  /// that was the last section.
  void fill_silence_until(RtpTime timestamp);
  /// Returns true if the newest section is comfort noise. It lasts until the next section, also beyond end().
  [[nodiscard]] bool comforts() const { return count_ > 0 && kept(count_ - 1).coding == Coding::comfort; }
  /// Replaces comfort noise in the newest section with silence.
  void end_comfort() {
    if (comforts()) stretches_[(first_ + count_ - 1) % kMaxPackets].coding = Coding::silence;
  }

  /// Longest section from a timestamp, up to a limit, that is part of one packet, silent or entirely missing.
  struct Run {
    RtpTicks length;
    /// Packet part, without payload if missing. `begins` is the packet's start, `into` the offset of the
    /// section in it.
    PacketPart part;
    /// For missing audio: payload of the packet directly after the section, if it has arrived.
    Bytes following;
  };
  /// Returns the section at `timestamp`. Its payloads are valid until the next call on this thread.
  [[nodiscard]] Run run_at(RtpTime timestamp, RtpTicks limit) const;
  /// Returns true if no part of the range is missing.
  [[nodiscard]] bool complete(RtpTime timestamp, RtpTicks length) const;

  /// Bytes at the start of the object that every access uses.
  static constexpr size_t kHeadBytes = 2 * kCacheLine;
  /// Hints, after the first kHeadBytes are cached. expect_write(): write() will be called soon;
  /// expect_read(): run_at() will be.
  void expect_write() const;
  void expect_read(RtpTime timestamp, RtpTicks length) const;

  void reset();
  /// Resets for a coding with another clock.
  void reset(RtpClockRate clock) {
    reset();
    capacity_ = clock.in(kHeldTime);
  }
  [[nodiscard]] bool empty() const { return empty_; }
  /// Timestamp one past the newest tick.
  [[nodiscard]] RtpTime end() const { return end_; }
  /// Incremented by every reset, so that readers detect it and restart.
  [[nodiscard]] uint32_t generation() const { return generation_; }

 private:
  /// Section that starts at `begin`: a packet, the rest of a partly replaced packet, or silence.
  struct Stretch {
    RtpTime begin;
    /// Total octets written before its payload. The payload is overwritten after the ring wraps.
    uint64_t at = 0;
    RtpTicks length;
    /// Offset of this section in the packet.
    RtpTicks into;
    size_t octets = 0;
    Coding coding = Coding::missing;

    [[nodiscard]] RtpTime end() const { return begin + length; }
  };
  /// Compact form of a section. Low-order bits of timestamps and positions suffice for the last seconds.
  struct Kept {
    uint32_t begin = 0;
    uint32_t at = 0;
    /// Length in ticks, at most the capacity (65,280 at 48 kHz).
    uint16_t ticks = 0;
    uint16_t ticks_into = 0;
    uint16_t octets = 0;
    Coding coding = Coding::missing;
  };

  static constexpr size_t octets_in(size_t octets_per_second) {
    return octets_per_second * static_cast<size_t>(kKeptMs) / 1000;
  }

  // Sections in time order, index 0 is the oldest.
  [[nodiscard]] const Kept& kept(size_t n) const { return stretches_[(first_ + n) % kMaxPackets]; }
  [[nodiscard]] RtpTime begin_of(size_t n) const;
  [[nodiscard]] Stretch nth(size_t n) const;
  void set(size_t n, const Stretch& stretch);
  /// Returns the number of sections that begin at or before `timestamp`.
  [[nodiscard]] size_t count_until(RtpTime timestamp) const;
  /// Returns true if the section is within capacity and its payload has not been overwritten.
  [[nodiscard]] bool held(const Stretch& stretch) const;
  [[nodiscard]] bool payload_kept(const Stretch& stretch) const {
    return stretch.octets == 0 || written_ - stretch.at <= octets_.size();
  }
  [[nodiscard]] Bytes payload(const Stretch& stretch) const;
  void place(const Stretch& stretch);
  void insert(size_t n, const Stretch& stretch);
  void forget_oldest();
  uint64_t keep(Bytes payload);

  // Members that every access uses come first.
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

/// Packets of a jitter buffer. The time covers the largest playout delay (200 ms), the largest packet (120
/// ms) and a burst; payloads are kept for the playout delay, one packet and the audio that restores decoder
/// state.
using PayloadStore = PacketStore<48, 512, 360>;
/// Packets of a recording, which waits for late packets.
using RecordedStore = PacketStore<160, 1360, 1360>;

extern template class PacketStore<48, 512, 360>;
extern template class PacketStore<160, 1360, 1360>;

}  // namespace carillon
