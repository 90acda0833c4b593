// The 44-byte header of a PCM WAV file (RIFF, Microsoft "Multimedia Programming Interface" 1.0).
#pragma once

#include <array>
#include <cstdint>

namespace carillon {

inline constexpr uint32_t kWavHeaderBytes = 44;
/// Maximum data size: RIFF sizes have 32 bits.
inline constexpr uint32_t kWavMaxDataBytes = 0xffffffffU - (kWavHeaderBytes - 8) - 1;

struct WavFormat {
  uint32_t rate_hz = 8000;
  uint16_t channels = 1;

  /// Size of one 16-bit linear sample of all channels.
  [[nodiscard]] uint32_t bytes_per_frame() const noexcept { return 2U * channels; }
};

/// Returns the header for `data_bytes` of samples, limited to kWavMaxDataBytes.
[[nodiscard]] std::array<uint8_t, kWavHeaderBytes> wav_header(const WavFormat& format,
                                                              uint64_t data_bytes) noexcept;

}  // namespace carillon
