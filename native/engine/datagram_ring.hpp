// Datagrams of many sockets by one system call: io_uring(7), where the kernel has it (5.18 or later) and lets
// us. Nothing is left waiting in the kernel when the call returns.
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

  /// For the thread that calls it, and no other. Null: the kernel has none for us.
  static std::unique_ptr<DatagramRing> open();
  DatagramRing(const DatagramRing&) = delete;
  DatagramRing& operator=(const DatagramRing&) = delete;

  /// Goes to the connected peer with the next exchange(), behind what was given before. The socket stays open
  /// until then.
  void send(const UdpSocket& socket, Bytes packet);
  /// Looks for a datagram with the next exchange(); at most kMostReceives.
  void receive(const UdpSocket& socket, UdpSocket::Buffer& into);
  /// Sends and receives what was asked for. Tells, in the order of receive(), who got a datagram; valid until
  /// the next call.
  std::span<const bool> exchange();
  /// False: the kernel takes nothing from it any more.
  [[nodiscard]] bool usable() const { return usable_; }

 private:
  static constexpr uint32_t kEntries = 256;
  static constexpr size_t kMostSends = kEntries - kMostReceives;
  static constexpr size_t kArenaBytes = 64 * 1024;

  /// Memory that is shared with the kernel.
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
  /// Where in the mapping the kernel keeps what.
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
  // In `queues_`.
  uint32_t* submission_tail_;
  uint32_t* completion_head_;
  uint32_t* completion_tail_;
  size_t completions_;
  uint32_t submission_mask_;
  uint32_t completion_mask_;
  // Since the last exchange().
  uint32_t given_ = 0;
  size_t sends_ = 0;
  size_t asks_ = 0;
  size_t used_ = 0;  // bytes of the arena
  bool usable_ = true;
  std::array<Sent, kMostSends> sent_;
  std::array<Asked, kMostReceives> asked_;
  std::array<bool, kMostReceives> found_{};
  std::vector<uint8_t> arena_;
};

}  // namespace carillon
