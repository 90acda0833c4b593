// A UDP socket on 127.0.0.1 with kernel receive timestamps, on the clock of Node's process.hrtime. Reading late does
// not change the times, so no wake-up per packet is needed.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>

namespace phones {

/// Nanoseconds of CLOCK_MONOTONIC.
using Nanos = int64_t;
constexpr Nanos kMillisecond = 1'000'000;
constexpr Nanos kSecond = 1000 * kMillisecond;

Nanos monotonic_now();
void sleep_until(Nanos due);

class Socket {
 public:
  /// Any free port; ends the program when there is none.
  Socket();
  Socket(Socket&& other) noexcept;
  Socket& operator=(Socket&&) = delete;
  ~Socket();

  [[nodiscard]] uint16_t port() const { return port_; }
  void send(uint16_t to_port, std::span<const uint8_t> bytes) const;
  /// Everything that waits, oldest first.
  void receive(const std::function<void(std::span<const uint8_t> bytes, Nanos arrived)>& each) const;

 private:
  int fd_ = -1;
  uint16_t port_ = 0;
};

}  // namespace phones
