// Base64 (RFC 4648 §4), the encoding of audio in JSON messages.
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

/// Encodes `bytes` into `out`, which must hold base64_length(bytes.size()) bytes.
void base64_encode(Bytes bytes, std::span<uint8_t> out);

/// Decodes `text` into `out`, which must hold base64_decoded_limit(text.size()) bytes. Padding is optional.
/// Returns the number of bytes, or nullopt if a character is outside the alphabet.
std::optional<size_t> base64_decode(std::string_view text, std::span<uint8_t> out);

}  // namespace carillon
