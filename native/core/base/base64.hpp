// Base64 (RFC 4648 §4), the form of audio inside JSON messages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "core/base/bytes.hpp"

namespace carillon {

constexpr size_t base64_length(size_t bytes) { return (bytes + 2) / 3 * 4; }
/// Upper bound of the decoded length.
constexpr size_t base64_decoded_limit(size_t text) { return text / 4 * 3 + 3; }

/// `out` must hold base64_length(bytes.size()).
void base64_encode(Bytes bytes, std::span<uint8_t> out);

/// Padding may be left away; anything outside the alphabet makes the whole text invalid. `out` must hold
/// base64_decoded_limit(text.size()). Returns the number of bytes.
std::optional<size_t> base64_decode(std::string_view text, std::span<uint8_t> out);

}  // namespace carillon
