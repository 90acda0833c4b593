#include "addon/supervisor.hpp"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <string>

#include "addon/arguments.hpp"

namespace carillon {

namespace {

bool send_datagram(const std::string& path, const std::string& text) {
  sockaddr_un address{};
  if (path.size() < 2 || path.size() >= sizeof address.sun_path) return false;
  if (path[0] != '/' && path[0] != '@') return false;
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.data(), path.size());
  if (path[0] == '@') address.sun_path[0] = '\0';
  const int handle = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (handle < 0) return false;
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size());
  const ssize_t sent = sendto(handle, text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT,
                              reinterpret_cast<const sockaddr*>(&address), length);
  close(handle);
  return sent == static_cast<ssize_t>(text.size());
}

}  // namespace

Napi::Value notify_supervisor(const Napi::CallbackInfo& info) {
  Arguments args(info, "notifySupervisor");
  const std::string path = args.at(0, "socketPath").text();
  const std::string text = args.at(1, "text").text();
  if (!args.good()) return info.Env().Undefined();
  return Napi::Boolean::New(info.Env(), send_datagram(path, text));
}

}  // namespace carillon
