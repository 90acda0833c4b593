// SRTP cipher interface, independent of the packet format: one session key for RTP or RTCP in one direction.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>

#include "core/base/bytes.hpp"
#include "core/base/require.hpp"
#include "core/srtp/suite.hpp"

namespace carillon {

/// Identifies a packet. Must be unique per key (RFC 3711 §9.1).
struct PacketName {
  uint32_t ssrc;
  /// RTP: rollover counter and sequence number, 48 bits. RTCP: the SRTCP index, 31 bits.
  uint64_t index;
};

/// Parts of a packet. Header and body are contiguous.
struct PacketParts {
  Bytes header;
  /// Part that is encrypted in place.
  std::span<uint8_t> body;
  /// Additional authenticated data outside header and body.
  Bytes aad_bytes;

  /// Header and body as one sequence. Ends the process if they are not contiguous.
  [[nodiscard]] Bytes contiguous() const {
    require(header.data() + header.size() == body.data(), "header and body of a packet are contiguous");
    return {header.data(), header.size() + body.size()};
  }
};

class PacketCipher {
 public:
  virtual ~PacketCipher() = default;
  /// Encrypts the body and writes the tag, whose span determines its length.
  virtual void seal(PacketName name, const PacketParts& parts, std::span<uint8_t> tag) = 0;
  /// Decrypts the body. Returns false if authentication fails; the body's content is then unspecified.
  virtual bool open(PacketName name, const PacketParts& parts, Bytes tag) = 0;

  /// Addresses of memory outside the object that seal() and open() need, for prefetching.
  using Memory = std::array<const void*, 2>;
  [[nodiscard]] virtual Memory memory() const { return {}; }
};

/// Session ciphers for RTP and RTCP of one direction, derived from a master key and salt (RFC 3711 §4.3).
struct CipherPair {
  std::unique_ptr<PacketCipher> rtp;
  std::unique_ptr<PacketCipher> rtcp;
};

enum class CipherUse : uint8_t { seal, open };

/// Creates the ciphers. Returns null pointers if the cryptography is unavailable.
using MakeCiphers = CipherPair (*)(const SrtpKeys& keys, CipherUse use);

}  // namespace carillon
