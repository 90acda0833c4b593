// Growing WAV file that stays playable after a crash.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "core/base/frame.hpp"
#include "core/record/wav_header.hpp"

namespace carillon {

/// Appends samples and updates the lengths in the header every second of audio and at the end. After a crash
/// of the process, the header lacks at most 1 s; readers that use the file size get all audio. Data is not
/// synced, so a power failure can lose data in the page cache.
class WavFile {
 public:
  /// Creates or truncates the file. Check error_number() afterwards.
  WavFile(const std::string& path, const WavFormat& format) noexcept;
  ~WavFile();
  WavFile(const WavFile&) = delete;
  WavFile& operator=(const WavFile&) = delete;

  /// Appends interleaved samples. Returns false after any failure; the file then keeps its length.
  bool append(std::span<const Sample> samples) noexcept;
  /// Updates the header and closes the file. Idempotent.
  bool close() noexcept;

  /// errno of the first failure, or 0.
  [[nodiscard]] int error_number() const noexcept { return error_number_; }
  [[nodiscard]] uint64_t data_bytes() const noexcept { return data_bytes_; }

 private:
  bool write_all(const uint8_t* bytes, size_t size, uint64_t offset) noexcept;
  bool write_header() noexcept;

  WavFormat format_;
  int descriptor_ = -1;
  int error_number_ = 0;
  uint64_t data_bytes_ = 0;
  uint64_t header_says_bytes_ = 0;
};

}  // namespace carillon
