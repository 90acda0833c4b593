#include "net/connector.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cerrno>

#include "engine/socket_address.hpp"

namespace carillon {

namespace {

/// Kernel send buffer in bytes, about half a second of audio. Further unread data waits in this process,
/// where it can be dropped.
constexpr int kSendBuffer = 32 * 1024;

FileDescriptor open_socket(sa_family_t family) {
  FileDescriptor fd(::socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_TCP));
  if (!fd.open()) return fd;
  const int on = 1;
  ::setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  ::setsockopt(fd.get(), SOL_SOCKET, SO_SNDBUF, &kSendBuffer, sizeof(kSendBuffer));
  return fd;
}

}  // namespace

FileDescriptor Connector::next() {
  while (has_more()) {
    sockaddr_storage name{};
    const socklen_t length = to_sockaddr(addresses_[tried_++], name);
    FileDescriptor fd = open_socket(name.ss_family);
    if (fd.open() && (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&name), length) == 0 ||
                      errno == EINPROGRESS)) {
      return fd;
    }
    error_ = errno;
  }
  return {};
}

bool Connector::succeeded(const FileDescriptor& socket) {
  int error = 0;
  socklen_t length = sizeof(error);
  ::getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &length);
  if (error != 0) error_ = error;
  return error == 0;
}

}  // namespace carillon
