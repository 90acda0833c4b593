// Minimal UDP relay: forwards each datagram that one port of a pair receives from the other port of the pair, to
// the latest source address of that port. No RTP, no statistics, one receive and one send per packet, epoll.
//   bare_relay <pairs>
// Prints the ports as one line of JSON, with the ports of a pair next to each other; a signal ends it.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

constexpr size_t kMaxDatagram = 2048;

struct Side {
  int fd = -1;
  sockaddr_in peer{};
};

/// Any free port of 127.0.0.1; ends the program when there is none.
Side open_side(uint16_t& port) {
  Side side{::socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), {}};
  sockaddr_in name{};
  name.sin_family = AF_INET;
  name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof(name);
  auto* const at = reinterpret_cast<sockaddr*>(&name);
  if (side.fd < 0 || ::bind(side.fd, at, length) != 0 || ::getsockname(side.fd, at, &length) != 0) {
    std::perror("bare_relay: no UDP socket");
    std::exit(1);
  }
  port = ntohs(name.sin_port);
  return side;
}

void relay(Side& from, const Side& to) {
  std::array<uint8_t, kMaxDatagram> packet;
  socklen_t length = sizeof(from.peer);
  const ssize_t bytes =
      ::recvfrom(from.fd, packet.data(), packet.size(), 0, reinterpret_cast<sockaddr*>(&from.peer), &length);
  if (bytes <= 0 || to.peer.sin_port == 0) return;
  ::sendto(to.fd, packet.data(), static_cast<size_t>(bytes), 0, reinterpret_cast<const sockaddr*>(&to.peer),
           sizeof(to.peer));
}

}  // namespace

int main(int argc, char** argv) {
  const auto sides = 2 * static_cast<size_t>(std::clamp(argc > 1 ? std::atoi(argv[1]) : 1, 1, 2000));
  const int poll = ::epoll_create1(EPOLL_CLOEXEC);
  std::vector<Side> all;
  std::printf("[");
  for (size_t i = 0; i < sides; ++i) {
    uint16_t port = 0;
    all.push_back(open_side(port));
    epoll_event wanted{};
    wanted.events = EPOLLIN;
    wanted.data.u64 = i;
    ::epoll_ctl(poll, EPOLL_CTL_ADD, all.back().fd, &wanted);
    std::printf(i == 0 ? "%u" : ",%u", port);
  }
  std::printf("]\n");
  std::fflush(stdout);
  std::array<epoll_event, 256> ready;
  while (true) {
    const int count = ::epoll_wait(poll, ready.data(), static_cast<int>(ready.size()), -1);
    for (int i = 0; i < count; ++i) {
      const size_t side = ready[static_cast<size_t>(i)].data.u64;
      relay(all[side], all[side ^ 1]);
    }
  }
}
