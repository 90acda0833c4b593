// What a codec does for one session: decoding in order of time, what is heard where nothing came, encoding.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "core/base/bytes.hpp"
#include "core/base/frame.hpp"
#include "core/base/prefetch.hpp"
#include "core/base/units.hpp"

namespace carillon {

/// What stands at an instant of a received stream.
enum class Coding : uint8_t {
  missing,
  silence,  // the sender chose not to send: known to be silent, without a payload
  pcmu,
  pcma,
  g722,
  l16,
  opus,
};

/// What negotiation says of a codec, as far as it is one's own to choose.
struct CodecSpec {
  Coding coding = Coding::pcmu;
  /// Of the audio, where the coding leaves it open: L16, Opus.
  SampleRate sample_rate{8000};
  /// Opus: how the peer wants to be sent to (RFC 7587 §6.1).
  int bitrate = 0;  // bit/s; 0: as much as the rate needs
  bool fec = false;
  bool dtx = false;

  friend bool operator==(const CodecSpec&, const CodecSpec&) = default;
};

/// Whether the same decoder goes on: both laws of G.711 have one.
[[nodiscard]] bool same_decoder(const CodecSpec& a, const CodecSpec& b);

/// What is to be decoded of one packet. Packets may hold more than is wanted at once: their parts come in
/// order of time, and a codec that cannot cut a payload decodes the whole at its first part.
struct PacketPart {
  Coding coding = Coding::missing;
  /// Of the whole packet.
  Bytes payload;
  /// The packet's extended timestamp: by it the parts of one packet are known.
  RtpTime begins;
  /// What of the packet lies before this part.
  RtpTicks into;
};

/// One listener's: it has a past, so it belongs to one stream of audio alone. Calls are one a packet or
/// frame, never one a sample.
class AudioDecoder {
 public:
  virtual ~AudioDecoder() = default;

  [[nodiscard]] virtual SessionRates rates() const = 0;
  /// Whether payloads of this coding are its own.
  [[nodiscard]] virtual bool decodes(Coding coding) const = 0;
  /// How long a payload lasts; 0: it is none of this codec's.
  [[nodiscard]] virtual RtpTicks duration(Coding coding, Bytes payload) const = 0;
  /// Octets of a second of audio: as many as room is kept for.
  [[nodiscard]] virtual size_t octets_per_second() const = 0;
  /// What of a payload is looked at: 120 ms, the longest packet that any endpoint sends.
  [[nodiscard]] virtual size_t longest_payload() const { return octets_per_second() * 12 / 100; }

  /// The next part in order of time: `out.size()` samples, which the packet has from there on.
  virtual void decode(const PacketPart& part, std::span<Sample> out) = 0;
  /// The sender was silent for so long.
  virtual void silence(std::span<Sample> out) = 0;
  /// Nothing came for this time: what a listener is to hear instead. `following`: the payload of the packet
  /// right behind, where it has come; it may hold this time once more (in-band FEC).
  virtual void conceal(std::span<Sample> out, Bytes following) = 0;

  /// Whoever listens hears nothing above half of this rate: from now on audio is given out at it, or at the
  /// codec's own where that is lower. True: rates() has changed, and the past is forgotten.
  virtual bool give_out_at(SampleRate /*rate*/) { return false; }

  /// So much later than it stands in the packets the audio is given out.
  [[nodiscard]] virtual SampleCount delay() const { return {}; }

  /// Hint: something of it will be called soon.
  void expect() const { prefetch(this, kCacheLine); }
  /// Hint, once that has come: decode() will be called soon.
  virtual void expect_decode() const {}
};

/// One sender's, with a past of its own: every packet is encoded once, in order, as a whole.
class AudioEncoder {
 public:
  virtual ~AudioEncoder() = default;

  [[nodiscard]] virtual SessionRates rates() const = 0;
  /// Packets of so many milliseconds, in place of those of `wanted` (10-60 in steps of 10), so that each is a
  /// payload of this codec and fits into a datagram.
  [[nodiscard]] virtual int packet_ms(int wanted) const { return wanted; }
  /// Of the longest payload that packet_ms() allows.
  [[nodiscard]] virtual size_t max_payload() const = 0;

  /// Once a frame: nothing of what is to be encoded is above half of this rate. What no listener could hear
  /// need not be paid for.
  virtual void carries(SampleRate /*content*/) {}
  /// Audio may come at this rate, or at the codec's own where that is lower, as soon as that is not heard; a
  /// higher one than before at once. True: rates() has changed.
  virtual bool take_at(SampleRate /*rate*/) { return false; }
  /// So many percent of the packets are reckoned to be lost on their way; at first none.
  virtual void expect_loss(int /*percent*/) {}

  /// A packet's audio. Returns what was written; nothing: there is nothing to be sent (DTX).
  virtual ByteCount encode(Coding coding, std::span<const Sample> in, std::span<uint8_t> out) = 0;

  /// Hint: something of it will be called soon.
  void expect() const { prefetch(this, kCacheLine); }
};

/// Whether payloads of `from` become payloads of `to` octet by octet, without a past: what one decodes to,
/// the other encodes. So do those of the same coding, and both laws of G.711.
[[nodiscard]] bool carries_over(Coding from, Coding to);
/// What carries_over(); `out` is at least as long as the payload.
void carry_over(Coding from, Coding to, Bytes payload, std::span<uint8_t> out);

/// The codec of a session, made by the control thread.
[[nodiscard]] std::unique_ptr<AudioDecoder> make_decoder(const CodecSpec& spec);
[[nodiscard]] std::unique_ptr<AudioEncoder> make_encoder(const CodecSpec& spec);
/// The clock of its packets and the rate of its audio.
[[nodiscard]] SessionRates rates_of(const CodecSpec& spec);

}  // namespace carillon
