#include "engine/event_ring.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

namespace carillon {

static_assert(std::endian::native == std::endian::little, "records are written in native order");

namespace {
template <typename T>
Bytes bytes_of(const T& value) {
  return {reinterpret_cast<const uint8_t*>(&value), sizeof(T)};
}
constexpr size_t padded(size_t bytes) { return (bytes + 7) & ~size_t{7}; }
}  // namespace

void EventRing::copy_in(size_t at, Bytes bytes) {
  const size_t from = at % kCapacity;
  const size_t first = std::min(bytes.size(), kCapacity - from);
  std::memcpy(bytes_.data() + from, bytes.data(), first);
  if (first < bytes.size()) std::memcpy(bytes_.data(), bytes.data() + first, bytes.size() - first);
}

void EventRing::copy_out(size_t at, std::span<uint8_t> out) const {
  const size_t from = at % kCapacity;
  const size_t first = std::min(out.size(), kCapacity - from);
  std::memcpy(out.data(), bytes_.data() + from, first);
  if (first < out.size()) std::memcpy(out.data() + first, bytes_.data(), out.size() - first);
}

void EventRing::put(const Record& record, Bytes payload, size_t reserve) {
  const size_t total = padded(kHeaderBytes + payload.size());
  const size_t written = written_.load(std::memory_order_relaxed);
  const size_t used = written - taken_.load(std::memory_order_acquire);
  if (used + total + reserve > kCapacity) {
    dropped_.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  std::array<uint8_t, kHeaderBytes> header{};
  const auto size = static_cast<uint32_t>(total);
  const auto length = static_cast<uint32_t>(payload.size());
  std::memcpy(header.data(), &size, 4);
  header[4] = static_cast<uint8_t>(record.type);
  header[5] = record.a;
  std::memcpy(header.data() + 6, &record.b, 2);
  std::memcpy(header.data() + 8, &record.handle, 4);
  std::memcpy(header.data() + 12, &length, 4);
  copy_in(written, header);
  if (!payload.empty()) copy_in(written + kHeaderBytes, payload);
  written_.store(written + total, std::memory_order_release);
}

void EventRing::put_u32(const Record& record, uint32_t value) { put(record, bytes_of(value), 0); }

bool EventRing::empty() const {
  return written_.load(std::memory_order_acquire) == taken_.load(std::memory_order_acquire);
}

size_t EventRing::take(std::span<uint8_t> out) {
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
  copy_out(start, out.first(end - start));
  taken_.store(end, std::memory_order_release);
  return end - start;
}

void EventRing::media(uint32_t stream, Bytes message) {
  put({EventType::media, 0, 0, stream}, message, kReservedForControl);
}
void EventRing::played(uint32_t stream, uint32_t checkpoint) {
  put_u32({EventType::played, 0, 0, stream}, checkpoint);
}
void EventRing::dtmf(uint32_t leg, char digit, Nanos at) {
  const double at_ms = static_cast<double>(at) / kMillisecond;
  put({EventType::dtmf, static_cast<uint8_t>(digit), 0, leg}, bytes_of(at_ms), 0);
}
void EventRing::media_timeout(uint32_t leg) { put({EventType::media_timeout, 0, 0, leg}, {}, 0); }
void EventRing::playback_ended(uint32_t player) { put({EventType::playback_ended, 0, 0, player}, {}, 0); }
void EventRing::digits_sent(uint32_t job) { put({EventType::digits_sent, 0, 0, job}, {}, 0); }
void EventRing::recording_ended(uint32_t recording, RecordingEnd reason, uint32_t duration_ms) {
  put_u32({EventType::recording_ended, static_cast<uint8_t>(reason), 0, recording}, duration_ms);
}
void EventRing::machine_detected(uint32_t job, bool machine, MachineReason reason, uint32_t after_ms) {
  put_u32({EventType::machine_detected, static_cast<uint8_t>(machine), static_cast<uint16_t>(reason), job},
          after_ms);
}
void EventRing::silence_waited(uint32_t job, bool silent) {
  put({EventType::silence_waited, static_cast<uint8_t>(silent), 0, job}, {}, 0);
}
void EventRing::floor_changed(uint32_t room, uint32_t member) {
  put_u32({EventType::floor_changed, 0, 0, room}, member);
}

}  // namespace carillon
