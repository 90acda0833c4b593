// The port that all legs with ICE share, for UDP and TCP, so that a firewall needs to let in no other.
//
// Peers are told apart by the name in their checks, and once they have proved an address by that: a leg then
// gets a socket of its own on this port, connected to the peer, and the kernel does the rest. Here arrives
// only what belongs to no such socket: checks of other addresses, what comes before the socket is there, and
// all that comes over TCP (RFC 6544, passive).
#pragma once

#include <poll.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/base/handles.hpp"
#include "core/base/time.hpp"
#include "core/ice/stun.hpp"
#include "engine/stream_path.hpp"
#include "engine/udp_socket.hpp"

namespace carillon {

class IcePort {
 public:
  struct Opened;
  /// `local.port` 0: any.
  static Opened open(const Address& local);

  /// What arrived for a leg; `path`: over TCP.
  using Deliver =
      std::function<void(LegHandle, const Address& source, Bytes datagram, std::shared_ptr<StreamPath> path)>;
  /// A leg's own socket to its peer.
  using Attach = std::function<void(LegHandle, std::shared_ptr<UdpSocket> socket, const Address& peer)>;
  void report_to(Deliver deliver, Attach attach);

  /// Checks with this name are of the leg, besides those with its earlier names.
  void expect(LegHandle leg, const std::string& ufrag);
  void forget(LegHandle leg);
  /// The peer has proved to be there.
  void found(LegHandle leg, const Address& peer);

  /// Descriptors to be waited for, behind those that stand there.
  void watch(std::vector<pollfd>& descriptors) const;
  void serve(Nanos now);
  /// When something is to be given up; nothing: nothing is.
  [[nodiscard]] std::optional<Nanos> due() const;

  [[nodiscard]] uint16_t port() const { return local_.port; }
  /// For sending, by any thread.
  [[nodiscard]] const UdpSocket& socket() const { return socket_; }

 private:
  static constexpr size_t kMaxConnections = 2000;
  /// Connections that have not named a leg yet.
  static constexpr size_t kMaxUnnamed = 200;
  static constexpr Nanos kNaming = 10 * kSecond;
  static constexpr size_t kMaxNames = 4;
  static constexpr size_t kMaxAddresses = 4;
  static constexpr int kDatagramsAtOnce = 64;

  struct Connection {
    std::shared_ptr<StreamPath> path;
    LegHandle leg;
    Nanos until{};
    std::vector<uint8_t> waiting;
  };
  struct Known {
    std::vector<std::string> names;
    std::vector<Address> addresses;
  };

  IcePort() = default;
  void take(std::span<uint8_t> datagram, const Address& source);
  [[nodiscard]] LegHandle named(const StunMessage& check) const;
  void accept(Nanos now);
  bool read(Connection& connection);
  bool take_frame(Connection& connection, Bytes frame);

  Address local_;
  UdpSocket socket_;
  FileDescriptor listener_;
  Deliver deliver_;
  Attach attach_;
  std::map<std::string, LegHandle, std::less<>> names_;
  std::map<Address, LegHandle> addresses_;
  std::map<LegHandle, Known> legs_;
  std::vector<Connection> connections_;
  std::unique_ptr<UdpSocket::Buffer> buffer_ = std::make_unique<UdpSocket::Buffer>();
};

struct IcePort::Opened {
  std::unique_ptr<IcePort> port;
  /// errno, without a port.
  int error = 0;
};

}  // namespace carillon
