#include "socket.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <utility>

namespace phones {

namespace {

/// A second of RTP and more, as the kernel counts it.
constexpr int kReceiveBuffer = 256 * 1024;
constexpr size_t kMaxDatagram = 2048;

Nanos read_clock(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return Nanos{time.tv_sec} * kSecond + time.tv_nsec;
}

sockaddr_in loopback(uint16_t port) {
  sockaddr_in name{};
  name.sin_family = AF_INET;
  name.sin_port = htons(port);
  name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return name;
}

/// Arrival in CLOCK_REALTIME; 0 when the kernel told none.
Nanos kernel_time(msghdr& header) {
  for (cmsghdr* part = CMSG_FIRSTHDR(&header); part != nullptr; part = CMSG_NXTHDR(&header, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_TIMESTAMPNS) continue;
    timespec time{};
    std::memcpy(&time, CMSG_DATA(part), sizeof(time));
    return Nanos{time.tv_sec} * kSecond + time.tv_nsec;
  }
  return 0;
}

}  // namespace

Nanos monotonic_now() { return read_clock(CLOCK_MONOTONIC); }

void sleep_until(Nanos due) {
  timespec time{};
  time.tv_sec = static_cast<time_t>(due / kSecond);
  time.tv_nsec = static_cast<long>(due % kSecond);
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nullptr) != 0) {
  }
}

Socket::Socket() : fd_(::socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)) {
  sockaddr_in name = loopback(0);
  socklen_t length = sizeof(name);
  const int on = 1;
  ::setsockopt(fd_, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof(on));
  ::setsockopt(fd_, SOL_SOCKET, SO_RCVBUF, &kReceiveBuffer, sizeof(kReceiveBuffer));
  if (fd_ < 0 || ::bind(fd_, reinterpret_cast<sockaddr*>(&name), sizeof(name)) != 0 ||
      ::getsockname(fd_, reinterpret_cast<sockaddr*>(&name), &length) != 0) {
    std::perror("phones: no UDP socket");
    std::exit(1);
  }
  port_ = ntohs(name.sin_port);
}

Socket::Socket(Socket&& other) noexcept : fd_(std::exchange(other.fd_, -1)), port_(other.port_) {}

Socket::~Socket() {
  if (fd_ >= 0) ::close(fd_);
}

void Socket::send(uint16_t to_port, std::span<const uint8_t> bytes) const {
  const sockaddr_in to = loopback(to_port);
  ::sendto(fd_, bytes.data(), bytes.size(), 0, reinterpret_cast<const sockaddr*>(&to), sizeof(to));
}

void Socket::receive(const std::function<void(std::span<const uint8_t> bytes, Nanos arrived)>& each) const {
  std::array<uint8_t, kMaxDatagram> buffer;
  while (true) {
    alignas(cmsghdr) std::array<uint8_t, 128> control;
    iovec part{buffer.data(), buffer.size()};
    msghdr header{};
    header.msg_iov = &part;
    header.msg_iovlen = 1;
    header.msg_control = control.data();
    header.msg_controllen = control.size();
    const ssize_t length = ::recvmsg(fd_, &header, 0);
    if (length < 0) return;
    const Nanos wall = kernel_time(header);
    const Nanos now = read_clock(CLOCK_MONOTONIC);
    const Nanos arrived = wall == 0 ? now : wall + now - read_clock(CLOCK_REALTIME);
    each({buffer.data(), static_cast<size_t>(length)}, arrived);
  }
}

}  // namespace phones
