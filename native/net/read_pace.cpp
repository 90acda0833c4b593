#include "net/read_pace.hpp"

#include <linux/sockios.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

namespace carillon {

std::optional<PeerWindow> peer_window_of(int fd) {
  tcp_info info{};
  socklen_t length = sizeof(info);
  if (::getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &length) != 0) return std::nullopt;
  if (length < offsetof(tcp_info, tcpi_snd_wnd) + sizeof(info.tcpi_snd_wnd)) return std::nullopt;
  int unacknowledged = 0;
  if (::ioctl(fd, SIOCOUTQ, &unacknowledged) != 0) return std::nullopt;
  return PeerWindow{info.tcpi_snd_wnd, static_cast<uint32_t>(std::max(unacknowledged, 0))};
}

}  // namespace carillon
