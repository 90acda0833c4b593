#include "engine/udp_socket.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <ctime>
#include <utility>

namespace carillon {

namespace {

/// The kernel accounts about 800 bytes per 20 ms packet and doubles the requested size. The buffer holds more
/// than 150 packets: three seconds of one peer.
constexpr int kReceiveBuffer = 64 * 1024;

template <typename Value>
Value value_of(const cmsghdr& reported) {
  Value value{};
  std::memcpy(&value, CMSG_DATA(&reported), sizeof(value));
  return value;
}

/// Kernel's arrival time, and the own address of the datagram if it was requested.
struct Ancillary {
  Nanos arrived_wall{};
  Address destination{};
};

Ancillary ancillary_of(const msghdr& header) {
  Ancillary out;
  auto& changeable = const_cast<msghdr&>(header);
  for (const cmsghdr* reported = CMSG_FIRSTHDR(&header); reported != nullptr;
       reported = CMSG_NXTHDR(&changeable, const_cast<cmsghdr*>(reported))) {
    const int level = reported->cmsg_level;
    const int type = reported->cmsg_type;
    sockaddr_storage name{};
    if (level == SOL_SOCKET && type == SCM_TIMESTAMPNS) {
      const auto time = value_of<timespec>(*reported);
      out.arrived_wall = int64_t{time.tv_sec} * kSecond + Nanos(time.tv_nsec);
    } else if (level == IPPROTO_IP && type == IP_PKTINFO) {
      sockaddr_in in{};
      in.sin_family = AF_INET;
      in.sin_addr = value_of<in_pktinfo>(*reported).ipi_addr;
      std::memcpy(&name, &in, sizeof(in));
      out.destination = from_sockaddr(name);
    } else if (level == IPPROTO_IPV6 && type == IPV6_PKTINFO) {
      const auto info = value_of<in6_pktinfo>(*reported);
      sockaddr_in6 in{};
      in.sin6_family = AF_INET6;
      in.sin6_addr = info.ipi6_addr;
      in.sin6_scope_id = info.ipi6_ifindex;
      std::memcpy(&name, &in, sizeof(in));
      out.destination = from_sockaddr(name);
    }
  }
  return out;
}

/// Control data that selects the own address of a datagram.
struct OwnAddress {
  OwnAddress(const Address& own, bool ipv6) {
    sockaddr_storage name;
    static_cast<void>(to_sockaddr(own, name, ipv6));
    if (ipv6) {
      sockaddr_in6 in{};
      std::memcpy(&in, &name, sizeof(in));
      put(IPPROTO_IPV6, IPV6_PKTINFO, in6_pktinfo{in.sin6_addr, in.sin6_scope_id});
    } else {
      sockaddr_in in{};
      std::memcpy(&in, &name, sizeof(in));
      in_pktinfo info{};
      info.ipi_spec_dst = in.sin_addr;
      put(IPPROTO_IP, IP_PKTINFO, info);
    }
  }

  template <typename Info>
  void put(int level, int type, const Info& info) {
    cmsghdr header{};
    header.cmsg_level = level;
    header.cmsg_type = type;
    header.cmsg_len = CMSG_LEN(sizeof(info));
    std::memcpy(bytes.data(), &header, sizeof(header));
    std::memcpy(&bytes[CMSG_LEN(0)], &info, sizeof(info));
    size = CMSG_SPACE(sizeof(info));
  }

