#include "core/dsp/dtmf.hpp"

namespace carillon {
namespace {

// Level of each tone: within the range that Q.24 networks accept, and their sum does not clip.
constexpr double kDigitLevelDbm0 = -8.0;

}  // namespace

std::optional<ToneSpec> dtmf_tone(char digit, uint32_t on_ms, uint32_t off_ms) noexcept {
  const char key = digit >= 'a' && digit <= 'd' ? static_cast<char>(digit - 'a' + 'A') : digit;
  const size_t place = kDtmfKeypad.find(key);
  if (place == std::string_view::npos) return std::nullopt;
  ToneSpec spec;
  spec.level_dbm0 = kDigitLevelDbm0;
  spec.add(std::array{kDtmfLowHz[place / 4], kDtmfHighHz[place % 4]}, on_ms, off_ms);
  return spec;
}

}  // namespace carillon
