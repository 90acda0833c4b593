// What ends the rest of a media thread that has nothing to do by the clock: a datagram at a socket of which
// nothing came for a while, and the control thread's bell.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "core/base/handles.hpp"
#include "core/base/time.hpp"
#include "engine/file_descriptor.hpp"
#include "engine/udp_socket.hpp"

namespace carillon {

class RestingSockets {
 public:
  RestingSockets();

  /// `socket` is watched until ready() names `leg` or it is closed; with `always`, until it is removed or
  /// closed. False: the kernel refuses.
  bool add(LegHandle leg, const UdpSocket& socket, bool always = false) const;
  void remove(const UdpSocket& socket) const;

  /// Legs to whose sockets something has come, at most kAtOnce; each is named once, even one whose socket is
  /// about to be closed. Valid until the next call.
  std::span<const LegHandle> ready();
  /// Returns when ready() would name a leg, the bell has rung since the last ready(), or after `longest`.
  void wait(Nanos longest) const;
  /// Control thread: ends wait(), now or next time.
  void ring() const;

 private:
  static constexpr size_t kAtOnce = 256;

  FileDescriptor epoll_;
  FileDescriptor bell_;
  std::array<LegHandle, kAtOnce> ready_;
};

}  // namespace carillon
