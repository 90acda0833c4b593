// Port shared by all legs with ICE, for UDP and TCP, so that a firewall must open only this port.
//
// A peer is identified by the username in its checks. After it has validated an address, its leg gets a
// separate socket on this port, connected to that address, and the kernel dispatches its datagrams. This
// class receives the rest: checks from other addresses, datagrams that arrive before the leg's socket exists,
// and all TCP traffic (RFC 6544, passive).
#pragma once

#include <poll.h>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
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
  /// Opens the port. `local.port` 0: any free port.
  static Opened open(const Address& local);

  /// Receives a datagram of a leg. `path`: the connection for TCP, null for UDP.
  using Deliver = std::function<void(LegHandle, const Datagram& datagram, std::shared_ptr<StreamPath> path)>;
  /// Receives a leg's connected socket.
  using Attach = std::function<void(LegHandle, std::shared_ptr<UdpSocket> socket, const Address& peer)>;
  void report_to(Deliver deliver, Attach attach);

  /// Assigns checks with this username fragment to the leg, in addition to earlier fragments.
  void expect(LegHandle leg, const std::string& ufrag);
  void forget(LegHandle leg);
  /// Reports that the leg's peer has validated this address.
  void found(LegHandle leg, const Address& peer);

  /// Appends the descriptors to poll.
  void watch(std::vector<pollfd>& descriptors) const;
  /// Reports the result of the poll. Call before any other method changes the connections.
  void polled(std::span<const pollfd> descriptors);
  /// Reads the descriptors that the last poll reported as ready, and accepts connections.
  void serve(Nanos now);
  /// Returns the next timeout, or nullopt if there is none.
  [[nodiscard]] std::optional<Nanos> due() const;

  [[nodiscard]] uint16_t port() const { return local_.port; }
  /// Socket for sending from any thread.
  [[nodiscard]] const UdpSocket& socket() const { return socket_; }

 private:
  static constexpr size_t kMaxConnections = 2000;
  /// Maximum number of connections not yet assigned to a leg.
  static constexpr size_t kMaxUnnamed = 200;
  /// Maximum number of connections of a leg, so that one peer cannot use all of them.
  static constexpr size_t kMaxPerLeg = 8;
  static constexpr Nanos kNaming = 10 * kSecond;
  /// Pause after a connection could not be accepted because descriptors or memory are exhausted.
  static constexpr Nanos kAcceptAgain = kSecond;
  static constexpr size_t kMaxNames = 4;
  static constexpr size_t kMaxAddresses = 4;
  /// Maximum number of addresses of a peer whose own address is known.
  static constexpr size_t kMaxPairs = 16;
  static constexpr int kDatagramsAtOnce = 64;

  struct Connection {
    std::shared_ptr<StreamPath> path;
    LegHandle leg;
    Nanos until{};
    std::vector<uint8_t> waiting;
    /// True if the last poll reported data or the end.
    bool is_ready = true;
    bool has_ended = false;
  };
  struct Known {
    std::vector<std::string> names;
    std::vector<Address> addresses;
    /// Address of the peer and the own address to which it sends checks.
    std::vector<std::pair<Address, Address>> pairs;
  };

  IcePort() = default;
  void give_up(LegHandle leg, const Address& address);
  void take_from(const UdpSocket& socket);
  void take(const Datagram& datagram);
  void checked(LegHandle leg, const Datagram& check);
  [[nodiscard]] UdpSocket::Bound connected_to(const Address& peer, const Known& known) const;
  [[nodiscard]] LegHandle named(const StunMessage& check) const;
  [[nodiscard]] size_t connections_of(LegHandle leg) const;
  [[nodiscard]] bool accepts() const;
  void accept(Nanos now);
  bool read(Connection& connection);
  bool take_frame(Connection& connection, std::span<uint8_t> frame);

  Address local_;
  UdpSocket socket_;
  FileDescriptor listener_;
  Deliver deliver_;
  Attach attach_;
  std::map<std::string, LegHandle, std::less<>> names_;
  std::map<Address, LegHandle> addresses_;
  std::map<LegHandle, Known> legs_;
  std::vector<Connection> connections_;
  /// End of the pause after a failure to accept. Empty: no pause.
  std::optional<Nanos> accept_again_;
  std::unique_ptr<UdpSocket::Buffer> buffer_ = std::make_unique<UdpSocket::Buffer>();
};

struct IcePort::Opened {
  std::unique_ptr<IcePort> port;
  /// errno if there is no port.
  int error = 0;
};

}  // namespace carillon
