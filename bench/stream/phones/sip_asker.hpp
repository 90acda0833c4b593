// Asks a SIP server OPTIONS (RFC 3261 §11) again and again over UDP and notes how long each answer took.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "socket.hpp"

namespace phones {

class SipAsker {
 public:
  /// `count` requests, `interval` apart on average; irregular, so that no clock of the server is met in step.
  void start(uint16_t port, uint32_t count, Nanos interval, Nanos now);
  /// Sends due requests and reads responses. Returns true once every request is answered or timed out.
  bool step(Nanos now);

  /// Time from sending the request to the kernel timestamp of the 200, ns.
  [[nodiscard]] const std::vector<Nanos>& answered() const { return answered_; }

 private:
  void ask(Nanos now);
  void take(std::string_view response, Nanos arrived);

  Socket socket_;
  uint16_t port_ = 0;
  uint32_t count_ = 0;
  Nanos interval_ = 0;
  Nanos due_ = 0;
  uint32_t random_ = 1;
  bool running_ = false;
  std::vector<Nanos> sent_;
  std::vector<Nanos> answered_;
};

}  // namespace phones
