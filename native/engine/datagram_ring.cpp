#include "engine/datagram_ring.hpp"

#if __has_include(<linux/io_uring.h>)
#include <linux/io_uring.h>
#endif
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>

namespace carillon {

DatagramRing::Mapping::Mapping(int ring, size_t bytes, uint64_t what)
    : bytes_(bytes),
      start_(::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring,
                    static_cast<off_t>(what))) {
  if (start_ == MAP_FAILED) start_ = nullptr;
}

DatagramRing::Mapping::~Mapping() {
  if (start_ != nullptr) ::munmap(start_, bytes_);
}

// The kernel headers are too old for this ring, so it is unavailable.
#ifndef IORING_SETUP_SUBMIT_ALL

struct DatagramRing::Layout {};
std::unique_ptr<DatagramRing> DatagramRing::open() { return nullptr; }
void DatagramRing::send(const UdpSocket& /*socket*/, Bytes /*packet*/) {}
void DatagramRing::receive(const UdpSocket& /*socket*/, UdpSocket::Buffer& /*into*/) {}
std::span<const bool> DatagramRing::exchange() { return {}; }

#else

namespace {

#ifdef IORING_SETUP_DEFER_TASKRUN
/// Only one thread submits and reaps, so the kernel need not lock.
constexpr uint32_t kForOneThread = IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN;
#else
constexpr uint32_t kForOneThread = 0;
#endif
constexpr uint32_t kNeeded = IORING_FEAT_SINGLE_MMAP | IORING_FEAT_CQE_SKIP;
constexpr int kFlags = MSG_DONTWAIT | MSG_NOSIGNAL;
/// Completion user data: the index of a send, or this flag with the index of a receive.
constexpr uint64_t kReceive = uint64_t{1} << 32;
/// Maximum number of retries after EINTR.
constexpr int kMostTries = 16;

int set_up(uint32_t entries, io_uring_params& parameters) {
  for (const uint32_t flags : {kForOneThread, uint32_t{0}}) {
    parameters = {};
    parameters.flags = IORING_SETUP_SUBMIT_ALL | flags;
    const long ring = syscall(SYS_io_uring_setup, entries, &parameters);
    if (ring >= 0) return static_cast<int>(ring);
  }
  return -1;
}

uint32_t acquire(uint32_t* value) { return std::atomic_ref(*value).load(std::memory_order_acquire); }
void release(uint32_t* value, uint32_t now) { std::atomic_ref(*value).store(now, std::memory_order_release); }

}  // namespace

struct DatagramRing::Layout {
  explicit Layout(const io_uring_params& given)
      : queue_bytes(std::max(given.sq_off.array + given.sq_entries * sizeof(uint32_t),
                             given.cq_off.cqes + given.cq_entries * sizeof(io_uring_cqe))),
        entry_bytes(given.sq_entries * sizeof(io_uring_sqe)),
        kernel(given) {}
  size_t queue_bytes;
  size_t entry_bytes;
  io_uring_params kernel;
};

std::unique_ptr<DatagramRing> DatagramRing::open() {
  io_uring_params parameters{};
  FileDescriptor ring(set_up(kEntries, parameters));
  if (!ring.open() || (parameters.features & kNeeded) != kNeeded) return nullptr;
  std::unique_ptr<DatagramRing> opened(new DatagramRing(std::move(ring), Layout(parameters)));
  return opened->usable() ? std::move(opened) : nullptr;
}

DatagramRing::DatagramRing(FileDescriptor ring, const Layout& layout)
    : ring_(std::move(ring)),
      queues_(ring_.get(), layout.queue_bytes, IORING_OFF_SQ_RING),
      entries_(ring_.get(), layout.entry_bytes, IORING_OFF_SQES),
      arena_(kArenaBytes) {
  usable_ = queues_.there() && entries_.there();
  if (!usable_) return;
  const auto& [submission, completion] = std::pair(layout.kernel.sq_off, layout.kernel.cq_off);
  submission_tail_ = queues_.at<uint32_t>(submission.tail);
  submission_mask_ = *queues_.at<uint32_t>(submission.ring_mask);
  completion_head_ = queues_.at<uint32_t>(completion.head);
  completion_tail_ = queues_.at<uint32_t>(completion.tail);
  completion_mask_ = *queues_.at<uint32_t>(completion.ring_mask);
  completions_ = completion.cqes;
  // Use the submission entries in their natural order.
  auto* const order = queues_.at<uint32_t>(submission.array);
  for (uint32_t i = 0; i <= submission_mask_; ++i) order[i] = i;
}

