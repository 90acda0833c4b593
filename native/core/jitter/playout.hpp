// Playout policy of the adaptive jitter buffer: decides which 20 ms frame to decode at each tick.
#pragma once

#include <cstdint>

#include "core/base/prefetch.hpp"
#include "core/jitter/delay_estimator.hpp"
#include "core/jitter/payload_store.hpp"

namespace carillon {

struct PlayoutCounters {
  uint64_t late_packets = 0;  // arrived after their playout time
  SampleCount concealed;
  uint64_t inserted_frames = 0;  // inserted to raise the delay
  uint64_t dropped_frames = 0;   // dropped to lower the delay
  uint64_t resyncs = 0;
};

class Playout {
 public:
  /// `codec` must be used by this object only.
  explicit Playout(AudioDecoder& codec)
      : codec_(codec), clock_(codec.rates().clock), frame_(clock_.in(kFrameTime)) {}

  struct Arrival {
    RtpTime timestamp;
    RtpTicks duration;
    Nanos at;
    /// True if the RTP marker is set or this is the first packet after a sender pause.
    bool talkspurt;
    /// End of the store before this packet was stored.
    RtpTime end_before;
  };
  void arrived(const Arrival& packet, const DelayEstimator& delays);

  /// A description of comfort noise was stored. Starts playout if it has not started.
  void arrived_comfort(RtpTime timestamp, const DelayEstimator& delays) {
    if (state_ == State::idle) wait_for(timestamp, delays);
  }

  /// Writes the frame due at `now` (20 ms) to `out`. Writes silence until playout has started.
  void pop(Nanos now, const PayloadStore& store, const DelayEstimator& delays, std::span<Sample> out);
  /// Returns true once playout has started.
  [[nodiscard]] bool playing() const { return state_ == State::playing; }

  /// Hint: pop() will be called soon.
  void expect_frame(const PayloadStore& store) const {
    store.expect_read(next_, frame_);
    codec_.expect_decode();
  }

  /// Resumes after a pause in which no frames were requested: skips to the frame due at `now`.
  void move_to_present(Nanos now, const DelayEstimator& delays);
  /// Restores the decoder state by decoding `frames` frames before the next one.
  void prime(const PayloadStore& store, int frames);

  /// Decodes the next frame without advancing.
  void look_ahead(const PayloadStore& store, std::span<Sample> out);

  /// Restarts playout after the store has been reset.
  void restart();

  /// Returns true if all packets arrive too late. The caller should then reset the store and the estimator.
  [[nodiscard]] bool lost_track() const { return lost_track_; }
  [[nodiscard]] const PlayoutCounters& counters() const { return counters_; }
  [[nodiscard]] Nanos delay() const { return delay_; }
  /// Duration of the peer's packets.
  [[nodiscard]] Nanos packet_time() const { return packet_time_; }

 private:
  [[nodiscard]] Nanos delay_at(Nanos now, const DelayEstimator& delays) const;
  [[nodiscard]] RtpTicks grid() const;
  [[nodiscard]] RtpTicks off_grid(RtpTime time) const;
  [[nodiscard]] Nanos reach(RtpTicks off_grid) const;
  void wait_for(RtpTime timestamp, const DelayEstimator& delays);
  /// Writes audio for a time that is not on the RTP timeline. `at`: the preceding timestamp.
  void pass_time(const PayloadStore& store, RtpTime at, std::span<Sample> out);
  void shorten(const PayloadStore& store, std::span<Sample> out);
  void catch_up(Nanos now, const PayloadStore& store, const DelayEstimator& delays, std::span<Sample> out);
  /// Reads the frame at next_ and advances next_.
  void read(const PayloadStore& store, std::span<Sample> out);

  enum class State : uint8_t { idle, waiting, playing };
  AudioDecoder& codec_;
  RtpClockRate clock_;
  RtpTicks frame_;
  State state_ = State::idle;
  RtpTime next_;      // timestamp of the next frame to play
  Nanos start_at_{};  // in state `waiting`: when next_ is due
  Nanos delay_{};
  /// Newest packet: its beginning and duration.
  RtpTime packet_begins_;
  RtpTicks packet_ticks_;
  Nanos packet_time_ = kFrameTime;
  Nanos last_shortened_{};
  Nanos too_long_since_{};
  Nanos late_since_ = kNever;
  bool lost_track_ = false;
  PlayoutCounters counters_;
};

}  // namespace carillon
