// DTMF keypad (ITU-T Q.23): the two frequencies of each digit.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

#include "core/dsp/tone.hpp"

namespace carillon {

/// Row frequencies, then column frequencies.
inline constexpr std::array<double, 4> kDtmfLowHz{697.0, 770.0, 852.0, 941.0};
inline constexpr std::array<double, 4> kDtmfHighHz{1209.0, 1336.0, 1477.0, 1633.0};
/// Digits; the digit of row r and column c is at index 4 r + c.
inline constexpr std::string_view kDtmfKeypad = "123A456B789C*0#D";

/// Returns a tone of `on_ms` followed by a pause of `off_ms`, or nullopt if `digit` is not a DTMF digit.
[[nodiscard]] std::optional<ToneSpec> dtmf_tone(char digit, uint32_t on_ms, uint32_t off_ms) noexcept;

}  // namespace carillon
