#pragma once

#include <cstdint>
#include <span>

namespace carillon {

/// The two companding laws of ITU-T G.711 and their RTP names (RFC 3551 §4.5.14).
enum class G711Law : std::uint8_t {
  mu,  // PCMU, static payload type 0
  a,   // PCMA, static payload type 8
};

/// Code word for the sample value zero.
[[nodiscard]] constexpr std::uint8_t g711_silence(G711Law law) noexcept {
  return law == G711Law::mu ? 0xff : 0xd5;
}

/// Bit-exact to ITU-T G.191. The magnitude of a negative sample is its one's complement. Samples are 16-bit
/// left-justified (14 significant bits for mu-law, 13 for A-law).
[[nodiscard]] std::uint8_t g711_encode(G711Law law, std::int16_t sample) noexcept;
[[nodiscard]] std::int16_t g711_decode(G711Law law, std::uint8_t code) noexcept;

/// Convert min(in.size(), out.size()) samples.
void g711_encode(G711Law law, std::span<const std::int16_t> in, std::span<std::uint8_t> out) noexcept;
void g711_decode(G711Law law, std::span<const std::uint8_t> in, std::span<std::int16_t> out) noexcept;

/// Converts `in` to the other law. Each octet equals the result of g711_decode() followed by g711_encode().
void g711_recode(G711Law from, std::span<const std::uint8_t> in, std::span<std::uint8_t> out) noexcept;

}  // namespace carillon
