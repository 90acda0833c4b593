#include <sys/socket.h>

#include <cerrno>

#include "net/transport.hpp"

namespace carillon {

namespace {

class TcpTransport final : public Transport {
 public:
  explicit TcpTransport(int fd) : fd_(fd) {}

  IoResult handshake() override { return {IoResult::Kind::done, 0}; }

  IoResult read(std::span<uint8_t> out) override {
    const ssize_t count = ::recv(fd_, out.data(), out.size(), MSG_DONTWAIT);
    if (count == 0) return {IoResult::Kind::ended, 0};
    return outcome(count, IoResult::Kind::wants_read);
  }

  IoResult write(Bytes bytes) override {
    return outcome(::send(fd_, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL),
                   IoResult::Kind::wants_write);
  }

  [[nodiscard]] TransportFailure failure() const override {
    return {TransportFailure::Kind::system, static_cast<uint32_t>(error_), ""};
  }

 private:
  IoResult outcome(ssize_t count, IoResult::Kind blocked) {
    if (count >= 0) return {IoResult::Kind::done, static_cast<size_t>(count)};
    if (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR) return {blocked, 0};
    error_ = errno;
    return {IoResult::Kind::failed, 0};
  }

  int fd_;
  int error_ = 0;
};

}  // namespace

std::unique_ptr<Transport> make_tcp_transport(int fd) { return std::make_unique<TcpTransport>(fd); }

}  // namespace carillon
