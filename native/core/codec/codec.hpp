// Codec interface of one session: decoding in time order, loss concealment and encoding.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "core/base/bytes.hpp"
#include "core/base/frame.hpp"
#include "core/base/prefetch.hpp"
#include "core/base/units.hpp"
#include "core/dsp/comfort_noise_pool.hpp"

namespace carillon {

/// Coding of a section of a received stream.
enum class Coding : uint8_t {
  missing,
  silence,  // the sender paused transmission: silence without payload
  comfort,  // the sender paused transmission and described the noise: payload of RFC 3389
  pcmu,
  pcma,
  g722,
  l16,
  opus,
};

/// Codec selection and the parameters that negotiation leaves open.
struct CodecSpec {
  Coding coding = Coding::pcmu;
  /// Audio sample rate for L16 and Opus. Other codings ignore it.
  SampleRate sample_rate{8000};
  /// Bitrate that the Opus peer requests, in bit/s (RFC 7587 §6.1). 0: chosen by sample rate.
  int bitrate = 0;
  bool fec = false;
  bool dtx = false;

  friend bool operator==(const CodecSpec&, const CodecSpec&) = default;
};

/// Returns true if both use the same decoder, as both G.711 laws do.
[[nodiscard]] bool same_decoder(const CodecSpec& a, const CodecSpec& b);

/// Part of one packet to decode. A packet can hold more audio than requested. Its parts are decoded in time
/// order. A codec that cannot split a payload decodes the whole payload at the first part.
struct PacketPart {
  Coding coding = Coding::missing;
  /// Payload of the whole packet.
  Bytes payload;
  /// Extended RTP timestamp of the packet. Identifies the packet that a part belongs to.
  RtpTime begins;
  /// Offset of this part from the start of the packet.
  RtpTicks into;
};

/// Decoder of one stream. It has state, so one stream uses it exclusively. Called once per packet or frame.
class AudioDecoder {
 public:
  virtual ~AudioDecoder() = default;

  [[nodiscard]] virtual SessionRates rates() const = 0;
  /// Returns true if this decoder accepts payloads of `coding`.
  [[nodiscard]] virtual bool decodes(Coding coding) const = 0;
  /// Returns the duration of a payload, or 0 if this decoder does not accept it.
  [[nodiscard]] virtual RtpTicks duration(Coding coding, Bytes payload) const = 0;
  /// Payload octets per second of audio, used to size buffers.
  [[nodiscard]] virtual size_t octets_per_second() const = 0;
  /// Payload octets processed per packet: 120 ms, the longest packet that endpoints send.
  [[nodiscard]] virtual size_t longest_payload() const { return octets_per_second() * 12 / 100; }

  /// Decodes the next part in time order into `out`, which must not exceed the rest of the packet.
  virtual void decode(const PacketPart& part, std::span<Sample> out) = 0;
  /// Writes silence for a period in which the sender paused transmission.
  virtual void silence(std::span<Sample> out) = 0;
  /// Conceals lost audio. `following`: payload of the next packet if it has arrived; it may contain a
  /// redundant copy of this audio (in-band FEC).
  virtual void conceal(std::span<Sample> out, Bytes following) = 0;

  /// Writes comfort noise for a period in which the sender paused transmission. `sid`: its description.
  void comfort(Bytes sid, std::span<Sample> out) {
    silence(out);
    if (!noise_) noise_ = ComfortNoisePool::take();
    if (noise_) noise_->add(sid, out);
  }
  /// Adds the end of preceding comfort noise to audio that was written by another method.
  void end_comfort(std::span<Sample> out) {
    if (!noise_) return;
    noise_->fade_out(out);
    if (!noise_->active()) noise_.reset();
  }

  /// Returns true if this payload holds a redundant copy of the audio directly before it, for conceal().
  [[nodiscard]] virtual bool restores(Bytes /*following*/) const { return false; }

  /// Sets the highest sample rate that listeners need. Output uses this rate, or the codec rate if lower.
  /// Returns true if rates() changed; the decoder state is then reset.
  virtual bool give_out_at(SampleRate /*rate*/) { return false; }

