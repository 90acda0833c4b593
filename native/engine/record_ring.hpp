// Byte ring of records with multiple producer threads and one consumer.
//
// Record: u32 bytes (whole record, padded to 8) · u8 type · u8 a · u16 b · u32 handle · u32 payload bytes ·
// payload. Little-endian; JavaScript reads it with a DataView.
//
// A producer reserves space by advancing `reserved_`, writes the record, and writes its size last. The
// consumer stops at a size of 0 and zeroes consumed space. Records are therefore delivered in the order of
// their reservation. A record that a thread adds after seeing another thread's record comes later.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>

#include "core/base/bytes.hpp"

namespace carillon {

struct Record {
  uint8_t type = 0;
  uint8_t a = 0;
  uint16_t b = 0;
  uint32_t handle = 0;
};

class RecordRing {
 public:
  static constexpr size_t kHeaderBytes = 16;

  /// `capacity`: size in bytes, a multiple of 8.
  explicit RecordRing(size_t capacity);

  [[nodiscard]] size_t capacity() const { return capacity_; }

  // --- producers ---
  /// Adds a record. Returns false and counts a drop if it would leave fewer than `reserve` bytes free.
  bool put(const Record& record, Bytes payload, size_t reserve = 0);
  [[nodiscard]] uint64_t dropped() const { return dropped_.load(std::memory_order_relaxed); }

  // --- consumer ---
  [[nodiscard]] bool empty() const;
  /// Copies as many whole records as fit and returns their total size in bytes.
  size_t take(std::span<uint8_t> out);

 private:
  [[nodiscard]] std::atomic_ref<uint32_t> size_at(size_t at) const;
  void copy_in(size_t at, Bytes bytes);
  void move_out(size_t at, std::span<uint8_t> out);

  struct Free {
    void operator()(uint8_t* bytes) const { std::free(bytes); }
  };

  /// Zero-initialized; untouched pages use no physical memory.
  std::unique_ptr<uint8_t[], Free> bytes_;
  size_t capacity_;
  std::atomic<uint64_t> dropped_{0};
  alignas(64) std::atomic<size_t> reserved_{0};
  alignas(64) std::atomic<size_t> taken_{0};
};

/// Calls `handle(const Record&, std::span<uint8_t> payload)` for each record in the output of take().
template <typename Handle>
void for_each_record(std::span<uint8_t> batch, Handle handle) {
  for (size_t at = 0; at + RecordRing::kHeaderBytes <= batch.size();) {
    uint32_t size = 0;
    uint32_t payload = 0;
    Record record;
    std::memcpy(&size, batch.data() + at, 4);
    record.type = batch[at + 4];
    record.a = batch[at + 5];
    std::memcpy(&record.b, batch.data() + at + 6, 2);
    std::memcpy(&record.handle, batch.data() + at + 8, 4);
    std::memcpy(&payload, batch.data() + at + 12, 4);
    handle(record, batch.subspan(at + RecordRing::kHeaderBytes, payload));
    at += size;
  }
}

}  // namespace carillon
