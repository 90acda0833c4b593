// Reads many datagrams of one socket with one system call, including their age. Used by the signalling
// socket.
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
  /// Maximum size of a datagram in bytes.
  static constexpr size_t kMaxBytes = 65536;

  DatagramBatch();

  /// Enables the kernel's counter of dropped datagrams, which is attached to each datagram.
  static void count_losses(const UdpSocket& socket);

  /// Reads the waiting datagrams and returns their number. Results of datagram() are valid until the next
  /// receive().
  size_t receive(const UdpSocket& socket);
  [[nodiscard]] Datagram datagram(size_t index);
  /// Number of datagrams that the kernel dropped since the socket was opened.
  [[nodiscard]] uint32_t lost() const { return lost_; }

 private:
  struct Place {
    iovec vector;
    sockaddr_storage source;
    /// Ancillary data: arrival time and drop counter.
    alignas(cmsghdr) std::array<uint8_t, CMSG_SPACE(sizeof(timespec)) + CMSG_SPACE(sizeof(uint32_t))> control;
    Nanos arrived_wall;
  };

  void read_control(size_t index);

  /// The system allocates pages on first write; typical messages touch one page each.
  std::unique_ptr<uint8_t[]> bytes_;
  std::array<Place, kMost> places_;
  std::array<mmsghdr, kMost> headers_;
  uint32_t lost_ = 0;
};

}  // namespace carillon
