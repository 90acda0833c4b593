// The keypad of ITU-T Q.23: which two frequencies stand for which digit.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

#include "core/dsp/tone.hpp"

namespace carillon {

/// Rows of the keypad, then its columns.
inline constexpr std::array<double, 4> kDtmfLowHz{697.0, 770.0, 852.0, 941.0};
inline constexpr std::array<double, 4> kDtmfHighHz{1209.0, 1336.0, 1477.0, 1633.0};
/// Digit of row r and column c at 4 r + c.
inline constexpr std::string_view kDtmfKeypad = "123A456B789C*0#D";

/// One digit as a tone of `on_ms` and a rest of `off_ms`; nothing for a character that no key has.
[[nodiscard]] std::optional<ToneSpec> dtmf_tone(char digit, uint32_t on_ms, uint32_t off_ms) noexcept;

}  // namespace carillon