  /// Outputs audio without delay. Concealment then begins without a crossfade. Call before any audio.
  virtual void output_undelayed() {}
  /// Delay that the decoder adds to the audio.
  [[nodiscard]] virtual SampleCount delay() const { return {}; }

  /// Hint: a method of this object will be called soon.
  void expect() const { prefetch(this, kCacheLine); }
  /// Hint, after expect() has taken effect: decode() will be called soon.
  virtual void expect_decode() const {}

 private:
  /// Null while there is no comfort noise.
  ComfortNoisePool::Lease noise_;
};

/// Encoder of one stream. It has state: each packet is encoded once, in order and as a whole.
class AudioEncoder {
 public:
  virtual ~AudioEncoder() = default;

  [[nodiscard]] virtual SessionRates rates() const = 0;
  /// Returns the longest supported packet length in ms up to `wanted` (10-60 in steps of 10) whose payload
  /// fits a datagram.
  [[nodiscard]] virtual int packet_ms(int wanted) const { return wanted; }
  /// Largest payload in octets for the lengths that packet_ms() returns.
  [[nodiscard]] virtual size_t max_payload() const = 0;

  /// Sets the bandwidth of the next frame: it has no content above half of this rate. Encoders can skip the
  /// empty band. Called once per frame.
  virtual void carries(SampleRate /*content*/) {}
  /// Requests audio input at `rate`, or at the codec rate if lower. A reduction waits until it is inaudible;
  /// an increase is immediate. Returns true if rates() changed.
  virtual bool take_at(SampleRate /*rate*/) { return false; }
  /// Sets the expected packet loss in percent. Default: 0.
  virtual void expect_loss(int /*percent*/) {}

  /// Encodes one packet and returns its length in octets. 0: no packet is sent (DTX).
  virtual ByteCount encode(Coding coding, std::span<const Sample> in, std::span<uint8_t> out) = 0;

  /// Hint: a method of this object will be called soon.
  void expect() const { prefetch(this, kCacheLine); }
};

/// Returns true if `from` payloads can be converted to `to` octet by octet without state. This applies to
/// equal codings and to both G.711 laws.
[[nodiscard]] bool carries_over(Coding from, Coding to);
/// Converts a payload for which carries_over() is true. `out` must be at least as long as the payload.
void carry_over(Coding from, Coding to, Bytes payload, std::span<uint8_t> out);

/// Properties of a codec. `make_codec.cpp` has the table of all codecs.
struct CodecProperties {
  Coding coding;
  /// Name as in `a=rtpmap`, in upper case.
  std::string_view name;
  /// RTP clock rate in Hz. 0: equal to the sample rate.
  int clock_rate;
  /// Sample rates in Hz.
  std::span<const int> sample_rates;
  /// True if the peer may request a bitrate, FEC and DTX.
  bool has_sending;
  /// Packet-loss robustness factor Bpl of the E-model (ITU-T G.107, G.113).
  double loss_robustness;
  /// Delay of the decoded audio against its timestamp, from the look-ahead of encoders and from filters.
  /// Opus: that of libopus in its modes for speech and music (RFC 6716 §2.1.7: 4 ms less in the low-delay
  /// mode).
  Nanos look_ahead;
  std::unique_ptr<AudioDecoder> (*make_decoder)(const CodecSpec& spec);
  std::unique_ptr<AudioEncoder> (*make_encoder)(const CodecSpec& spec);
};

/// Returns the properties of all codecs.
[[nodiscard]] std::span<const CodecProperties> all_codecs();
/// Returns the properties of a codec. For Coding::missing and Coding::silence, those of G.711.
[[nodiscard]] const CodecProperties& properties_of(Coding coding);

/// Create the codec of a session. Called on the control thread.
[[nodiscard]] std::unique_ptr<AudioDecoder> make_decoder(const CodecSpec& spec);
[[nodiscard]] std::unique_ptr<AudioEncoder> make_encoder(const CodecSpec& spec);
/// Returns the RTP clock rate and the audio sample rate of a codec.
[[nodiscard]] SessionRates rates_of(const CodecSpec& spec);

}  // namespace carillon
