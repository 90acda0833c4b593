#include "engine/resting_sockets.hpp"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <ctime>

namespace carillon {

namespace {
/// No leg has this handle.
constexpr uint32_t kBell = 0;

bool watch(const FileDescriptor& epoll, int descriptor, uint32_t events, uint32_t name) {
  epoll_event event{};
  event.events = events;
  event.data.u64 = name;
  return ::epoll_ctl(epoll.get(), EPOLL_CTL_ADD, descriptor, &event) == 0;
}
}  // namespace

RestingSockets::RestingSockets()
    : epoll_(made_descriptor(::epoll_create1(EPOLL_CLOEXEC), "epoll")),
      bell_(made_descriptor(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC), "eventfd")) {
  // Edge-triggered: each wake-up is reported once and need not be read.
  if (watch(epoll_, bell_.get(), EPOLLIN | EPOLLET, kBell)) return;
  throw std::system_error(errno, std::generic_category(), "epoll");
}

bool RestingSockets::add(LegHandle leg, const UdpSocket& socket, bool always) const {
  // One-shot: after a leg is removed, its socket stays open until the control thread closes it.
  return watch(epoll_, socket.descriptor(), always ? EPOLLIN : EPOLLIN | EPOLLONESHOT, leg.value());
}

void RestingSockets::remove(const UdpSocket& socket) const {
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, socket.descriptor(), nullptr);
}

std::span<const LegHandle> RestingSockets::ready() {
  std::array<epoll_event, kAtOnce> events;
  const int count = std::max(0, ::epoll_wait(epoll_.get(), events.data(), kAtOnce, 0));
  size_t legs = 0;
  for (const epoll_event& event : std::span(events).first(static_cast<size_t>(count))) {
    const auto name = static_cast<uint32_t>(event.data.u64);
    if (name != kBell) ready_[legs++] = LegHandle(name);
  }
  return std::span<const LegHandle>(ready_).first(legs);
}

void RestingSockets::wait(Nanos longest) const {
  pollfd any{epoll_.get(), POLLIN, 0};
  timespec time{};
  time.tv_sec = static_cast<time_t>(longest / kSecond);
  time.tv_nsec = static_cast<long>((std::max(Nanos{}, longest) % kSecond).count());
  ::ppoll(&any, 1, &time, nullptr);
}

void RestingSockets::ring() const {
  const uint64_t once = 1;
  static_cast<void>(!::write(bell_.get(), &once, sizeof(once)));
}

}  // namespace carillon
