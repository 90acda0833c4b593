#pragma once

#include <cstdint>
#include <span>

namespace carillon {

/// The two companding laws of ITU-T G.711 and their RTP names (RFC 3551 §4.5.14).
enum class G711Law : std::uint8_t {
  mu,  // PCMU, static payload type 0
  a,   // PCMA, static payload type 8
};

/// One octet of silence: the code word of the value zero.
[[nodiscard]] constexpr std::uint8_t g711_silence(G711Law law) noexcept {
  return law == G711Law::mu ? 0xff : 0xd5;
}

/// Bit-exact to the arithmetic of ITU-T G.191: the magnitude of a negative sample is its one's
/// complement, and samples are 16-bit left-justified (14 significant bits for mu, 13 for A).
[[nodiscard]] std::uint8_t g711_encode(G711Law law, std::int16_t sample) noexcept;
[[nodiscard]] std::int16_t g711_decode(G711Law law, std::uint8_t code) noexcept;

/// Whole buffers; converts min(in.size(), out.size()) samples.
void g711_encode(G711Law law, std::span<const std::int16_t> in, std::span<std::uint8_t> out) noexcept;
void g711_decode(G711Law law, std::span<const std::uint8_t> in, std::span<std::int16_t> out) noexcept;

/// From one law to the other: each octet as g711_decode() and g711_encode() would make it.
void g711_recode(G711Law from, std::span<const std::uint8_t> in, std::span<std::uint8_t> out) noexcept;

}  // namespace carillon
