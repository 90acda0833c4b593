#include "core/record/wav_header.hpp"

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace carillon {
namespace {

constexpr uint16_t kFormatPcm = 1;
constexpr uint16_t kBitsPerSample = 16;
constexpr uint32_t kFormatChunkBytes = 16;

/// Writes consecutive little-endian fields.
class Cursor {
 public:
  explicit Cursor(std::array<uint8_t, kWavHeaderBytes>& bytes) : bytes_(bytes) {}

  void tag(std::string_view name) {
    for (const char letter : name) put(static_cast<uint8_t>(letter));
  }
  void u16(uint16_t value) {
    put(static_cast<uint8_t>(value));
    put(static_cast<uint8_t>(value >> 8));
  }
  void u32(uint32_t value) {
    u16(static_cast<uint16_t>(value));
    u16(static_cast<uint16_t>(value >> 16));
  }

 private:
  void put(uint8_t byte) { bytes_[at_++] = byte; }

  std::array<uint8_t, kWavHeaderBytes>& bytes_;
  size_t at_ = 0;
};

}  // namespace

std::array<uint8_t, kWavHeaderBytes> wav_header(const WavFormat& format, uint64_t data_bytes) noexcept {
  const auto size = static_cast<uint32_t>(std::min<uint64_t>(data_bytes, kWavMaxDataBytes));
  std::array<uint8_t, kWavHeaderBytes> bytes{};
  Cursor cursor(bytes);
  cursor.tag("RIFF");
  cursor.u32(size + kWavHeaderBytes - 8);
  cursor.tag("WAVE");
  cursor.tag("fmt ");
  cursor.u32(kFormatChunkBytes);
  cursor.u16(kFormatPcm);
  cursor.u16(format.channels);
  cursor.u32(format.rate_hz);
  cursor.u32(format.rate_hz * format.bytes_per_frame());
  cursor.u16(static_cast<uint16_t>(format.bytes_per_frame()));
  cursor.u16(kBitsPerSample);
  cursor.tag("data");
  cursor.u32(size);
  return bytes;
}

}  // namespace carillon
