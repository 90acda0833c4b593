// Exchanges datagrams of many sockets with one system call using io_uring(7), if the kernel supports and
// permits it (5.18 or later). No operation is pending when a call returns.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "engine/file_descriptor.hpp"
#include "engine/udp_socket.hpp"

namespace carillon {

class DatagramRing {
 public:
  static constexpr size_t kMostReceives = 32;

  /// Creates a ring for exclusive use by the calling thread. Returns null if the kernel does not support it.
  static std::unique_ptr<DatagramRing> open();
  DatagramRing(const DatagramRing&) = delete;
  DatagramRing& operator=(const DatagramRing&) = delete;

  /// Queues a packet for the connected peer until the next exchange(). The socket must stay open until then.
  void send(const UdpSocket& socket, Bytes packet);
  /// Queues a receive for the next exchange(); at most kMaxReceives.
  void receive(const UdpSocket& socket, UdpSocket::Buffer& into);
  /// Executes the queued operations. Returns, in the order of receive(), whether a datagram was received;
  /// valid until the next call.
  std::span<const bool> exchange();
  /// Returns false if the ring has failed and must not be used again.
  [[nodiscard]] bool usable() const { return usable_; }

 private:
  static constexpr uint32_t kEntries = 256;
  static constexpr size_t kMostSends = kEntries - kMostReceives;
  static constexpr size_t kArenaBytes = 64 * 1024;

  /// Memory shared with the kernel.
  class Mapping {
   public:
    Mapping(int ring, size_t bytes, uint64_t what);
    ~Mapping();
    Mapping(const Mapping&) = delete;
    Mapping& operator=(const Mapping&) = delete;
    [[nodiscard]] bool there() const { return start_ != nullptr; }
    template <typename Type>
    [[nodiscard]] Type* at(size_t offset) const {
      return reinterpret_cast<Type*>(static_cast<uint8_t*>(start_) + offset);
    }

   private:
    size_t bytes_;
    void* start_;
  };
  /// Kernel-defined offsets in the mapping.
  struct Layout;
  struct Sent {
    int socket;
    uint32_t from;
    uint32_t size;
  };
  struct Asked {
    UdpSocket::Buffer* into;
    UdpSocket::Buffer::Request request;
  };

  DatagramRing(FileDescriptor ring, const Layout& layout);
  void add(uint8_t operation, int socket, const void* at, size_t size, uint64_t name);
  void submit();
  void reap();
  void completed(uint64_t name, int32_t result);

  FileDescriptor ring_;
  Mapping queues_;
  Mapping entries_;
  // Pointers into `queues_`.
  uint32_t* submission_tail_;
  uint32_t* completion_head_;
  uint32_t* completion_tail_;
  size_t completions_;
  uint32_t submission_mask_;
  uint32_t completion_mask_;
  // State since the last exchange().
  uint32_t given_ = 0;
  size_t sends_ = 0;
  size_t asks_ = 0;
  size_t used_ = 0;  // bytes used in the arena
  bool usable_ = true;
  std::array<Sent, kMostSends> sent_;
  std::array<Asked, kMostReceives> asked_;
  std::array<bool, kMostReceives> found_{};
  std::vector<uint8_t> arena_;
};

}  // namespace carillon
