// A non-blocking UDP socket of one leg, with the kernel's arrival times.
#pragma once

#include <sys/socket.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "core/base/address.hpp"
#include "core/base/bytes.hpp"
#include "core/base/time.hpp"

namespace carillon {

/// Parses an IPv4 or IPv6 literal.
std::optional<Address> parse_address(const std::string& ip, uint16_t port);
std::string format_ip(const Address& address);

struct Datagram {
  Bytes bytes;
  Address source;
  /// Kernel arrival time, CLOCK_REALTIME; 0 when the kernel gave none.
  Nanos arrived_wall = 0;
};

class UdpSocket {
 public:
  UdpSocket() = default;
  UdpSocket(UdpSocket&& other) noexcept;
  UdpSocket& operator=(UdpSocket&& other) noexcept;
  ~UdpSocket();

  /// Nothing when the port is taken or the address is not ours.
  static std::optional<UdpSocket> bind(const Address& local);

  [[nodiscard]] bool open() const { return fd_ >= 0; }
  /// Errors are the network's business: RTP repairs nothing.
  void send(const Address& to, Bytes packet) const;
  /// To the connected peer: no route is looked up, no address is copied.
  void send(Bytes packet) const;
  /// Hears only `peer` from now on; nothing: everybody again. False when the kernel refuses.
  bool connect(const std::optional<Address>& peer) const;

  /// Datagrams of one call; the views are valid until the next.
  class Batch {
   public:
    static constexpr size_t kDatagrams = 8;
    static constexpr size_t kMaxBytes = 2048;

    Batch();
    [[nodiscard]] size_t receive(const UdpSocket& socket);
    [[nodiscard]] Datagram at(size_t index) const;

   private:
    std::array<std::array<uint8_t, kMaxBytes>, kDatagrams> bytes_;
    std::array<std::array<uint8_t, 64>, kDatagrams> control_;
    std::array<sockaddr_storage, kDatagrams> sources_;
    std::array<iovec, kDatagrams> vectors_;
    std::array<mmsghdr, kDatagrams> messages_;
    size_t used_ = 0;
  };

 private:
  explicit UdpSocket(int fd) : fd_(fd) {}
  int fd_ = -1;
};

}  // namespace carillon
