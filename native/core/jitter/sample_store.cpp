#include "core/jitter/sample_store.hpp"

#include <algorithm>

namespace carillon {

namespace {
constexpr size_t slot(int64_t timestamp) {
  return static_cast<size_t>(timestamp & (SampleStore::kCapacity - 1));
}
}  // namespace

void SampleStore::mark(int64_t timestamp, bool present) {
  const size_t at = slot(timestamp);
  const uint64_t bit = uint64_t{1} << (at % 64);
  if (present) {
    present_[at / 64] |= bit;
  } else {
    present_[at / 64] &= ~bit;
  }
}

bool SampleStore::holds(int64_t timestamp) const {
  if (timestamp >= end_ || timestamp < end_ - kCapacity) return false;
  const size_t at = slot(timestamp);
  return (present_[at / 64] >> (at % 64) & 1) != 0;
}

SampleStore::Written SampleStore::write(int64_t timestamp, std::span<const Sample> samples) {
  const auto count = static_cast<int64_t>(samples.size());
  const int64_t after = timestamp + count;
  if (empty_) {
    empty_ = false;
    end_ = timestamp;
  }
  if (count > kCapacity || timestamp > end_ + kCapacity - count) return Written::jumped;
  if (timestamp < end_ - kCapacity) return Written::too_old;

  for (int64_t at = end_; at < timestamp; ++at) mark(at, false);
  if (after > end_) end_ = after;
  for (int64_t i = 0; i < count; ++i) {
    samples_[slot(timestamp + i)] = samples[static_cast<size_t>(i)];
    mark(timestamp + i, true);
  }
  return Written::stored;
}

void SampleStore::fill_silence_until(int64_t timestamp) {
  if (empty_ || timestamp > end_ + kCapacity) return;
  for (; end_ < timestamp; ++end_) {
    samples_[slot(end_)] = 0;
    mark(end_, true);
  }
}

SampleStore::Run SampleStore::run_at(int64_t timestamp, size_t limit) const {
  if (limit == 0) return {0, false};
  const bool present = holds(timestamp);
  size_t count = 1;
  while (count < limit) {
    const int64_t at = timestamp + static_cast<int64_t>(count);
    // A whole word of presence bits at a time where it is aligned and inside the ring.
    if (present && slot(at) % 64 == 0 && limit - count >= 64 && at >= end_ - kCapacity && at + 64 <= end_ &&
        present_[slot(at) / 64] == ~uint64_t{0}) {
      count += 64;
      continue;
    }
    if (holds(at) != present) break;
    ++count;
  }
  return {count, present};
}

bool SampleStore::complete(int64_t timestamp, size_t count) const {
  const Run run = run_at(timestamp, count);
  return run.present && run.count == count;
}

void SampleStore::copy(int64_t timestamp, std::span<Sample> out) const {
  const size_t from = slot(timestamp);
  const size_t before_wrap = std::min(out.size(), static_cast<size_t>(kCapacity) - from);
  std::copy_n(samples_.begin() + static_cast<std::ptrdiff_t>(from), before_wrap, out.begin());
  std::copy_n(samples_.begin(), out.size() - before_wrap, out.begin() + static_cast<std::ptrdiff_t>(before_wrap));
}

void SampleStore::reset() {
  empty_ = true;
  end_ = 0;
  present_.fill(0);
  ++generation_;
}

}  // namespace carillon
