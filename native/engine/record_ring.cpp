#include "engine/record_ring.hpp"

#include <algorithm>
#include <array>
#include <bit>

namespace carillon {

static_assert(std::endian::native == std::endian::little, "records are written in native order");

namespace {
constexpr size_t padded(size_t bytes) { return (bytes + 7) & ~size_t{7}; }
}  // namespace

void RecordRing::copy_in(size_t at, Bytes bytes) {
  const size_t from = at % capacity_;
  const size_t first = std::min(bytes.size(), capacity_ - from);
  std::memcpy(bytes_.get() + from, bytes.data(), first);
  if (first < bytes.size()) std::memcpy(bytes_.get(), bytes.data() + first, bytes.size() - first);
}

void RecordRing::copy_out(size_t at, std::span<uint8_t> out) const {
  const size_t from = at % capacity_;
  const size_t first = std::min(out.size(), capacity_ - from);
  std::memcpy(out.data(), bytes_.get() + from, first);
  if (first < out.size()) std::memcpy(out.data() + first, bytes_.get(), out.size() - first);
}

bool RecordRing::put(const Record& record, Bytes payload, size_t reserve) {
  const size_t total = padded(kHeaderBytes + payload.size());
  const size_t written = written_.load(std::memory_order_relaxed);
  const size_t used = written - taken_.load(std::memory_order_acquire);
  if (used + total + reserve > capacity_) {
    dropped_.fetch_add(1, std::memory_order_relaxed);
    return false;
  }
  std::array<uint8_t, kHeaderBytes> header{};
  const auto size = static_cast<uint32_t>(total);
  const auto length = static_cast<uint32_t>(payload.size());
  std::memcpy(header.data(), &size, 4);
  header[4] = record.type;
  header[5] = record.a;
  std::memcpy(header.data() + 6, &record.b, 2);
  std::memcpy(header.data() + 8, &record.handle, 4);
  std::memcpy(header.data() + 12, &length, 4);
  copy_in(written, header);
  if (!payload.empty()) copy_in(written + kHeaderBytes, payload);
  written_.store(written + total, std::memory_order_release);
  return true;
}

bool RecordRing::empty() const {
  return written_.load(std::memory_order_acquire) == taken_.load(std::memory_order_acquire);
}

size_t RecordRing::take(std::span<uint8_t> out) {
  const size_t written = written_.load(std::memory_order_acquire);
  const size_t start = taken_.load(std::memory_order_relaxed);
  size_t end = start;
  while (end < written) {
    uint32_t size = 0;
    std::array<uint8_t, 4> raw;
    copy_out(end, raw);
    std::memcpy(&size, raw.data(), 4);
    if (end + size - start > out.size()) break;
    end += size;
  }
  if (end == start) return 0;
  copy_out(start, out.first(end - start));
  taken_.store(end, std::memory_order_release);
  return end - start;
}

}  // namespace carillon
