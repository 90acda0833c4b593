// Everything that belongs to one coding of a leg's received audio: replaced as a whole when another is
// negotiated.
#pragma once

#include <memory>
#include <span>

#include "core/jitter/playout.hpp"
#include "core/rtp/packet.hpp"
#include "core/rtp/unwrap.hpp"

namespace carillon {

class JitterBuffer {
 public:
  explicit JitterBuffer(std::unique_ptr<AudioDecoder> decoder);

  /// A packet of audio. `nothing_lost`: it follows the last packet that came, so what lies between the two
  /// the sender chose not to send.
  void store(const RtpPacket& packet, Coding coding, bool nothing_lost, Nanos arrival);
  /// The time that a keypad event takes is silence in the audio, known as such while it lasts.
  void store_event(const RtpPacket& packet, Nanos arrival);
  /// The next frame; call once every 20 ms with room for one at the decoder's rate.
  void pop(Nanos now, std::span<Sample> out) { playout_.pop(now, store_, delays_, out); }
  /// Another stream begins, or the same one anew.
  void restart();

  [[nodiscard]] const AudioDecoder& decoder() const { return *decoder_; }
  [[nodiscard]] const PayloadStore& packets() const { return store_; }
  [[nodiscard]] const DelayEstimator& delays() const { return delays_; }
  [[nodiscard]] const Playout& playout() const { return playout_; }

  /// Hints: store() will be called soon; pop().
  void expect_packet() const {
    prefetch(this, sizeof(*this) - sizeof(playout_) - sizeof(store_));
    playout_.expect_arrival();
    store_.expect_write();
  }
  void expect_frame() const { playout_.expect_frame(store_); }

 private:
  // Small things first: what every packet needs stands together.
  std::unique_ptr<AudioDecoder> decoder_;
  TimestampUnwrapper timestamps_;
  DelayEstimator delays_;
  Playout playout_;
  PayloadStore store_;
};

}  // namespace carillon
