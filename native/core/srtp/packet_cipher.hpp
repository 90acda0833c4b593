// The cryptography of SRTP, apart from its packets: one session key, for RTP or for RTCP, in one direction.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>

#include "core/base/bytes.hpp"
#include "core/srtp/suite.hpp"

namespace carillon {

/// Which packet: no two under one key may be the same (RFC 3711 §9.1).
struct PacketName {
  uint32_t ssrc;
  /// RTP: rollover counter and sequence number, 48 bits. RTCP: the SRTCP index, 31 bits.
  uint64_t index;
};

/// A packet's parts. Header and body lie one behind the other.
struct PacketParts {
  Bytes header;
  /// What is encrypted, in place.
  std::span<uint8_t> body;
  /// Authenticated, but not a part of either.
  Bytes beside;
};

class PacketCipher {
 public:
  virtual ~PacketCipher() = default;
  /// Encrypts the body and writes the tag, which says how long it is.
  virtual void seal(PacketName name, const PacketParts& parts, std::span<uint8_t> tag) = 0;
  /// False: not authentic; the body is then worth nothing.
  virtual bool open(PacketName name, const PacketParts& parts, Bytes tag) = 0;

  /// Where it keeps what seal() and open() need, besides itself: to be prefetched.
  using Memory = std::array<const void*, 2>;
  [[nodiscard]] virtual Memory memory() const { return {}; }
};

/// Of one direction: what master key and salt yield for RTP and RTCP (RFC 3711 §4.3).
struct CipherPair {
  std::unique_ptr<PacketCipher> rtp;
  std::unique_ptr<PacketCipher> rtcp;
};

enum class CipherUse : uint8_t { seal, open };

/// Null pointers: the cryptography is not to be had.
using MakeCiphers = CipherPair (*)(const SrtpKeys& keys, CipherUse use);

}  // namespace carillon
