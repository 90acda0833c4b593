#include "core/jitter/payload_store.hpp"

#include <algorithm>

namespace carillon {

size_t PayloadStore::count_until(int64_t timestamp) const {
  // From the newest: packets are written at the end and read a few packets before it.
  size_t n = count_;
  while (n > 0 && nth(n - 1).begin > timestamp) --n;
  return n;
}

bool PayloadStore::held(const Stretch& stretch) const {
  if (stretch.end() <= end_ - kCapacity) return false;
  return stretch.octets == 0 || written_ - stretch.at <= kOctets;
}

Bytes PayloadStore::payload(const Stretch& stretch) const {
  return Bytes(octets_).subspan(stretch.at % kOctets, stretch.octets);
}

uint64_t PayloadStore::keep(Bytes payload) {
  const size_t left = kOctets - written_ % kOctets;
  if (payload.size() > left) written_ += left;
  const uint64_t at = written_;
  std::ranges::copy(payload, octets_.begin() + static_cast<std::ptrdiff_t>(at % kOctets));
  written_ += payload.size();
  return at;
}

/// As the `n`th; without room for it the oldest goes.
void PayloadStore::insert(size_t n, const Stretch& stretch) {
  if (count_ == kMaxPackets) {
    if (n == 0) return;
    first_ = (first_ + 1) % kMaxPackets;
    --count_;
    --n;
  }
  for (size_t i = count_; i > n; --i) nth(i) = nth(i - 1);
  nth(n) = stretch;
  ++count_;
}

void PayloadStore::place(const Stretch& stretch) {
  const size_t n = count_until(stretch.begin);
  if (n == 0 || nth(n - 1).end() <= stretch.begin) {
    insert(n, stretch);
    return;
  }
  // What was there before counts up to the new one, and again behind it.
  Stretch rest = nth(n - 1);
  const bool replaces = rest.begin == stretch.begin;
  const bool goes_on = rest.end() > stretch.end() && (n == count_ || nth(n).begin > stretch.end());
  if (goes_on) {
    const auto before = static_cast<uint32_t>(stretch.end() - rest.begin);
    rest.begin = stretch.end();
    rest.ticks -= before;
    rest.into += before;
    insert(n, rest);
  }
  if (replaces) {
    nth(count_until(stretch.begin) - 1) = stretch;
  } else {
    insert(count_until(stretch.begin), stretch);
  }
}

PayloadStore::Written PayloadStore::write(int64_t timestamp, int64_t duration, Coding coding, Bytes payload) {
  if (duration <= 0 || duration > kCapacity || payload.size() > kOctets) return Written::too_long;
  if (empty_) {
    empty_ = false;
    end_ = timestamp;
  }
  if (timestamp > end_ + kCapacity - duration) return Written::jumped;
  if (timestamp < end_ - kCapacity) return Written::too_old;

  end_ = std::max(end_, timestamp + duration);
  const uint64_t at = keep(payload);
  place({timestamp, at, static_cast<uint32_t>(duration), 0, static_cast<uint16_t>(payload.size()), coding});
  return Written::stored;
}

void PayloadStore::fill_silence_until(int64_t timestamp) {
  if (empty_ || timestamp <= end_ || timestamp > end_ + kCapacity) return;
  const auto ticks = static_cast<uint32_t>(timestamp - end_);
  Stretch* const newest = count_ == 0 ? nullptr : &nth(count_ - 1);
  if (newest != nullptr && newest->coding == Coding::silence && newest->end() == end_) {
    newest->ticks += ticks;
  } else {
    insert(count_, {end_, 0, ticks, 0, 0, Coding::silence});
  }
  end_ = timestamp;
}

PayloadStore::Run PayloadStore::run_at(int64_t timestamp, size_t limit) const {
  const auto up_to = [&](int64_t other) {
    return static_cast<size_t>(std::min(static_cast<int64_t>(limit), other - timestamp));
  };
  const int64_t oldest = end_ - kCapacity;
  if (timestamp < oldest) return {up_to(oldest), {}, {}};
  size_t next = count_until(timestamp);
  if (next > 0 && timestamp < nth(next - 1).end() && held(nth(next - 1))) {
    const Stretch& here = nth(next - 1);
    const int64_t until = next < count_ ? std::min(here.end(), nth(next).begin) : here.end();
    const auto into = static_cast<size_t>(timestamp - here.begin) + here.into;
    const int64_t begins = here.begin - here.into;
    return {up_to(until), {here.coding, payload(here), begins, into}, {}};
  }
  while (next < count_ && !held(nth(next))) ++next;
  if (next == count_) return {limit, {}, {}};
  const Stretch& behind = nth(next);
  const size_t count = up_to(behind.begin);
  const bool right_behind = timestamp + static_cast<int64_t>(count) == behind.begin;
  return {count, {}, right_behind && behind.into == 0 ? payload(behind) : Bytes{}};
}

bool PayloadStore::complete(int64_t timestamp, size_t count) const {
  for (size_t done = 0; done < count;) {
    const Run run = run_at(timestamp + static_cast<int64_t>(done), count - done);
    if (run.part.coding == Coding::missing) return false;
    done += run.count;
  }
  return true;
}

void PayloadStore::expect_read(int64_t timestamp, size_t count) const {
  if (count_ == 0) return;
  // The newest packets by their number; the octets by their distance to the end, an octet a tick.
  prefetch(&nth(count_ - 1), sizeof(Stretch));
  prefetch(&nth(count_ - std::min<size_t>(count_, 3)), sizeof(Stretch));
  const auto behind = static_cast<uint64_t>(std::clamp<int64_t>(end_ - timestamp, 0, kCapacity));
  if (behind > written_) return;
  const size_t from = (written_ - behind) % kOctets;
  prefetch(&octets_[from], std::min(count, kOctets - from));
}

void PayloadStore::reset() {
  empty_ = true;
  end_ = 0;
  first_ = count_ = 0;
  ++generation_;
}

}  // namespace carillon
