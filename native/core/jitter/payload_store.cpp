#include "core/jitter/payload_store.hpp"

#include <algorithm>

namespace carillon {

namespace {
/// 20 ms at 64 kbit/s.
constexpr size_t kExpectedPayload = 160;

/// Of a stretch: no longer than the store's capacity, of which no clock has more.
uint16_t in_16_bits(RtpTicks ticks) { return static_cast<uint16_t>(ticks.count()); }
}  // namespace

size_t PayloadStore::count_until(RtpTime timestamp) const {
  // From the newest: packets are written at the end and read a few packets before it.
  size_t n = count_;
  while (n > 0 && nth(n - 1).begin > timestamp) --n;
  return n;
}

bool PayloadStore::held(const Stretch& stretch) const {
  if (stretch.end() <= end_ - capacity_) return false;
  return stretch.octets == 0 || written_ - stretch.at <= octets_.size();
}

Bytes PayloadStore::payload(const Stretch& stretch) const {
  return Bytes(octets_).subspan(stretch.at % octets_.size(), stretch.octets);
}

uint64_t PayloadStore::keep(Bytes payload) {
  const size_t left = octets_.size() - written_ % octets_.size();
  if (payload.size() > left) written_ += left;
  const uint64_t at = written_;
  std::ranges::copy(payload, octets_.begin() + static_cast<std::ptrdiff_t>(at % octets_.size()));
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
    const RtpTicks before = stretch.end() - rest.begin;
    rest.begin = stretch.end();
    rest.ticks = in_16_bits(rest.length() - before);
    rest.ticks_into = in_16_bits(rest.into() + before);
    insert(n, rest);
  }
  if (replaces) {
    nth(count_until(stretch.begin) - 1) = stretch;
  } else {
    insert(count_until(stretch.begin), stretch);
  }
}

PayloadStore::Written PayloadStore::write(RtpTime timestamp, RtpTicks duration, Coding coding,
                                          Bytes payload) {
  if (duration <= RtpTicks() || duration > capacity_ || payload.size() > octets_.size())
    return Written::too_long;
  if (empty_) {
    empty_ = false;
    end_ = timestamp;
  }
  if (timestamp > end_ + capacity_ - duration) return Written::jumped;
  if (timestamp < end_ - capacity_) return Written::too_old;

  end_ = std::max(end_, timestamp + duration);
  const uint64_t at = keep(payload);
  place({timestamp, at, in_16_bits(duration), 0, static_cast<uint16_t>(payload.size()), coding});
  return Written::stored;
}

void PayloadStore::fill_silence_until(RtpTime timestamp) {
  if (empty_ || timestamp <= end_ || timestamp > end_ + capacity_) return;
  const RtpTicks length = timestamp - end_;
  Stretch* const newest = count_ == 0 ? nullptr : &nth(count_ - 1);
  if (newest != nullptr && newest->coding == Coding::silence && newest->end() == end_) {
    // What lies further back is not held any more.
    const RtpTicks whole = std::min(newest->length() + length, capacity_);
    newest->begin = timestamp - whole;
    newest->ticks = in_16_bits(whole);
  } else {
    insert(count_, {end_, 0, in_16_bits(length), 0, 0, Coding::silence});
  }
  end_ = timestamp;
}

PayloadStore::Run PayloadStore::run_at(RtpTime timestamp, RtpTicks limit) const {
  const auto up_to = [&](RtpTime other) { return std::min(limit, other - timestamp); };
  const RtpTime oldest = end_ - capacity_;
  if (timestamp < oldest) return {up_to(oldest), {}, {}};
  size_t next = count_until(timestamp);
  if (next > 0 && timestamp < nth(next - 1).end() && held(nth(next - 1))) {
    const Stretch& here = nth(next - 1);
    const RtpTime until = next < count_ ? std::min(here.end(), nth(next).begin) : here.end();
    const RtpTicks into = timestamp - here.begin + here.into();
    return {up_to(until), {here.coding, payload(here), here.begin - here.into(), into}, {}};
  }
  while (next < count_ && !held(nth(next))) ++next;
  if (next == count_) return {limit, {}, {}};
  const Stretch& behind = nth(next);
  const RtpTicks length = up_to(behind.begin);
  const bool right_behind = timestamp + length == behind.begin && behind.into() == RtpTicks();
  return {length, {}, right_behind ? payload(behind) : Bytes{}};
}

bool PayloadStore::complete(RtpTime timestamp, RtpTicks length) const {
  const RtpTime until = timestamp + length;
  while (timestamp < until) {
    const Run run = run_at(timestamp, until - timestamp);
    if (run.part.coding == Coding::missing) return false;
    timestamp += run.length;
  }
  return true;
}

void PayloadStore::expect_write() const {
  // The newest packet, the place behind it, and where its octets will stand.
  prefetch(&nth(count_), sizeof(Stretch));
  if (count_ > 0) prefetch(&nth(count_ - 1), sizeof(Stretch));
  const size_t from = written_ % octets_.size();
  prefetch(&octets_[from], std::min(kExpectedPayload, octets_.size() - from));
}

void PayloadStore::expect_read(RtpTime timestamp, RtpTicks length) const {
  if (count_ == 0) return;
  // The newest packets by their number; the octets by their distance to the end, an octet a tick.
  prefetch(&nth(count_ - 1), sizeof(Stretch));
  prefetch(&nth(count_ - std::min<size_t>(count_, 3)), sizeof(Stretch));
  const auto behind = static_cast<uint64_t>(std::clamp(end_ - timestamp, RtpTicks(), capacity_).count());
  if (behind > written_) return;
  const size_t from = (written_ - behind) % octets_.size();
  prefetch(&octets_[from], std::min(static_cast<size_t>(length.count()), octets_.size() - from));
}

void PayloadStore::reset() {
  empty_ = true;
  end_ = RtpTime();
  first_ = count_ = 0;
  ++generation_;
}

}  // namespace carillon