  alignas(cmsghdr) std::array<uint8_t, CMSG_SPACE(sizeof(in6_pktinfo))> bytes{};
  size_t size = 0;
};

}  // namespace

std::string format_ip(const Address& address) { return ip_text(address).data(); }

UdpSocket::UdpSocket(UdpSocket&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      ipv6_(other.ipv6_),
      dual_stack_(other.dual_stack_),
      everywhere_(other.everywhere_) {}

UdpSocket& UdpSocket::operator=(UdpSocket&& other) noexcept {
  std::swap(fd_, other.fd_);
  std::swap(ipv6_, other.ipv6_);
  std::swap(dual_stack_, other.dual_stack_);
  std::swap(everywhere_, other.everywhere_);
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
  socket.ipv6_ = local.family == Address::Family::ipv6;
  socket.everywhere_ = local.ip == Address{}.ip;
  if (socket.ipv6_ && socket.everywhere_) {
    // Receives over IPv4 too, whatever the system's default is.
    const int off = 0;
    socket.dual_stack_ = ::setsockopt(socket.fd_, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off)) == 0;
  }
  ::setsockopt(socket.fd_, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof(on));
  if (socket.everywhere_) socket.report_destination(true);
  if (sharing == Sharing::shared) ::setsockopt(socket.fd_, SOL_SOCKET, SO_REUSEPORT, &on, sizeof(on));
  ::setsockopt(socket.fd_, SOL_SOCKET, SO_RCVBUF, &kReceiveBuffer, sizeof(kReceiveBuffer));
  if (::bind(socket.fd_, reinterpret_cast<const sockaddr*>(&name), length) != 0) {
    return {UdpSocket(), errno};
  }
  return {std::move(socket), 0};
}

void UdpSocket::send(const Address& to, Bytes packet, const Address& from) const {
  sockaddr_storage name;
  const socklen_t length = to_sockaddr(to, name, dual_stack_);
  if (everywhere_ && from.family == to.family) {
    OwnAddress own(from, ipv6_);
    iovec content{const_cast<uint8_t*>(packet.data()), packet.size()};
    const msghdr header{&name, length, &content, 1, own.bytes.data(), own.size, 0};
    if (::sendmsg(fd_, &header, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0 || errno == EAGAIN) return;
    // The address is not one of this machine, or no route to the peer starts there.
  }
  static_cast<void>(::sendto(fd_, packet.data(), packet.size(), MSG_DONTWAIT | MSG_NOSIGNAL,
                             reinterpret_cast<const sockaddr*>(&name), length));
}

void UdpSocket::send(Bytes packet) const {
  // This call may report an error of an earlier packet (port unreachable) without sending. Retry once.
  if (::send(fd_, packet.data(), packet.size(), MSG_DONTWAIT | MSG_NOSIGNAL) >= 0 || errno != ECONNREFUSED)
    return;
  static_cast<void>(::send(fd_, packet.data(), packet.size(), MSG_DONTWAIT | MSG_NOSIGNAL));
}

void UdpSocket::report_destination(bool wanted) const {
  const int on = wanted ? 1 : 0;
  if (ipv6_) {
    ::setsockopt(fd_, IPPROTO_IPV6, IPV6_RECVPKTINFO, &on, sizeof(on));
  } else {
    ::setsockopt(fd_, IPPROTO_IP, IP_PKTINFO, &on, sizeof(on));
  }
}

bool UdpSocket::connect(const std::optional<Address>& peer, const Address& own) const {
  if (!peer) {
    if (everywhere_) report_destination(true);
    return dissolve();
  }
  sockaddr_storage name{};
  socklen_t length = to_sockaddr(*peer, name, dual_stack_);
  if (::connect(fd_, reinterpret_cast<const sockaddr*>(&name), length) != 0) return false;
  if (!everywhere_) return true;
  length = sizeof(name);
  const bool is_known =
      own.family == peer->family && ::getsockname(fd_, reinterpret_cast<sockaddr*>(&name), &length) == 0;
  if (is_known && !same_host(from_sockaddr(name), own)) {
    static_cast<void>(dissolve());
    return false;
  }
  // The kernel now delivers datagrams of one address only.
  report_destination(false);
  return true;
}

bool UdpSocket::dissolve() const {
  sockaddr_storage name{};
  name.ss_family = AF_UNSPEC;
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
  const Ancillary ancillary = ancillary_of(request.header);
  arrived_wall_ = ancillary.arrived_wall;
  destination_ = ancillary.destination;
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
