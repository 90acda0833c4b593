// Key presses of a leg's peer: as tones in its audio, or as telephone-events (RFC 4733).
#pragma once

#include <memory>
#include <optional>
#include <utility>

#include "core/base/time.hpp"
#include "core/dsp/dtmf_detector.hpp"

namespace carillon {

class ToneReceiver {
 public:
  /// Swaps the detector. Null: no detection.
  void want(std::unique_ptr<DtmfDetector>& detector) { std::swap(detector_, detector); }

  /// Applies a negotiation. A different peer may use tones again. A peer that has used telephone-event is
  /// expected to keep using it.
  void negotiated(bool telephone_event, bool other_peer) {
    const bool possible = !telephone_event || other_peer || possible_;
    if (possible && !possible_ && detector_) detector_->reset();
    possible_ = possible;
  }

  /// Returns true if the audio must be decoded for the detector.
  [[nodiscard]] bool listens() const { return detector_ && possible_; }

  /// Notes that digits are sent now: their echo does not count as a key press.
  void sends_digits(Nanos now) { own_digits_until_ = now + kEchoTime; }

  /// Detects a tone in the next audio. Returns its digit when a press begins. `concealed`: a part of the
  /// audio was not received.
  std::optional<char> feed(const AudioView& audio, bool concealed, Nanos now) {
    const auto digit = detector_->feed(audio, concealed);
    if (!digit || now < own_digits_until_) return std::nullopt;
    last_ = *digit;
    last_at_ = now;
    return digit;
  }

  /// Notes a telephone-event. Returns false if its press was already detected as a tone: some gateways leak
  /// the beginning of a tone before they send its event. The first event shows that the peer uses
  /// telephone-event.
  bool event(char digit, Nanos arrival) {
    const bool heard_as_tone = possible_ && digit == last_ && arrival - last_at_ < kSamePress;
    possible_ = false;
    return !heard_as_tone;
  }

 private:
  /// Maximum time between the tone and the event that report the same key press.
  static constexpr Nanos kSamePress = 800 * kMillisecond;
  /// Maximum echo delay: the round trip to the peer, including the buffers on both sides.
  static constexpr Nanos kEchoTime = 500 * kMillisecond;

  /// True if key presses may arrive as tones: telephone-event was not negotiated, or the peer has not used it
  /// yet.
  bool possible_ = false;
  char last_ = '\0';
  Nanos last_at_{};
  /// Time until which detected tones may be echoes of digits that we send.
  Nanos own_digits_until_{};
  std::unique_ptr<DtmfDetector> detector_;
};

}  // namespace carillon
