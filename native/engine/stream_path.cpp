#include "engine/stream_path.hpp"

#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>

namespace carillon {

bool StreamPath::flush() {
  if (unsent_.empty()) return true;
  const ssize_t left = ::send(socket_.get(), unsent_.data(), unsent_.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  if (left > 0) unsent_.erase(unsent_.begin(), unsent_.begin() + left);
  return unsent_.empty();
}

void StreamPath::end() const { ::shutdown(socket_.get(), SHUT_RDWR); }

void StreamPath::send(Bytes packet) {
  if (packet.size() > kMaxFrame || !flush()) return;
  std::array<uint8_t, kLengthBytes> length;
  write_u16(length, 0, static_cast<uint16_t>(packet.size()));
  std::array<iovec, 2> parts{iovec{length.data(), length.size()},
                             iovec{const_cast<uint8_t*>(packet.data()), packet.size()}};
  msghdr header{};
  header.msg_iov = parts.data();
  header.msg_iovlen = parts.size();
  const ssize_t sent = ::sendmsg(socket_.get(), &header, MSG_DONTWAIT | MSG_NOSIGNAL);
  if (sent <= 0) return;
  const auto done = static_cast<size_t>(sent);
  if (done < kLengthBytes) unsent_.assign(length.begin() + done, length.end());
  const size_t of_packet = done < kLengthBytes ? 0 : done - kLengthBytes;
  unsent_.insert(unsent_.end(), packet.begin() + static_cast<std::ptrdiff_t>(of_packet), packet.end());
}

}  // namespace carillon
