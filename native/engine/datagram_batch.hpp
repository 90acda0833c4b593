// Many datagrams of one socket by one system call, with their age: signalling reads what has come since its
// last turn.
#pragma once

#include <sys/socket.h>

#include <array>
#include <cstdint>
#include <memory>

#include "engine/udp_socket.hpp"

namespace carillon {

class DatagramBatch {
 public:
  static constexpr size_t kMost = 64;
  /// As long as a datagram can be.
  static constexpr size_t kMaxBytes = 65536;

  DatagramBatch();

  /// Asks the kernel to tell with each datagram how many it had no room for.
  static void count_losses(const UdpSocket& socket);

  /// Reads what waits; 0 when nothing does. What datagram() shows is valid until the next receive().
  size_t receive(const UdpSocket& socket);
  [[nodiscard]] Datagram datagram(size_t index);
  /// Datagrams that the kernel had no room for, since the socket was opened.
  [[nodiscard]] uint32_t lost() const { return lost_; }

 private:
  struct Place {
    iovec vector;
    sockaddr_storage source;
    /// Arrival time, losses.
    alignas(cmsghdr) std::array<uint8_t, CMSG_SPACE(sizeof(timespec)) + CMSG_SPACE(sizeof(uint32_t))> control;
    Nanos arrived_wall;
  };

  void read_control(size_t index);

  /// The system gives a page of it when it is first written to: usual messages touch one each.
  std::unique_ptr<uint8_t[]> bytes_;
  std::array<Place, kMost> places_;
  std::array<mmsghdr, kMost> headers_;
  uint32_t lost_ = 0;
};

}  // namespace carillon
