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
  void pop(Nanos now, std::span<Sample> out);
  /// Nothing above half of this rate is heard by anybody: rates() may become it.
  void give_out_at(SampleRate rate) {
    if (!decoder_->give_out_at(rate)) return;
    rates_ = decoder_->rates();
    begins_anew_ = true;
  }
  /// In the place of pop() when nobody hears the frame.
  void leave_out() { left_out_ = true; }

  // Where packets that were heard from here go on undecoded, or the other way round. The decoder is used for
  // it, and finds its way back at the next pop().
  /// What pop() would give next if nothing more came.
  void hear_on(std::span<Sample> out);
  /// The newest audio that has come, without the decoder's delay, and what may follow it. At most
  /// kLongestNewest samples and two frames.
  void hear_newest(std::span<Sample> newest, std::span<Sample> following);
  static constexpr size_t kLongestNewest = 3 * kMaxFrameSamples;
  /// Another stream begins, or the same one anew.
  void restart();

  [[nodiscard]] const AudioDecoder& decoder() const { return *decoder_; }
  /// The decoder's.
  [[nodiscard]] SessionRates rates() const { return rates_; }
  [[nodiscard]] const PayloadStore& packets() const { return store_; }
  [[nodiscard]] const DelayEstimator& delays() const { return delays_; }
  [[nodiscard]] const Playout& playout() const { return playout_; }

  /// Hints: either will be called soon; then, once that has come, which one it is: store() or pop().
  void expect() const { prefetch(this, sizeof(*this) - sizeof(store_) + PayloadStore::kHeadBytes); }
  void expect_packet() const {
    decoder_->expect();
    store_.expect_write();
  }
  void expect_frame() const { playout_.expect_frame(store_); }

 private:
  // Small things first: what every packet needs stands together.
  std::unique_ptr<AudioDecoder> decoder_;
  bool left_out_ = false;
  /// The decoder's past is not what lies before the next frame.
  bool astray_ = false;
  /// It has none.
  bool begins_anew_ = false;
  SessionRates rates_;
  size_t longest_payload_;
  TimestampUnwrapper timestamps_;
  DelayEstimator delays_;
  Playout playout_;
  PayloadStore store_;
};

}  // namespace carillon
