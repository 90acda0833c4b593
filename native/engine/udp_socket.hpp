// Non-blocking UDP socket of a leg with kernel arrival times.
#pragma once

#include <sys/socket.h>

#include <array>
#include <cstdint>
#include <ctime>
#include <optional>
#include <string>

#include "core/base/address.hpp"
#include "core/base/bytes.hpp"
#include "core/base/time.hpp"
#include "engine/socket_address.hpp"

namespace carillon {

std::string format_ip(const Address& address);

struct Datagram {
  /// Content of the datagram in the buffer; may be modified.
  std::span<uint8_t> bytes;
  Address source;
  /// Kernel arrival time on CLOCK_REALTIME. 0: unknown.
  Nanos arrived_wall{};
  /// Own address to which the peer sent, without port. No family: unknown; reported by sockets that are bound
  /// to all addresses and not connected.
  Address destination{};
};

class UdpSocket {
 public:
  UdpSocket() = default;
  UdpSocket(UdpSocket&& other) noexcept;
  UdpSocket& operator=(UdpSocket&& other) noexcept;
  ~UdpSocket();

  struct Bound;
  /// Whether other sockets of this process may bind to the same address and port.
  enum class Sharing : uint8_t { alone, shared };
  static Bound bind(const Address& local, Sharing sharing = Sharing::alone);

  [[nodiscard]] bool open() const { return fd_ >= 0; }
  [[nodiscard]] int descriptor() const { return fd_; }
  /// Sends a packet. Errors are ignored, because RTP does not retransmit. `from`: own address of a socket
  /// that is bound to all addresses. The system selects one if it has no family, another family than `to`, or
  /// is not an address of this machine.
  void send(const Address& to, Bytes packet, const Address& from = {}) const;
  /// Sends to the connected peer, which avoids a route lookup and an address copy.
  void send(Bytes packet) const;
  /// Returns true if connect() can be undone. Linux never opens an IPv6 socket to other hosts again: it keeps
  /// the address of the last peer as a filter.
  [[nodiscard]] bool reopens() const { return !ipv6_; }
  /// Receives only from `peer`, or from any address without a value. Returns false if the kernel refuses.
  /// `own`: own address that the peer uses, if known. A connection also restricts the own address to the one
  /// of the route to the peer. If they differ, it is undone, and the result is false.
  bool connect(const std::optional<Address>& peer, const Address& own = {}) const;

  /// Buffer for one datagram. The result of datagram() is valid until the next receive().
  class Buffer {
   public:
    /// Maximum datagram size in bytes, larger than an Ethernet frame.
    static constexpr size_t kMaxBytes = 2048;

    /// Request to the kernel, which fills in the metadata.
    struct Request {
      msghdr header;
      iovec vector;
      sockaddr_storage source;
      alignas(cmsghdr)
          std::array<uint8_t, CMSG_SPACE(sizeof(timespec)) + CMSG_SPACE(sizeof(in6_pktinfo))> control;
    };

    /// Receives a datagram. Returns false if none is waiting.
    [[nodiscard]] bool receive(const UdpSocket& socket);
    /// The two halves of receive(), for other ways of calling the kernel. `size`: received bytes.
    void prepare(Request& request);
    void take(const Request& request, size_t size);
    [[nodiscard]] Datagram datagram() {
      return {std::span(bytes_).first(size_), source_, arrived_wall_, destination_};
    }

   private:
    size_t size_ = 0;
    Nanos arrived_wall_{};
    Address source_;
    Address destination_;
    std::array<uint8_t, kMaxBytes> bytes_;
  };

 private:
  explicit UdpSocket(int fd) : fd_(fd) {}
  /// Requests the own address of received datagrams, or stops it.
  void report_destination(bool wanted) const;
  [[nodiscard]] bool dissolve() const;
  int fd_ = -1;
  bool ipv6_ = false;
  /// Bound to `::`: sends and receives over IPv6 and IPv4.
  bool dual_stack_ = false;
  /// Bound to all addresses.
  bool everywhere_ = false;
};

struct UdpSocket::Bound {
  /// Socket, open if `error` is 0.
  UdpSocket socket;
  /// errno: port in use, address not local, or too many open files.
  int error = 0;
};

}  // namespace carillon
