// Shared parts of programs with many call ends: commands, and the order of sending.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <sstream>
#include <string>
#include <utility>

#include "socket.hpp"

namespace phones {

/// Lines of stdin, as they come.
class CommandLines {
 public:
  CommandLines() { ::fcntl(STDIN_FILENO, F_SETFL, ::fcntl(STDIN_FILENO, F_GETFL) | O_NONBLOCK); }

  /// Gives each line that is there to `obey`; false when stdin has ended.
  template <typename Obey>
  bool read(Obey obey) {
    std::array<char, 4096> part;
    ssize_t length = 0;
    while ((length = ::read(STDIN_FILENO, part.data(), part.size())) > 0) {
      input_.append(part.data(), static_cast<size_t>(length));
    }
    for (size_t end = input_.find('\n'); end != std::string::npos; end = input_.find('\n')) {
      obey(std::istringstream(input_.substr(0, end)));
      input_.erase(0, end + 1);
    }
    return length != 0;
  }

 private:
  std::string input_;
};

/// Every phone sends one frame every 20 ms; the phases are spread over that
/// time.
class Turns {
 public:
  void begin(Nanos now) {
    began_ = now;
    begun_ = true;
  }

  /// `send` gets the index of each whose time has come.
  template <typename Send>
  void take(Nanos now, size_t ends, Send send) {
    if (!begun_) return;
    const auto count = static_cast<Nanos>(ends);
    for (; began_ + next_ * kFrame / count <= now; ++next_) send(static_cast<size_t>(next_ % count));
  }

 private:
  static constexpr Nanos kFrame = 20 * kMillisecond;
  bool begun_ = false;
  Nanos began_ = 0;
  /// Frames sent so far, over all ends.
  Nanos next_ = 0;
};

}  // namespace phones
