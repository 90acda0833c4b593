#include "core/record/sample_ring.hpp"

#include <algorithm>

namespace carillon {

bool SampleRing::push(std::span<const Sample> samples) noexcept {
  if (samples.size() > room()) return false;
  const size_t written = written_.load(std::memory_order_relaxed);
  const size_t at = samples_.empty() ? 0 : written % samples_.size();
  const size_t before_wrap = std::min(samples.size(), samples_.size() - at);
  std::copy_n(samples.begin(), before_wrap, samples_.begin() + static_cast<ptrdiff_t>(at));
  std::copy(samples.begin() + static_cast<ptrdiff_t>(before_wrap), samples.end(), samples_.begin());
  written_.store(written + samples.size(), std::memory_order_release);
  return true;
}

size_t SampleRing::room() const noexcept {
  return samples_.size() - (written_.load(std::memory_order_relaxed) - read_.load(std::memory_order_acquire));
}

size_t SampleRing::pop(std::span<Sample> out) noexcept {
  const size_t count = std::min(out.size(), size());
  if (count == 0) return 0;
  const size_t read = read_.load(std::memory_order_relaxed);
  const size_t at = read % samples_.size();
  const size_t before_wrap = std::min(count, samples_.size() - at);
  const auto first = samples_.begin() + static_cast<ptrdiff_t>(at);
  std::copy_n(first, before_wrap, out.begin());
  std::copy_n(samples_.begin(), count - before_wrap, out.begin() + static_cast<ptrdiff_t>(before_wrap));
  read_.store(read + count, std::memory_order_release);
  return count;
}

size_t SampleRing::size() const noexcept {
  return written_.load(std::memory_order_acquire) - read_.load(std::memory_order_relaxed);
}

}  // namespace carillon
