#include "core/jitter/payload_store.hpp"

#include <algorithm>

namespace carillon {

namespace {
/// Octets in 20 ms at 64 kbit/s.
constexpr size_t kExpectedPayload = 160;

uint16_t in_16_bits(int64_t count) { return static_cast<uint16_t>(count); }
}  // namespace

/// Restores the full timestamp from the low 32 bits. Sections lie within seconds of the end.
template <size_t kPackets, int kHeldMs, int kKeptMs>
RtpTime PacketStore<kPackets, kHeldMs, kKeptMs>::begin_of(size_t n) const {
  const auto end = static_cast<uint32_t>(end_.since_zero().count());
  return end_ + RtpTicks(static_cast<int32_t>(kept(n).begin - end));
}

template <size_t kPackets, int kHeldMs, int kKeptMs>
typename PacketStore<kPackets, kHeldMs, kKeptMs>::Stretch PacketStore<kPackets, kHeldMs, kKeptMs>::nth(
    size_t n) const {
  const Kept& stretch = kept(n);
  const uint32_t since = static_cast<uint32_t>(written_) - stretch.at;
  return {begin_of(n),    written_ - since, RtpTicks(stretch.ticks), RtpTicks(stretch.ticks_into),
          stretch.octets, stretch.coding};
}

template <size_t kPackets, int kHeldMs, int kKeptMs>
void PacketStore<kPackets, kHeldMs, kKeptMs>::set(size_t n, const Stretch& stretch) {
  stretches_[(first_ + n) % kMaxPackets] = {static_cast<uint32_t>(stretch.begin.since_zero().count()),
                                            static_cast<uint32_t>(stretch.at),
                                            in_16_bits(stretch.length.count()),
                                            in_16_bits(stretch.into.count()),
                                            static_cast<uint16_t>(stretch.octets),
                                            stretch.coding};
}

template <size_t kPackets, int kHeldMs, int kKeptMs>
size_t PacketStore<kPackets, kHeldMs, kKeptMs>::count_until(RtpTime timestamp) const {
  // Search from the newest: packets are written at the end and read a few packets before it. In a long store,
  // begin where the section would be if all had the length of the newest.
  size_t n = count_;
  if constexpr (kMaxPackets > PayloadStore::kMaxPackets) {
    const int64_t length = count_ == 0 ? 0 : kept(count_ - 1).ticks;
    if (length > 0 && timestamp < end_) {
      const int64_t behind = (end_ - timestamp).count() / length;
      n = behind < static_cast<int64_t>(count_) ? count_ - static_cast<size_t>(behind) : 0;
      while (n < count_ && begin_of(n) <= timestamp) ++n;
    }
  }
  while (n > 0 && begin_of(n - 1) > timestamp) --n;
  return n;
}

template <size_t kPackets, int kHeldMs, int kKeptMs>
bool PacketStore<kPackets, kHeldMs, kKeptMs>::held(const Stretch& stretch) const {
  if (stretch.end() <= end_ - capacity_) return false;
  return payload_kept(stretch);
}

template <size_t kPackets, int kHeldMs, int kKeptMs>
Bytes PacketStore<kPackets, kHeldMs, kKeptMs>::payload(const Stretch& stretch) const {
  const size_t from = stretch.at % octets_.size();
  const size_t in_one = std::min(stretch.octets, octets_.size() - from);
  if (in_one == stretch.octets) return Bytes(octets_).subspan(from, in_one);
  // The payload wraps to the beginning of the ring, which happens once in several dozen packets. Copy it into
  // one piece.
  thread_local std::array<uint8_t, kLongestPayload> whole;
  const auto rest = std::copy_n(octets_.begin() + static_cast<std::ptrdiff_t>(from), in_one, whole.begin());
  std::copy_n(octets_.begin(), stretch.octets - in_one, rest);
  return Bytes(whole).first(stretch.octets);
}

template <size_t kPackets, int kHeldMs, int kKeptMs>
uint64_t PacketStore<kPackets, kHeldMs, kKeptMs>::keep(Bytes payload) {
  const uint64_t at = written_;
  const size_t from = at % octets_.size();
  const Bytes in_one = payload.first(std::min(payload.size(), octets_.size() - from));
  std::ranges::copy(in_one, octets_.begin() + static_cast<std::ptrdiff_t>(from));
  std::ranges::copy(payload.subspan(in_one.size()), octets_.begin());
  written_ += payload.size();
  return at;
}

/// Inserts a section at index `n`. If the store is full, the oldest section is removed.
template <size_t kPackets, int kHeldMs, int kKeptMs>
void PacketStore<kPackets, kHeldMs, kKeptMs>::insert(size_t n, const Stretch& stretch) {
  if (count_ == kMaxPackets) {
    if (n == 0) return;
    forget_oldest();
    --n;
  }
  for (size_t i = count_; i > n; --i) stretches_[(first_ + i) % kMaxPackets] = kept(i - 1);
  set(n, stretch);
  ++count_;
}

template <size_t kPackets, int kHeldMs, int kKeptMs>
void PacketStore<kPackets, kHeldMs, kKeptMs>::forget_oldest() {
  first_ = (first_ + 1) % kMaxPackets;
  --count_;
}

template <size_t kPackets, int kHeldMs, int kKeptMs>
void PacketStore<kPackets, kHeldMs, kKeptMs>::place(const Stretch& stretch) {
  const size_t n = count_until(stretch.begin);
  if (n == 0 || nth(n - 1).end() <= stretch.begin) {
    insert(n, stretch);
    return;
  }
  // The existing section is cut at the start of the new one and may continue after it.
  Stretch rest = nth(n - 1);
  const bool replaces = rest.begin == stretch.begin;
  const bool goes_on = rest.end() > stretch.end() && (n == count_ || begin_of(n) > stretch.end());
  if (goes_on) {
    const RtpTicks before = stretch.end() - rest.begin;
    rest.begin = stretch.end();
    rest.length -= before;
    rest.into += before;
    insert(n, rest);
  }
  if (replaces) {
    set(count_until(stretch.begin) - 1, stretch);
  } else {
    insert(count_until(stretch.begin), stretch);
  }
}

template <size_t kPackets, int kHeldMs, int kKeptMs>
typename PacketStore<kPackets, kHeldMs, kKeptMs>::Written PacketStore<kPackets, kHeldMs, kKeptMs>::write(
    RtpTime timestamp, RtpTicks duration, Coding coding, Bytes payload) {
  const size_t longest = std::min(kLongestPayload, octets_.size());
  if (duration <= RtpTicks() || duration > capacity_ || payload.size() > longest) return Written::too_long;
  if (empty_) {
    empty_ = false;
    end_ = timestamp;
  }
  if (timestamp > end_ + capacity_ - duration) return Written::jumped;
  if (timestamp < end_ - capacity_) return Written::too_old;

  end_ = std::max(end_, timestamp + duration);
  const uint64_t at = keep(payload);
  place({timestamp, at, duration, {}, payload.size(), coding});
  return Written::stored;
}

template <size_t kPackets, int kHeldMs, int kKeptMs>
void PacketStore<kPackets, kHeldMs, kKeptMs>::fill_silence_until(RtpTime timestamp) {
  if (empty_ || timestamp <= end_ || (!comforts() && timestamp > end_ + capacity_)) return;
  const RtpTicks length = timestamp - end_;
  // Remove expired sections. During silence no packets replace them, and their low timestamp bits would
  // become ambiguous.
  while (count_ > 0 && nth(0).end() <= end_ - capacity_) forget_oldest();
  const Coding last = count_ > 0 ? kept(count_ - 1).coding : Coding::missing;
  const bool goes_on = (last == Coding::silence || last == Coding::comfort) && nth(count_ - 1).end() == end_;
  Stretch silence = goes_on ? nth(count_ - 1) : Stretch{end_, written_, {}, {}, 0, Coding::silence};
  // Silence longer than the capacity is shortened to it.
  silence.length = std::min(silence.length + length, capacity_);
  silence.begin = timestamp - silence.length;
  if (goes_on) {
    set(count_ - 1, silence);
  } else {
    insert(count_, silence);
  }
  end_ = timestamp;
}

template <size_t kPackets, int kHeldMs, int kKeptMs>
typename PacketStore<kPackets, kHeldMs, kKeptMs>::Run PacketStore<kPackets, kHeldMs, kKeptMs>::run_at(
    RtpTime timestamp, RtpTicks limit) const {
  const auto up_to = [&](RtpTime other) { return std::min(limit, other - timestamp); };
  const RtpTime oldest = end_ - capacity_;
  if (timestamp < oldest) return {up_to(oldest), {}, {}};
  size_t next = count_until(timestamp);
  if (next > 0) {
    const Stretch here = nth(next - 1);
    if (timestamp < here.end() && held(here)) {
      const RtpTime until = next < count_ ? std::min(here.end(), begin_of(next)) : here.end();
      const RtpTicks into = timestamp - here.begin + here.into;
      return {up_to(until), {here.coding, payload(here), here.begin - here.into, into}, {}};
    }
  }
  if (next > 0 && kept(next - 1).coding == Coding::comfort && payload_kept(nth(next - 1))) {
    const Stretch noise = nth(next - 1);
    return {next < count_ ? up_to(begin_of(next)) : limit, {Coding::comfort, payload(noise), {}, {}}, {}};
  }
  while (next < count_ && !held(nth(next))) ++next;
  if (next == count_) return {limit, {}, {}};
  const Stretch behind = nth(next);
  const RtpTicks length = up_to(behind.begin);
  const bool right_behind = timestamp + length == behind.begin && behind.into == RtpTicks();
  return {length, {}, right_behind ? payload(behind) : Bytes{}};
}

template <size_t kPackets, int kHeldMs, int kKeptMs>
bool PacketStore<kPackets, kHeldMs, kKeptMs>::complete(RtpTime timestamp, RtpTicks length) const {
  const RtpTime until = timestamp + length;
  while (timestamp < until) {
    const Run run = run_at(timestamp, until - timestamp);
    if (run.part.coding == Coding::missing) return false;
    timestamp += run.length;
  }
  return true;
}

template <size_t kPackets, int kHeldMs, int kKeptMs>
void PacketStore<kPackets, kHeldMs, kKeptMs>::expect_write() const {
  // Prefetch the newest packet, the next slot and the location of its octets.
  prefetch(&kept(count_), sizeof(Kept));
  if (count_ > 0) prefetch(&kept(count_ - 1), sizeof(Kept));
  const size_t from = written_ % octets_.size();
  prefetch(&octets_[from], std::min(kExpectedPayload, octets_.size() - from));
}

template <size_t kPackets, int kHeldMs, int kKeptMs>
void PacketStore<kPackets, kHeldMs, kKeptMs>::expect_read(RtpTime timestamp, RtpTicks length) const {
  if (count_ == 0) return;
  // Locate the newest packets by index. Locate octets by distance from the end, at one octet per tick.
  prefetch(&kept(count_ - 1), sizeof(Kept));
  prefetch(&kept(count_ - std::min<size_t>(count_, 3)), sizeof(Kept));
  const auto behind = static_cast<uint64_t>(std::clamp(end_ - timestamp, RtpTicks(), capacity_).count());
  if (behind > written_) return;
  const size_t from = (written_ - behind) % octets_.size();
  prefetch(&octets_[from], std::min(static_cast<size_t>(length.count()), octets_.size() - from));
}

template <size_t kPackets, int kHeldMs, int kKeptMs>
void PacketStore<kPackets, kHeldMs, kKeptMs>::reset() {
  empty_ = true;
  end_ = RtpTime();
  first_ = count_ = 0;
  ++generation_;
}

template class PacketStore<48, 512, 360>;
template class PacketStore<160, 1360, 1360>;

}  // namespace carillon
