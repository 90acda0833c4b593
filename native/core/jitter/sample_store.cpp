#include "core/jitter/sample_store.hpp"

#include <algorithm>
#include <bit>

namespace carillon {

namespace {
constexpr size_t slot(int64_t timestamp) {
  return static_cast<size_t>(timestamp & (SampleStore::kCapacity - 1));
}
}  // namespace

void SampleStore::mark(int64_t timestamp, int64_t count, bool present) {
  // Word by word: a packet of 160 samples touches three or four words.
  while (count > 0) {
    const size_t at = slot(timestamp);
    const auto bits = std::min<int64_t>(count, static_cast<int64_t>(64 - at % 64));
    const uint64_t mask = (bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1) << (at % 64);
    if (present) {
      present_[at / 64] |= mask;
    } else {
      present_[at / 64] &= ~mask;
    }
    timestamp += bits;
    count -= bits;
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

  if (timestamp > end_) mark(end_, timestamp - end_, false);
  if (after > end_) end_ = after;
  store(timestamp, samples);
  mark(timestamp, count, true);
  return Written::stored;
}

void SampleStore::store(int64_t timestamp, std::span<const Sample> samples) {
  const size_t from = slot(timestamp);
  const size_t before_wrap = std::min(samples.size(), static_cast<size_t>(kCapacity) - from);
  std::copy_n(samples.begin(), before_wrap, samples_.begin() + static_cast<std::ptrdiff_t>(from));
  std::copy(samples.begin() + static_cast<std::ptrdiff_t>(before_wrap), samples.end(), samples_.begin());
}

void SampleStore::fill_silence_until(int64_t timestamp) {
  if (empty_ || timestamp <= end_ || timestamp > end_ + kCapacity) return;
  mark(end_, timestamp - end_, true);
  for (; end_ < timestamp; ++end_) samples_[slot(end_)] = 0;
}

SampleStore::Run SampleStore::run_at(int64_t timestamp, size_t limit) const {
  if (limit == 0) return {0, false};
  const bool present = holds(timestamp);
  const auto wanted = static_cast<int64_t>(limit);
  const int64_t oldest = end_ - kCapacity;
  int64_t count = 0;
  while (count < wanted) {
    const int64_t at = timestamp + count;
    const bool outside = at >= end_ || at < oldest;
    if (outside && present) break;
    if (outside) {
      count = at >= end_ ? wanted : std::min(wanted, oldest - timestamp);
      continue;
    }
    // What is left of a word of presence bits at once.
    const size_t bit = slot(at) % 64;
    const uint64_t word = present_[slot(at) / 64];
    const int alike = std::countr_one((present ? word : ~word) >> bit);
    const int64_t comparable = std::min({static_cast<int64_t>(64 - bit), wanted - count, end_ - at});
    count += std::min<int64_t>(alike, comparable);
    if (alike < comparable) break;
  }
  return {static_cast<size_t>(count), present};
}

bool SampleStore::complete(int64_t timestamp, size_t count) const {
  const Run run = run_at(timestamp, count);
  return run.present && run.count == count;
}

void SampleStore::copy(int64_t timestamp, std::span<Sample> out) const {
  const size_t from = slot(timestamp);
  const size_t before_wrap = std::min(out.size(), static_cast<size_t>(kCapacity) - from);
  std::copy_n(samples_.begin() + static_cast<std::ptrdiff_t>(from), before_wrap, out.begin());
  std::copy_n(samples_.begin(), out.size() - before_wrap,
              out.begin() + static_cast<std::ptrdiff_t>(before_wrap));
}

void SampleStore::reset() {
  empty_ = true;
  end_ = 0;
  present_.fill(0);
  ++generation_;
}

}  // namespace carillon
