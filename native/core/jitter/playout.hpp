// When received audio is played: the adaptive jitter buffer's policy. One frame is taken every 20 ms.
#pragma once

#include <cstdint>

#include "core/base/prefetch.hpp"
#include "core/jitter/delay_estimator.hpp"
#include "core/jitter/payload_store.hpp"

namespace carillon {

struct PlayoutCounters {
  uint64_t late_packets = 0;  // arrived after their place had been played
  SampleCount concealed;
  uint64_t inserted_frames = 0;  // delay raised
  uint64_t dropped_frames = 0;   // delay lowered
  uint64_t resyncs = 0;
};

class Playout {
 public:
  /// `codec` decodes for this listener alone.
  explicit Playout(AudioDecoder& codec)
      : codec_(codec), clock_(codec.rates().clock), frame_(clock_.in(kFrameTime)) {}

  struct Arrival {
    RtpTime timestamp;
    RtpTicks duration;
    Nanos at;
    /// RTP marker, or the first packet after a pause that the sender chose.
    bool talkspurt;
    /// End of the store before this packet was written to it.
    RtpTime end_before;
  };
  void arrived(const Arrival& packet, const DelayEstimator& delays);

  /// The next 20 ms at their time. Silence until the first packet's playout time has come.
  void pop(Nanos now, const PayloadStore& store, const DelayEstimator& delays, std::span<Sample> out);
  /// The first packet's playout time has come.
  [[nodiscard]] bool playing() const { return state_ == State::playing; }

  /// Hint: pop() will be called soon.
  void expect_frame(const PayloadStore& store) const {
    store.expect_read(next_, frame_);
    codec_.expect_decode();
  }

  /// Frames were not taken for a while: goes on with what is due now.
  void move_to_present(Nanos now, const DelayEstimator& delays);
  /// The codec has decoded something else meanwhile, or has no past: shows it so many frames of what lies
  /// before the next one.
  void prime(const PayloadStore& store, int frames);

  /// The store is reset: what is to be heard next begins anew.
  void restart();

  /// True when the caller should reset store and estimator: nothing that arrives is in time any more.
  [[nodiscard]] bool lost_track() const { return lost_track_; }
  [[nodiscard]] const PlayoutCounters& counters() const { return counters_; }
  [[nodiscard]] Nanos delay() const { return delay_; }
  /// Of the peer's packets.
  [[nodiscard]] Nanos packet_time() const { return packet_time_; }

 private:
  [[nodiscard]] Nanos delay_at(Nanos now, const DelayEstimator& delays) const;
  void shorten(const PayloadStore& store, std::span<Sample> out);
  /// The frame at next_, which then moves on.
  void read(const PayloadStore& store, std::span<Sample> out);

  enum class State : uint8_t { idle, waiting, playing };
  AudioDecoder& codec_;
  RtpClockRate clock_;
  RtpTicks frame_;
  State state_ = State::idle;
  RtpTime next_;      // what is to be played next
  Nanos start_at_{};  // waiting: when next_ is due
  Nanos delay_{};
  Nanos packet_time_ = kFrameTime;
  Nanos last_shortened_{};
  Nanos too_long_since_{};
  Nanos late_since_ = kNever;
  bool lost_track_ = false;
  PlayoutCounters counters_;
};

}  // namespace carillon
