// Received audio on its way to an audio stream: it does not wait for a jitter buffer.
//
// Frames go out as soon as they are complete, in order. A gap waits 40 ms for a reordered packet, then it is
// concealed; a peer that sends nothing is heard as silence, 20 ms for every 20 ms, so that the stream's time
// never stands still.
#pragma once

#include <cstdint>
#include <memory>

#include "core/jitter/delay_estimator.hpp"
#include "core/jitter/payload_store.hpp"

namespace carillon {

class LiveReader {
 public:
  static constexpr Nanos kGapWait = 40 * kMillisecond;
  /// A frame that is so much overdue, with nothing after it either, is given up.
  static constexpr Nanos kSilenceAfter = 60 * kMillisecond;

  /// Behind by more, time itself has jumped (the machine slept): what is missing is not made up for.
  static constexpr Nanos kTimeJumped = 2 * kSecond;

  /// `codec` decodes for this reader alone: it hears the same packets earlier than the line does, and gives
  /// up others.
  LiveReader(std::unique_ptr<AudioDecoder> codec, Nanos opened)
      : codec_(std::move(codec)),
        frame_(codec_->rates().clock.in(kFrameTime)),
        next_due_(opened + kFrameTime) {}

  /// The leg has another coding, and another store with it. Gives the decoder before back.
  void use(std::unique_ptr<AudioDecoder>& codec, Nanos now);

  /// Writes the next frame that may go out now, at the codec's rate; call until it returns false.
  bool next(Nanos now, const PayloadStore& store, const DelayEstimator& delays, Frame& out);
  /// How often time has jumped.
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
  /// While no packet has ever come: when the next frame of silence is due.
  Nanos next_due_;
};

}  // namespace carillon
