// Parses octets as printed in standards.
#pragma once

#include <cctype>
#include <cstdint>
#include <string_view>
#include <vector>

namespace carillon::test {

/// Blanks between digits are ignored.
inline std::vector<uint8_t> hex(std::string_view digits) {
  std::vector<uint8_t> out;
  bool half = false;
  for (const char c : digits) {
    if (c == ' ') continue;
    const int value = std::isdigit(static_cast<unsigned char>(c)) != 0 ? c - '0' : (c | 0x20) - 'a' + 10;
    if (half) {
      out.back() = static_cast<uint8_t>(out.back() * 16 + value);
    } else {
      out.push_back(static_cast<uint8_t>(value));
    }
    half = !half;
  }
  return out;
}

}  // namespace carillon::test
