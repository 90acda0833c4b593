// What a codec does for one session: decoding in order of time, what is heard where nothing came, encoding.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/base/bytes.hpp"
#include "core/base/frame.hpp"
#include "core/base/units.hpp"

namespace carillon {

/// What stands at an instant of a received stream.
enum class Coding : uint8_t {
  missing,
  silence,  // the sender chose not to send: known to be silent, without a payload
  pcmu,
  pcma,
};

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

/// One reader's or one sender's codec: it has a past, so it belongs to one stream of audio alone. Calls are
/// one a packet or frame, never one a sample.
class AudioCodec {
 public:
  virtual ~AudioCodec() = default;

  [[nodiscard]] virtual SessionRates rates() const = 0;
  /// How long a payload lasts; 0: it is none of this codec's.
  [[nodiscard]] virtual RtpTicks duration(Coding coding, Bytes payload) const = 0;

  /// The next part in order of time: `out.size()` samples, which the packet has from there on.
  virtual void decode(const PacketPart& part, std::span<Sample> out) = 0;
  /// The sender was silent for so long.
  virtual void silence(std::span<Sample> out) = 0;
  /// Nothing came for this time: what a listener is to hear instead. `following`: the payload of the packet
  /// right behind, where it has come; it may hold this time once more (in-band FEC).
  virtual void conceal(std::span<Sample> out, Bytes following) = 0;

  /// Returns what was written; `out` has room for the longest payload of so many samples.
  virtual ByteCount encode(Coding coding, std::span<const Sample> in, std::span<uint8_t> out) = 0;

  /// Hint: decode() will be called soon.
  virtual void expect_decode() const = 0;
};

}  // namespace carillon
