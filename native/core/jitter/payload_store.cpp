#include "core/jitter/payload_store.hpp"

#include <algorithm>
#include <bit>

namespace carillon {

namespace {
constexpr size_t slot(int64_t timestamp) {
  return static_cast<size_t>(timestamp & (PayloadStore::kCapacity - 1));
}
}  // namespace

void PayloadStore::mark(int64_t timestamp, int64_t count, Coding coding) {
  const uint64_t low = all_or_none(coding, 0);
  const uint64_t high = all_or_none(coding, 1);
  // Word by word: a packet of 160 octets touches three or four words.
  while (count > 0) {
    const size_t at = slot(timestamp);
    const auto bits = std::min<int64_t>(count, static_cast<int64_t>(64 - at % 64));
    const uint64_t mask = (bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1) << (at % 64);
    CodingWord& word = codings_[at / 64];
    word.low = (word.low & ~mask) | (low & mask);
    word.high = (word.high & ~mask) | (high & mask);
    timestamp += bits;
    count -= bits;
  }
}

Coding PayloadStore::coding_at(int64_t timestamp) const {
  if (timestamp >= end_ || timestamp < end_ - kCapacity) return Coding::missing;
  const size_t at = slot(timestamp);
  const CodingWord& word = codings_[at / 64];
  return static_cast<Coding>((word.low >> at % 64 & 1) | (word.high >> at % 64 & 1) << 1);
}

PayloadStore::Written PayloadStore::write(int64_t timestamp, Coding coding, Bytes payload) {
  const auto count = static_cast<int64_t>(payload.size());
  const int64_t after = timestamp + count;
  if (empty_) {
    empty_ = false;
    end_ = timestamp;
  }
  if (count > kCapacity || timestamp > end_ + kCapacity - count) return Written::jumped;
  if (timestamp < end_ - kCapacity) return Written::too_old;

  if (timestamp > end_) mark(end_, timestamp - end_, Coding::missing);
  if (after > end_) end_ = after;
  store(timestamp, payload);
  mark(timestamp, count, coding);
  return Written::stored;
}

void PayloadStore::store(int64_t timestamp, Bytes payload) {
  const size_t from = slot(timestamp);
  const size_t before_wrap = std::min(payload.size(), static_cast<size_t>(kCapacity) - from);
  std::copy_n(payload.begin(), before_wrap, octets_.begin() + static_cast<std::ptrdiff_t>(from));
  std::copy(payload.begin() + static_cast<std::ptrdiff_t>(before_wrap), payload.end(), octets_.begin());
}

void PayloadStore::fill_silence_until(int64_t timestamp) {
  if (empty_ || timestamp <= end_ || timestamp > end_ + kCapacity) return;
  mark(end_, timestamp - end_, Coding::silence);
  end_ = timestamp;
}

PayloadStore::Run PayloadStore::run_at(int64_t timestamp, size_t limit) const {
  if (limit == 0) return {0, Coding::missing};
  const Coding coding = coding_at(timestamp);
  const uint64_t low = all_or_none(coding, 0);
  const uint64_t high = all_or_none(coding, 1);
  const auto wanted = static_cast<int64_t>(limit);
  const int64_t oldest = end_ - kCapacity;
  int64_t count = 0;
  while (count < wanted) {
    const int64_t at = timestamp + count;
    const bool outside = at >= end_ || at < oldest;
    if (outside && coding != Coding::missing) break;
    if (outside) {
      count = at >= end_ ? wanted : std::min(wanted, oldest - timestamp);
      continue;
    }
    // What is left of a word at once.
    const size_t bit = slot(at) % 64;
    const CodingWord& word = codings_[slot(at) / 64];
    const int alike = std::countr_one(~((word.low ^ low) | (word.high ^ high)) >> bit);
    const int64_t comparable = std::min({static_cast<int64_t>(64 - bit), wanted - count, end_ - at});
    count += std::min<int64_t>(alike, comparable);
    if (alike < comparable) break;
  }
  return {static_cast<size_t>(count), coding};
}

bool PayloadStore::complete(int64_t timestamp, size_t count) const {
  for (size_t done = 0; done < count;) {
    const Run run = run_at(timestamp + static_cast<int64_t>(done), count - done);
    if (run.coding == Coding::missing) return false;
    done += run.count;
  }
  return true;
}

Bytes PayloadStore::payload(int64_t timestamp, size_t count) const {
  const size_t from = slot(timestamp);
  return Bytes(octets_).subspan(from, std::min(count, octets_.size() - from));
}

void PayloadStore::reset() {
  empty_ = true;
  end_ = 0;
  codings_.fill({});
  ++generation_;
}

}  // namespace carillon
