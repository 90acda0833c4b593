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

/// 64 KiB: more than 300 packets of 20 ms, a third of a minute of one peer.
constexpr int kReceiveBuffer = 64 * 1024;

socklen_t to_sockaddr(const Address& address, sockaddr_storage& out) {
  std::memset(&out, 0, sizeof(out));
  if (address.family == Address::Family::ipv4) {
    sockaddr_in in{};
    in.sin_family = AF_INET;
    in.sin_port = htons(address.port);
    std::memcpy(&in.sin_addr, address.ip.data(), sizeof(in.sin_addr));
    std::memcpy(&out, &in, sizeof(in));
    return sizeof(in);
  }
  sockaddr_in6 in{};
  in.sin6_family = AF_INET6;
  in.sin6_port = htons(address.port);
  std::memcpy(&in.sin6_addr, address.ip.data(), sizeof(in.sin6_addr));
  std::memcpy(&out, &in, sizeof(in));
  return sizeof(in);
}

Address from_sockaddr(const sockaddr_storage& from) {
  Address address;
  if (from.ss_family == AF_INET) {
    sockaddr_in in{};
    std::memcpy(&in, &from, sizeof(in));
    address.family = Address::Family::ipv4;
    address.port = ntohs(in.sin_port);
    std::memcpy(address.ip.data(), &in.sin_addr, sizeof(in.sin_addr));
  } else if (from.ss_family == AF_INET6) {
    sockaddr_in6 in{};
    std::memcpy(&in, &from, sizeof(in));
    address.family = Address::Family::ipv6;
    address.port = ntohs(in.sin6_port);
    std::memcpy(address.ip.data(), &in.sin6_addr, sizeof(in.sin6_addr));
  }
  return address;
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

std::string format_ip(const Address& address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  const int family = address.family == Address::Family::ipv4 ? AF_INET : AF_INET6;
  if (inet_ntop(family, address.ip.data(), text.data(), text.size()) == nullptr) return "";
  return text.data();
}

UdpSocket::UdpSocket(UdpSocket&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

UdpSocket& UdpSocket::operator=(UdpSocket&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

UdpSocket::~UdpSocket() {
  if (fd_ >= 0) ::close(fd_);
}

std::optional<UdpSocket> UdpSocket::bind(const Address& local) {
  sockaddr_storage name{};
  const socklen_t length = to_sockaddr(local, name);
  UdpSocket socket(::socket(name.ss_family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!socket.open()) return std::nullopt;
  const int on = 1;
  ::setsockopt(socket.fd_, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof(on));
  ::setsockopt(socket.fd_, SOL_SOCKET, SO_RCVBUF, &kReceiveBuffer, sizeof(kReceiveBuffer));
  if (::bind(socket.fd_, reinterpret_cast<const sockaddr*>(&name), length) != 0) return std::nullopt;
  return socket;
}

void UdpSocket::send(const Address& to, Bytes packet) const {
  sockaddr_storage name;
  const socklen_t length = to_sockaddr(to, name);
  static_cast<void>(::sendto(fd_, packet.data(), packet.size(), MSG_DONTWAIT | MSG_NOSIGNAL,
                             reinterpret_cast<const sockaddr*>(&name), length));
}

void UdpSocket::send(Bytes packet) const {
  // An error that an earlier packet met (port unreachable) is told by this call, which then sends nothing:
  // once more.
  if (::send(fd_, packet.data(), packet.size(), MSG_DONTWAIT | MSG_NOSIGNAL) >= 0 || errno != ECONNREFUSED)
    return;
  static_cast<void>(::send(fd_, packet.data(), packet.size(), MSG_DONTWAIT | MSG_NOSIGNAL));
}

bool UdpSocket::connect(const std::optional<Address>& peer) const {
  sockaddr_storage name{};
  if (peer) {
    const socklen_t length = to_sockaddr(*peer, name);
    return ::connect(fd_, reinterpret_cast<const sockaddr*>(&name), length) == 0;
  }
  name.ss_family = AF_UNSPEC;
  return ::connect(fd_, reinterpret_cast<const sockaddr*>(&name), sizeof(sockaddr)) == 0;
}

UdpSocket::Batch::Batch() : bytes_{}, control_{}, sources_{}, vectors_{}, messages_{} {
  for (size_t i = 0; i < kDatagrams; ++i) {
    vectors_[i] = {bytes_[i].data(), bytes_[i].size()};
    msghdr& header = messages_[i].msg_hdr;
    header.msg_iov = &vectors_[i];
    header.msg_iovlen = 1;
    header.msg_name = &sources_[i];
    header.msg_control = control_[i].data();
  }
  used_ = kDatagrams;
}

size_t UdpSocket::Batch::receive(const UdpSocket& socket) {
  // What the kernel shortened the last time.
  for (size_t i = 0; i < used_; ++i) {
    messages_[i].msg_hdr.msg_namelen = sizeof(sockaddr_storage);
    messages_[i].msg_hdr.msg_controllen = control_[i].size();
  }
  used_ = 0;
  // An error (a port unreachable message from the peer, say) is consumed by the call that reports it.
  const int count = ::recvmmsg(socket.fd_, messages_.data(), kDatagrams, MSG_DONTWAIT, nullptr);
  used_ = count > 0 ? static_cast<size_t>(count) : 0;
  return used_;
}

Datagram UdpSocket::Batch::at(size_t index) const {
  Datagram datagram;
  datagram.bytes = Bytes(bytes_[index]).first(messages_[index].msg_len);
  datagram.source = from_sockaddr(sources_[index]);
  const msghdr& header = messages_[index].msg_hdr;
  for (const cmsghdr* part = CMSG_FIRSTHDR(&header); part != nullptr;
       part = CMSG_NXTHDR(const_cast<msghdr*>(&header), const_cast<cmsghdr*>(part))) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_TIMESTAMPNS) continue;
    timespec time{};
    std::memcpy(&time, CMSG_DATA(part), sizeof(time));
    datagram.arrived_wall = Nanos{time.tv_sec} * kSecond + time.tv_nsec;
  }
  return datagram;
}

}  // namespace carillon
