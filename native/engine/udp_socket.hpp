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

namespace carillon {

/// Parses an IPv4 or IPv6 literal.
std::optional<Address> parse_address(const std::string& ip, uint16_t port);
std::string format_ip(const Address& address);

struct Datagram {
  /// Content of the datagram in the buffer; may be modified.
  std::span<uint8_t> bytes;
  Address source;
  /// Kernel arrival time on CLOCK_REALTIME. 0: unknown.
  Nanos arrived_wall{};
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
  /// Sends a packet. Errors are ignored, because RTP does not retransmit.
  void send(const Address& to, Bytes packet) const;
  /// Sends to the connected peer, which avoids a route lookup and an address copy.
  void send(Bytes packet) const;
  /// Receives only from `peer`, or from any address without a value. Returns false if the kernel refuses.
  bool connect(const std::optional<Address>& peer) const;

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
      alignas(cmsghdr) std::array<uint8_t, CMSG_SPACE(sizeof(timespec))> control;
    };

    /// Receives a datagram. Returns false if none is waiting.
    [[nodiscard]] bool receive(const UdpSocket& socket);
    /// The two halves of receive(), for other ways of calling the kernel. `size`: received bytes.
    void prepare(Request& request);
    void take(const Request& request, size_t size);
    [[nodiscard]] Datagram datagram() { return {std::span(bytes_).first(size_), source_, arrived_wall_}; }

   private:
    size_t size_ = 0;
    Nanos arrived_wall_{};
    Address source_;
    std::array<uint8_t, kMaxBytes> bytes_;
  };

 private:
  explicit UdpSocket(int fd) : fd_(fd) {}
  int fd_ = -1;
  /// Bound to `::`: sends and receives over IPv6 and IPv4.
  bool dual_stack_ = false;
};

struct UdpSocket::Bound {
  /// Socket, open if `error` is 0.
  UdpSocket socket;
  /// errno: port in use, address not local, or too many open files.
  int error = 0;
};

}  // namespace carillon
