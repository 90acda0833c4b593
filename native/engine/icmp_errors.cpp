#include "engine/icmp_errors.hpp"

#include <linux/errqueue.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

namespace carillon {

namespace {

/// Returns true for host, network, port and protocol unreachable (RFC 3261 §18.4). Excludes datagrams that
/// were too long, which the kernel handles.
bool says_unreachable(const sock_extended_err& error) {
  const bool icmp = error.ee_origin == SO_EE_ORIGIN_ICMP || error.ee_origin == SO_EE_ORIGIN_ICMP6;
  switch (error.ee_errno) {
    case ECONNREFUSED:
    case EHOSTUNREACH:
    case ENETUNREACH:
    case EHOSTDOWN:
    case ENOPROTOOPT:
      return icmp;
    default:
      return false;
  }
}

bool reports_loss(msghdr& header) {
  for (cmsghdr* reported = CMSG_FIRSTHDR(&header); reported != nullptr;
       reported = CMSG_NXTHDR(&header, reported)) {
    const bool v4 = reported->cmsg_level == IPPROTO_IP && reported->cmsg_type == IP_RECVERR;
    const bool v6 = reported->cmsg_level == IPPROTO_IPV6 && reported->cmsg_type == IPV6_RECVERR;
    if (!v4 && !v6) continue;
    sock_extended_err error{};
    std::memcpy(&error, CMSG_DATA(reported), sizeof(error));
    return says_unreachable(error);
  }
  return false;
}

}  // namespace

void IcmpErrors::ask_for(const UdpSocket& socket) {
  const int on = 1;
  // One of the two calls fails, depending on the socket's address family.
  ::setsockopt(socket.descriptor(), IPPROTO_IP, IP_RECVERR, &on, sizeof(on));
  ::setsockopt(socket.descriptor(), IPPROTO_IPV6, IPV6_RECVERR, &on, sizeof(on));
}

bool IcmpErrors::may_be_anothers(int error) {
  switch (error) {
    case ECONNREFUSED:
    case EHOSTUNREACH:
    case ENETUNREACH:
    case EHOSTDOWN:
    case ENOPROTOOPT:
    case EPROTO:
    case EMSGSIZE:
    case EACCES:
    case EOPNOTSUPP:
      return true;
    default:
      return false;
  }
}

std::optional<Bytes> IcmpErrors::next(const UdpSocket& socket) {
  while (read_++ < kMost) {
    alignas(cmsghdr) std::array<uint8_t, 256> control;
    sockaddr_storage to{};
    iovec vector{bytes_.data(), bytes_.size()};
    msghdr header{};
    header.msg_name = &to;
    header.msg_namelen = sizeof(to);
    header.msg_iov = &vector;
    header.msg_iovlen = 1;
    header.msg_control = control.data();
    header.msg_controllen = control.size();
    const ssize_t size = ::recvmsg(socket.descriptor(), &header, MSG_ERRQUEUE | MSG_DONTWAIT);
    if (size < 0) return std::nullopt;
    if (reports_loss(header)) return Bytes(bytes_.data(), static_cast<size_t>(size));
  }
  return std::nullopt;
}

}  // namespace carillon
