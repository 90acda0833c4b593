// Loopback server that a test controls byte by byte. It does nothing automatically, not even the upgrade.
#pragma once

#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "engine/file_descriptor.hpp"

namespace carillon {

class WebSocketServer {
 public:
  /// Timeout for immediate reactions.
  static constexpr auto kPatience = std::chrono::seconds(5);

  WebSocketServer() : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in name{};
    name.sin_family = AF_INET;
    name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof(name);
    REQUIRE(::bind(listener_.get(), reinterpret_cast<sockaddr*>(&name), length) == 0);
    REQUIRE(::listen(listener_.get(), 8) == 0);
    ::getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&name), &length);
    port_ = ntohs(name.sin_port);
  }

  [[nodiscard]] uint16_t port() const { return port_; }
  void accept() { peer_ = FileDescriptor(::accept(listener_.get(), nullptr, nullptr)); }
  void write(std::string_view bytes) const { ::send(peer_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL); }
  void hang_up() { peer_.reset(); }

  /// Reads until `enough(everything read so far)` is true and returns the data.
  template <typename Enough>
  std::string read_until(Enough enough) {
    const auto deadline = std::chrono::steady_clock::now() + kPatience;
    while (!enough(read_) && std::chrono::steady_clock::now() < deadline) {
      pollfd ready{peer_.get(), POLLIN, 0};
      if (::poll(&ready, 1, 10) <= 0) continue;
      std::array<char, 4096> bytes;
      const ssize_t count = ::recv(peer_.get(), bytes.data(), bytes.size(), 0);
      if (count <= 0) break;
      read_.append(bytes.data(), static_cast<size_t>(count));
    }
    return read_;
  }

  /// Returns the payloads of the client's frames, unmasked. Close frames appear as "close"; pings are
  /// omitted.
  std::vector<std::string> frames(size_t count) {
    std::vector<std::string> out;
    read_until([&](const std::string& bytes) {
      out = parse(bytes);
      return out.size() >= count;
    });
    return out;
  }
  void forget_request() { read_.clear(); }

 private:
  static std::vector<std::string> parse(const std::string& bytes) {
    std::vector<std::string> out;
    const auto byte = [&](size_t at) { return static_cast<uint8_t>(bytes[at]); };
    for (size_t at = 0; at + 6 <= bytes.size();) {
      size_t length = byte(at + 1) & 0x7f;
      size_t header = 2;
      if (length == 126) {
        length = static_cast<size_t>(byte(at + 2) << 8 | byte(at + 3));
        header = 4;
      }
      if (at + header + 4 + length > bytes.size()) break;
      std::string payload;
      for (size_t i = 0; i < length; ++i) {
        payload.push_back(static_cast<char>(byte(at + header + 4 + i) ^ byte(at + header + i % 4)));
      }
      const bool is_ping = (byte(at) & 0x0f) == 9;
      if (!is_ping) out.push_back((byte(at) & 0x0f) == 8 ? "close" : payload);
      at += header + 4 + length;
    }
    return out;
  }

  FileDescriptor listener_;
  FileDescriptor peer_;
  uint16_t port_ = 0;
  std::string read_;
};

}  // namespace carillon
