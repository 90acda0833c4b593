#include "io/wav_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <bit>
#include <cerrno>

namespace carillon {
namespace {

constexpr uint32_t kHeaderEverySeconds = 1;
// Recordings are personal data: only the service's user may read them.
constexpr mode_t kOwnerOnly = 0600;

}  // namespace

// Samples are written in memory byte order.
static_assert(std::endian::native == std::endian::little, "WAV samples are little-endian");

WavFile::WavFile(const std::string& path, const WavFormat& format) noexcept : format_(format) {
  descriptor_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, kOwnerOnly);
  if (descriptor_ < 0) {
    error_number_ = errno;
    return;
  }
  write_header();
}

WavFile::~WavFile() { close(); }

bool WavFile::append(std::span<const Sample> samples) noexcept {
  if (descriptor_ < 0 || error_number_ != 0) return false;
  const auto* bytes = reinterpret_cast<const uint8_t*>(samples.data());
  if (!write_all(bytes, samples.size_bytes(), kWavHeaderBytes + data_bytes_)) return false;
  data_bytes_ += samples.size_bytes();
  const uint64_t unsaid = data_bytes_ - header_says_bytes_;
  const uint64_t limit = uint64_t{kHeaderEverySeconds} * format_.rate_hz * format_.bytes_per_frame();
  return unsaid < limit || write_header();
}

bool WavFile::close() noexcept {
  if (descriptor_ < 0) return error_number_ == 0;
  // Also after a failure, so that the audio written before stays playable.
  write_header();
  if (::close(descriptor_) != 0 && error_number_ == 0) error_number_ = errno;
  descriptor_ = -1;
  return error_number_ == 0;
}

bool WavFile::write_header() noexcept {
  const auto header = wav_header(format_, data_bytes_);
  if (!write_all(header.data(), header.size(), 0)) return false;
  header_says_bytes_ = data_bytes_;
  return true;
}

bool WavFile::write_all(const uint8_t* bytes, size_t size, uint64_t offset) noexcept {
  while (size > 0) {
    const ssize_t written = ::pwrite(descriptor_, bytes, size, static_cast<off_t>(offset));
    if (written < 0) {
      if (errno == EINTR) continue;
      if (error_number_ == 0) error_number_ = errno;
      return false;
    }
    bytes += written;
    offset += static_cast<uint64_t>(written);
    size -= static_cast<size_t>(written);
  }
  return true;
}

}  // namespace carillon
