#include "engine/udp_socket.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <ctime>
#include <utility>

#include "engine/socket_address.hpp"

namespace carillon {

namespace {

/// The kernel accounts about 800 bytes per 20 ms packet and doubles the requested size. The buffer holds more
/// than 150 packets: three seconds of one peer.
constexpr int kReceiveBuffer = 64 * 1024;

/// `::1` with the discard port.
Address loopback6() {
  Address address;
  address.family = Address::Family::ipv6;
  address.port = 9;
  address.ip.back() = 1;
  return address;
}

/// Returns the kernel's arrival time, the only ancillary data requested. 0 if missing.
Nanos arrival_of(const msghdr& header) {
  const cmsghdr* const reported = CMSG_FIRSTHDR(&header);
  if (reported == nullptr || reported->cmsg_level != SOL_SOCKET || reported->cmsg_type != SCM_TIMESTAMPNS)
    return {};
  timespec time{};
  std::memcpy(&time, CMSG_DATA(reported), sizeof(time));
  return int64_t{time.tv_sec} * kSecond + Nanos(time.tv_nsec);
}

}  // namespace

std::optional<Address> parse_address(const std::string& ip, uint16_t port) {
  Address address;
  address.port = port;
  if (inet_pton(AF_INET, ip.c_str(), address.ip.data()) == 1) {
    address.family = Address::Family::ipv4;
    return address;
  }
  if (inet_pton(AF_INET6, ip.c_str(), address.ip.data()) == 1) {
    address.family = Address::Family::ipv6;
    return address;
  }
  return std::nullopt;
}

std::string format_ip(const Address& address) { return ip_text(address).data(); }

UdpSocket::UdpSocket(UdpSocket&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)), dual_stack_(other.dual_stack_) {}

UdpSocket& UdpSocket::operator=(UdpSocket&& other) noexcept {
  std::swap(fd_, other.fd_);
  std::swap(dual_stack_, other.dual_stack_);
  return *this;
}

UdpSocket::~UdpSocket() {
  if (fd_ >= 0) ::close(fd_);
}

UdpSocket::Bound UdpSocket::bind(const Address& local, Sharing sharing) {
  sockaddr_storage name{};
  const socklen_t length = to_sockaddr(local, name);
  UdpSocket socket(::socket(name.ss_family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!socket.open()) return {UdpSocket(), errno};
  const int on = 1;
  if (local.family == Address::Family::ipv6 && local.ip == Address{}.ip) {
    // Receives over IPv4 too, whatever the system's default is.
    const int off = 0;
    socket.dual_stack_ = ::setsockopt(socket.fd_, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off)) == 0;
  }
  ::setsockopt(socket.fd_, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof(on));
  if (sharing == Sharing::shared) ::setsockopt(socket.fd_, SOL_SOCKET, SO_REUSEPORT, &on, sizeof(on));
  ::setsockopt(socket.fd_, SOL_SOCKET, SO_RCVBUF, &kReceiveBuffer, sizeof(kReceiveBuffer));
  if (::bind(socket.fd_, reinterpret_cast<const sockaddr*>(&name), length) != 0) {
    return {UdpSocket(), errno};
  }
  return {std::move(socket), 0};
}

void UdpSocket::send(const Address& to, Bytes packet) const {
  sockaddr_storage name;
  const socklen_t length = to_sockaddr(to, name, dual_stack_);
  static_cast<void>(::sendto(fd_, packet.data(), packet.size(), MSG_DONTWAIT | MSG_NOSIGNAL,
                             reinterpret_cast<const sockaddr*>(&name), length));
}

void UdpSocket::send(Bytes packet) const {
  // This call may report an error of an earlier packet (port unreachable) without sending. Retry once.
  if (::send(fd_, packet.data(), packet.size(), MSG_DONTWAIT | MSG_NOSIGNAL) >= 0 || errno != ECONNREFUSED)
    return;
  static_cast<void>(::send(fd_, packet.data(), packet.size(), MSG_DONTWAIT | MSG_NOSIGNAL));
}

bool UdpSocket::connect(const std::optional<Address>& peer) const {
  sockaddr_storage name{};
  if (peer) {
    const socklen_t length = to_sockaddr(*peer, name, dual_stack_);
    return ::connect(fd_, reinterpret_cast<const sockaddr*>(&name), length) == 0;
  }
  name.ss_family = AF_UNSPEC;
  const bool dissolved = ::connect(fd_, reinterpret_cast<const sockaddr*>(&name), sizeof(sockaddr)) == 0;
  if (!dual_stack_ || !dissolved) return dissolved;
  // Linux keeps a socket that was connected to an IPv4 address closed to IPv6. Another connection undoes
  // this.
  const socklen_t length = to_sockaddr(loopback6(), name);
  if (::connect(fd_, reinterpret_cast<const sockaddr*>(&name), length) != 0) return true;
  name = {};
  return ::connect(fd_, reinterpret_cast<const sockaddr*>(&name), sizeof(sockaddr)) == 0;
}

void UdpSocket::Buffer::prepare(Request& request) {
  request.vector = {bytes_.data(), bytes_.size()};
  request.header = {};
  request.header.msg_iov = &request.vector;
  request.header.msg_iovlen = 1;
  request.header.msg_name = &request.source;
  request.header.msg_namelen = sizeof(request.source);
  request.header.msg_control = request.control.data();
  request.header.msg_controllen = request.control.size();
}

void UdpSocket::Buffer::take(const Request& request, size_t size) {
  // Truncated datagrams are not valid packets and are discarded.
  const bool whole = (request.header.msg_flags & MSG_TRUNC) == 0;
  size_ = whole ? size : 0;
  source_ = from_sockaddr(request.source);
  arrived_wall_ = arrival_of(request.header);
}

bool UdpSocket::Buffer::receive(const UdpSocket& socket) {
  // On the stack, which is always in the cache.
  Request request;
  prepare(request);
  // The call that reports an error (such as port unreachable) also clears it.
  const ssize_t size = ::recvmsg(socket.fd_, &request.header, MSG_DONTWAIT);
  if (size < 0) return false;
  take(request, static_cast<size_t>(size));
  return true;
}

}  // namespace carillon