void DatagramRing::add(uint8_t operation, int socket, const void* at, size_t size, uint64_t name) {
  if (!usable_) return;
  const uint32_t tail = *submission_tail_;
  io_uring_sqe& entry = *entries_.at<io_uring_sqe>((tail & submission_mask_) * sizeof(io_uring_sqe));
  std::memset(&entry, 0, sizeof(entry));
  entry.opcode = operation;
  entry.fd = socket;
  entry.addr = reinterpret_cast<uintptr_t>(at);
  entry.len = static_cast<uint32_t>(size);
  entry.msg_flags = static_cast<uint32_t>(kFlags);
  entry.user_data = name;
  if (operation == IORING_OP_SEND) entry.flags = IOSQE_CQE_SKIP_SUCCESS;
  release(submission_tail_, tail + 1);
  ++given_;
}

void DatagramRing::send(const UdpSocket& socket, Bytes packet) {
  if (packet.size() > kArenaBytes) return;
  if (sends_ == kMostSends || packet.size() > kArenaBytes - used_) {
    // Receives queued before also complete here; exchange() reports their results.
    submit();
    reap();
    sends_ = used_ = 0;
  }
  std::memcpy(&arena_[used_], packet.data(), packet.size());
  sent_[sends_] = {socket.descriptor(), static_cast<uint32_t>(used_), static_cast<uint32_t>(packet.size())};
  add(IORING_OP_SEND, socket.descriptor(), &arena_[used_], packet.size(), sends_);
  used_ += packet.size();
  ++sends_;
}

void DatagramRing::receive(const UdpSocket& socket, UdpSocket::Buffer& into) {
  if (asks_ == kMostReceives) return;
  Asked& asked = asked_[asks_];
  asked.into = &into;
  into.prepare(asked.request);
  found_[asks_] = false;
  add(IORING_OP_RECVMSG, socket.descriptor(), &asked.request.header, 1, kReceive | asks_);
  ++asks_;
}

std::span<const bool> DatagramRing::exchange() {
  submit();
  reap();
  const size_t asked = asks_;
  sends_ = used_ = asks_ = 0;
  return std::span(found_).first(asked);
}

void DatagramRing::submit() {
  for (int tries = 0; given_ > 0 && tries < kMostTries; ++tries) {
    const long taken = syscall(SYS_io_uring_enter, ring_.get(), given_, 0, 0, nullptr, 0);
    if (taken > 0) given_ -= static_cast<uint32_t>(taken);
    if (taken < 0 && errno != EINTR) break;
  }
  // Unsubmitted entries would refer to memory that is reused by then, so stop using the ring.
  if (given_ > 0) usable_ = false;
}

void DatagramRing::reap() {
  uint32_t head = *completion_head_;
  for (const uint32_t tail = acquire(completion_tail_); head != tail; ++head) {
    const auto& done =
        *queues_.at<io_uring_cqe>(completions_ + (head & completion_mask_) * sizeof(io_uring_cqe));
    completed(done.user_data, done.res);
  }
  release(completion_head_, head);
}

void DatagramRing::completed(uint64_t name, int32_t result) {
  const size_t index = name & (kReceive - 1);
  if ((name & kReceive) != 0) {
    if (result < 0) return;
    asked_[index].into->take(asked_[index].request, static_cast<size_t>(result));
    found_[index] = true;
  } else if (result == -ECONNREFUSED) {
    // ECONNREFUSED reports an error of an earlier packet, and this packet was not sent. Retry once.
    const Sent& sent = sent_[index];
    static_cast<void>(::send(sent.socket, &arena_[sent.from], sent.size, kFlags));
  }
}

#endif

}  // namespace carillon
