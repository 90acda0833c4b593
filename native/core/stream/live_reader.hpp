// Reads received audio for an audio stream without a jitter buffer.
//
// Frames are delivered in order as soon as they are complete. A gap waits 40 ms for a reordered packet, then
// it is concealed. If the peer sends nothing, silence is delivered in real time, so that the stream's time
// continues.
#pragma once

#include <cstdint>
#include <memory>

#include "core/jitter/delay_estimator.hpp"
#include "core/jitter/payload_store.hpp"

namespace carillon {

class LiveReader {
 public:
  static constexpr Nanos kGapWait = 40 * kMillisecond;
  /// Delay after which an overdue frame without a successor is replaced by silence.
  static constexpr Nanos kSilenceAfter = 60 * kMillisecond;

  /// Lag above which a time jump (such as suspend) is assumed. The missing time is then skipped.
  static constexpr Nanos kTimeJumped = 2 * kSecond;

  /// `codec` must be used by this reader only, because it decodes packets earlier than the jitter buffer and
  /// drops different ones.
  LiveReader(std::unique_ptr<AudioDecoder> codec, Nanos opened)
      : codec_(std::move(codec)),
        frame_(codec_->rates().clock.in(kFrameTime)),
        next_due_(opened + kFrameTime) {}

  /// Switches to the leg's new coding and store, and returns the previous decoder.
  void use(std::unique_ptr<AudioDecoder>& codec, Nanos now);

  /// Writes the next frame that is ready, at the codec's rate. Call until it returns false.
  bool next(Nanos now, const PayloadStore& store, const DelayEstimator& delays, Frame& out);
  /// Number of detected time jumps.
  [[nodiscard]] uint32_t jumps() const { return jumps_; }

 private:
  bool next_from_store(Nanos now, const PayloadStore& store, const DelayEstimator& delays, Frame& out);
  void take(const PayloadStore& store, Frame& out);

  std::unique_ptr<AudioDecoder> codec_;
  RtpTicks frame_;
  bool anchored_ = false;
  uint32_t generation_ = 0;
  RtpTime next_;
  Nanos gap_since_ = kNever;
  uint32_t jumps_ = 0;
  /// Time at which the next frame of silence is due, until the first packet arrives.
  Nanos next_due_;
};

}  // namespace carillon
