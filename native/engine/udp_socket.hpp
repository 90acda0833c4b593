// A non-blocking UDP socket of one leg, with the kernel's arrival times.
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
  /// In the buffer, which may be changed.
  std::span<uint8_t> bytes;
  Address source;
  /// Kernel arrival time, CLOCK_REALTIME; 0 when the kernel gave none.
  Nanos arrived_wall{};
};

class UdpSocket {
 public:
  UdpSocket() = default;
  UdpSocket(UdpSocket&& other) noexcept;
  UdpSocket& operator=(UdpSocket&& other) noexcept;
  ~UdpSocket();

  struct Bound;
  /// Whether others of this process may be bound to the same address and port.
  enum class Sharing : uint8_t { alone, shared };
  static Bound bind(const Address& local, Sharing sharing = Sharing::alone);

  [[nodiscard]] bool open() const { return fd_ >= 0; }
  [[nodiscard]] int descriptor() const { return fd_; }
  /// Errors are the network's business: RTP repairs nothing.
  void send(const Address& to, Bytes packet) const;
  /// To the connected peer: no route is looked up, no address is copied.
  void send(Bytes packet) const;
  /// Hears only `peer` from now on; nothing: everybody again. False when the kernel refuses.
  bool connect(const std::optional<Address>& peer) const;

  /// A place for one datagram; what datagram() shows is valid until the next receive().
  class Buffer {
   public:
    /// The longest that is read whole: an Ethernet frame and some.
    static constexpr size_t kMaxBytes = 2048;

    /// What the kernel is asked for, and fills in besides the bytes.
    struct Request {
      msghdr header;
      iovec vector;
      sockaddr_storage source;
      alignas(cmsghdr) std::array<uint8_t, CMSG_SPACE(sizeof(timespec))> control;
    };

    /// False when nothing waits.
    [[nodiscard]] bool receive(const UdpSocket& socket);
    /// The same in two parts, for whoever asks the kernel otherwise; `size`: of what came.
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
};

struct UdpSocket::Bound {
  /// Open when there is no error.
  UdpSocket socket;
  /// errno: the port is taken, the address is not ours, there are too many files.
  int error = 0;
};

}  // namespace carillon
