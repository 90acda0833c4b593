#include "engine/record_ring.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <new>

namespace carillon {

static_assert(std::endian::native == std::endian::little, "records are written in native order");

namespace {
constexpr size_t kSizeBytes = sizeof(uint32_t);
constexpr size_t padded(size_t bytes) { return (bytes + 7) & ~size_t{7}; }
}  // namespace

RecordRing::RecordRing(size_t capacity)
    : bytes_(static_cast<uint8_t*>(std::calloc(capacity, 1))), capacity_(capacity) {
  if (!bytes_) throw std::bad_alloc();
}

/// Records are aligned to 8 bytes, so the end of the ring never splits a size.
std::atomic_ref<uint32_t> RecordRing::size_at(size_t at) const {
  return std::atomic_ref(*reinterpret_cast<uint32_t*>(&bytes_[at % capacity_]));
}

void RecordRing::copy_in(size_t at, Bytes bytes) {
  const size_t from = at % capacity_;
  const size_t first = std::min(bytes.size(), capacity_ - from);
  std::memcpy(bytes_.get() + from, bytes.data(), first);
  if (first < bytes.size()) std::memcpy(bytes_.get(), bytes.data() + first, bytes.size() - first);
}

void RecordRing::move_out(size_t at, std::span<uint8_t> out) {
  const size_t from = at % capacity_;
  const size_t first = std::min(out.size(), capacity_ - from);
  std::memcpy(out.data(), bytes_.get() + from, first);
  std::memset(bytes_.get() + from, 0, first);
  if (first == out.size()) return;
  std::memcpy(out.data() + first, bytes_.get(), out.size() - first);
  std::memset(bytes_.get(), 0, out.size() - first);
}

bool RecordRing::put(const Record& record, Bytes payload, size_t reserve) {
  const size_t total = padded(kHeaderBytes + payload.size());
  // This load order can overestimate the used space, but never underestimate it.
  const size_t taken = taken_.load(std::memory_order_acquire);
  size_t at = reserved_.load(std::memory_order_relaxed);
  do {
    if (at - taken + total + reserve > capacity_) {
      dropped_.fetch_add(1, std::memory_order_relaxed);
      return false;
    }
  } while (!reserved_.compare_exchange_weak(at, at + total, std::memory_order_relaxed));
  std::array<uint8_t, kHeaderBytes - kSizeBytes> header{};
  const auto length = static_cast<uint32_t>(payload.size());
  header[0] = record.type;
  header[1] = record.a;
  std::memcpy(&header[2], &record.b, 2);
  std::memcpy(&header[4], &record.handle, 4);
  std::memcpy(&header[8], &length, 4);
  copy_in(at + kSizeBytes, header);
  if (!payload.empty()) copy_in(at + kHeaderBytes, payload);
  size_at(at).store(static_cast<uint32_t>(total), std::memory_order_release);
  return true;
}

bool RecordRing::empty() const {
  return reserved_.load(std::memory_order_acquire) == taken_.load(std::memory_order_acquire);
}

size_t RecordRing::take(std::span<uint8_t> out) {
  const size_t start = taken_.load(std::memory_order_relaxed);
  size_t end = start;
  while (end - start < capacity_) {
    const size_t size = size_at(end).load(std::memory_order_acquire);
    if (size == 0 || end + size - start > out.size()) break;
    end += size;
  }
  if (end == start) return 0;
  move_out(start, out.first(end - start));
  taken_.store(end, std::memory_order_release);
  return end - start;
}

}  // namespace carillon
