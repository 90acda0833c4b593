// Wakes a resting media thread: on a datagram at a socket that was inactive for a while, or on a wake-up by
// the control thread.
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
  /// Throws a std::system_error if descriptors are exhausted.
  RestingSockets();

  /// Watches `socket` until ready() returns `leg` or the socket is closed; with `always`, until it is removed
  /// or closed. Returns false if the kernel refuses.
  bool add(LegHandle leg, const UdpSocket& socket, bool always = false) const;
  void remove(const UdpSocket& socket) const;

  /// Returns the legs whose sockets have received data, at most kAtOnce, each once. It can include legs whose
  /// sockets are about to be closed. Valid until the next call.
  std::span<const LegHandle> ready();
  /// Waits until ready() would return a leg, ring() was called since the last ready(), or `longest` has
  /// passed.
  void wait(Nanos longest) const;
  /// Control thread: ends the current or the next wait().
  void ring() const;

 private:
  static constexpr size_t kAtOnce = 256;

  FileDescriptor epoll_;
  FileDescriptor bell_;
  std::array<LegHandle, kAtOnce> ready_;
};

}  // namespace carillon
