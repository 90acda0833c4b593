// A WAV file that grows and is playable at any moment after a crash.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "core/base/frame.hpp"
#include "core/record/wav_header.hpp"

namespace carillon {

/// Samples are appended; the lengths in the header are brought up to date every 10 s of audio and at the end,
/// so that a process that dies leaves a file which lacks 10 s at most in the header's view (and nothing for
/// readers that go by the file's size). Data is left to the page cache: a power cut may lose what the kernel
/// still holds.
class WavFile {
 public:
  /// Creates or truncates the file. Look at error_number() afterwards.
  WavFile(const std::string& path, const WavFormat& format) noexcept;
  ~WavFile();
  WavFile(const WavFile&) = delete;
  WavFile& operator=(const WavFile&) = delete;

  /// Interleaved samples. False after any failure; then the file stays as long as it was.
  bool append(std::span<const Sample> samples) noexcept;
  /// Brings the header up to date and closes. Idempotent.
  bool close() noexcept;

  /// errno of the first failure, or 0.
  [[nodiscard]] int error_number() const noexcept { return error_number_; }
  [[nodiscard]] uint64_t data_bytes() const noexcept { return data_bytes_; }

 private:
  bool write_all(const uint8_t* bytes, size_t size, uint64_t offset) noexcept;
  bool write_header() noexcept;

  // Given.
  WavFormat format_;
  // Owned.
  int descriptor_ = -1;
  // State.
  int error_number_ = 0;
  uint64_t data_bytes_ = 0;
  uint64_t header_says_bytes_ = 0;
};

}  // namespace carillon
