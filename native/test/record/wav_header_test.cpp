#include "core/record/wav_header.hpp"

#include <doctest/doctest.h>

#include <cstring>

namespace {

uint32_t u32_at(const std::array<uint8_t, carillon::kWavHeaderBytes>& header, size_t at) {
  return static_cast<uint32_t>(header[at] | header[at + 1] << 8 | header[at + 2] << 16) |
         static_cast<uint32_t>(header[at + 3]) << 24;
}

}  // namespace

TEST_CASE("WAV header: contains RIFF sizes, PCM format and byte rate of a stereo file") {
  const auto header = carillon::wav_header({.rate_hz = 8000, .channels = 2}, 64000);
  CHECK(std::memcmp(header.data(), "RIFF", 4) == 0);
  CHECK(u32_at(header, 4) == 64036);
  CHECK(std::memcmp(header.data() + 8, "WAVEfmt ", 8) == 0);
  CHECK(u32_at(header, 16) == 16);
  CHECK(u32_at(header, 20) == (2U << 16 | 1U));   // stereo, PCM
  CHECK(u32_at(header, 24) == 8000);              // samples per second
  CHECK(u32_at(header, 28) == 32000);             // bytes per second
  CHECK(u32_at(header, 32) == (16U << 16 | 4U));  // 16 bits, 4 bytes per frame
  CHECK(std::memcmp(header.data() + 36, "data", 4) == 0);
  CHECK(u32_at(header, 40) == 64000);
}

TEST_CASE("WAV header: limits lengths above 4 GB instead of wrapping") {
  const auto header = carillon::wav_header({}, uint64_t{5} << 32);
  CHECK(u32_at(header, 40) == carillon::kWavMaxDataBytes);
  CHECK(u32_at(header, 4) == carillon::kWavMaxDataBytes + 36);
}
