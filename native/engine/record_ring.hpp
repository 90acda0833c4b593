// A byte ring of records from any number of threads to one.
//
// Record: u32 bytes (whole record, padded to 8) · u8 type · u8 a · u16 b · u32 handle · u32 payload bytes ·
// payload. Little-endian, as JavaScript's DataView is told to read it.
//
// A producer takes its place by moving `reserved_` on, fills it, and writes the record's size last: the
// consumer stops at a size of 0. What it has taken it leaves as zeros. So records come out in the order in
// which their places were taken: what one thread puts after it has heard of another's record comes later.
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

  /// `capacity`: bytes, a multiple of 8.
  explicit RecordRing(size_t capacity);

  [[nodiscard]] size_t capacity() const { return capacity_; }

  // --- producers ---
  /// False, and counted, when it does not fit while `reserve` bytes stay free.
  bool put(const Record& record, Bytes payload, size_t reserve = 0);
  [[nodiscard]] uint64_t dropped() const { return dropped_.load(std::memory_order_relaxed); }

  // --- consumer ---
  [[nodiscard]] bool empty() const;
  /// Copies as many whole records as fit and returns their bytes.
  size_t take(std::span<uint8_t> out);

 private:
  [[nodiscard]] std::atomic_ref<uint32_t> size_at(size_t at) const;
  void copy_in(size_t at, Bytes bytes);
  void move_out(size_t at, std::span<uint8_t> out);

  struct Free {
    void operator()(uint8_t* bytes) const { std::free(bytes); }
  };

  /// Of zeros: what nothing was written to takes no memory.
  std::unique_ptr<uint8_t[], Free> bytes_;
  size_t capacity_;
  std::atomic<uint64_t> dropped_{0};
  alignas(64) std::atomic<size_t> reserved_{0};
  alignas(64) std::atomic<size_t> taken_{0};
};

/// Calls `handle(const Record&, std::span<uint8_t> payload)` for each record of what take() has copied.
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
