// Jitter buffer for one coding of a leg's received audio. Negotiating another codec replaces the whole
// object.
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

  /// Stores an audio packet. `nothing_lost`: it directly follows the last packet in sequence, so any gap in
  /// timestamps is a pause of the sender.
  void store(const RtpPacket& packet, Coding coding, bool nothing_lost, Nanos arrival);
  /// Stores the period of a keypad event as known silence. `timed`: its timestamp is on the clock of the
  /// audio.
  void store_event(const RtpPacket& packet, bool timed, Nanos arrival);
  /// Stores a description of comfort noise (RFC 3389), which lasts until the next audio. `nothing_lost`: as
  /// for store().
  void store_comfort(const RtpPacket& packet, bool nothing_lost, Nanos arrival);
  /// Continues a pause with silence instead of comfort noise.
  void end_comfort() { store_.end_comfort(); }
  /// Writes the next frame to `out`. Call every 20 ms with space for one frame at the decoder's rate.
  void pop(Nanos now, std::span<Sample> out);
  /// Limits output to the highest rate that listeners need. rates() may change to it.
  void give_out_at(SampleRate rate) {
    if (!decoder_->give_out_at(rate)) return;
    rates_ = decoder_->rates();
    begins_anew_ = true;
  }
  /// Skips a frame without listeners. Call instead of pop().
  void leave_out() { left_out_ = true; }

  // The following two methods handle transitions between decoded and relayed packets. They use the decoder,
  // which recovers at the next pop().
  /// Writes the next frame of pop() without advancing, concealed as far as it has not arrived.
  void hear_on(std::span<Sample> out);
  /// Writes the newest received audio without the decoder's delay, and its extrapolation. At most
  /// kLongestNewest samples and two frames.
  void hear_newest(std::span<Sample> newest, std::span<Sample> following);
  static constexpr size_t kLongestNewest = 3 * kMaxFrameSamples;
  /// Resets the buffer for a new or restarted stream.
  void restart();

  [[nodiscard]] const AudioDecoder& decoder() const { return *decoder_; }
  /// Rates of the decoder.
  [[nodiscard]] SessionRates rates() const { return rates_; }
  [[nodiscard]] const PayloadStore& packets() const { return store_; }
  /// Returns the extended timestamp of a packet that was just stored.
  [[nodiscard]] RtpTime time_of(RtpTimestamp timestamp) const { return timestamps_.peek(timestamp); }
  [[nodiscard]] const DelayEstimator& delays() const { return delays_; }
  [[nodiscard]] const Playout& playout() const { return playout_; }
  /// Playout delay. While the audio is not decoded here: the delay that a jitter buffer would need.
  [[nodiscard]] Nanos delay() const {
    return left_out_ || !playout_.playing() ? delays_.target() : playout_.delay();
  }

  /// Hints. expect(): store() or pop() will be called soon. The others, after expect() has taken effect,
  /// specify which one.
  void expect() const { prefetch(this, sizeof(*this) - sizeof(store_) + PayloadStore::kHeadBytes); }
  void expect_packet() const {
    decoder_->expect();
    store_.expect_write();
  }
  void expect_frame() const { playout_.expect_frame(store_); }

 private:
  // Small members first, so that the data every packet needs is contiguous.
  std::unique_ptr<AudioDecoder> decoder_;
  bool left_out_ = false;
  /// True if the decoder's state does not match the audio before the next frame.
  bool astray_ = false;
  /// True if the decoder has no state yet.
  bool begins_anew_ = false;
  SessionRates rates_;
  size_t longest_payload_;
  TimestampUnwrapper timestamps_;
  DelayEstimator delays_;
  Playout playout_;
  PayloadStore store_;
};

}  // namespace carillon
