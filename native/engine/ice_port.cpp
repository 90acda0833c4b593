#include "engine/ice_port.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "core/ice/key_exchange.hpp"
#include "engine/socket_address.hpp"

namespace carillon {

namespace {
constexpr int kBacklog = 128;
constexpr size_t kReadAtOnce = 16 * 1024;

/// Listens for TCP connections. Fails if another process uses the port, which shared UDP sockets would not
/// detect.
FileDescriptor listen_at(const Address& local) {
  sockaddr_storage name{};
  const socklen_t length = to_sockaddr(local, name);
  FileDescriptor made(::socket(name.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  const int on = 1;
  if (made.open()) ::setsockopt(made.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  const bool works = made.open() &&
                     ::bind(made.get(), reinterpret_cast<const sockaddr*>(&name), length) == 0 &&
                     ::listen(made.get(), kBacklog) == 0;
  return works ? std::move(made) : FileDescriptor();
}

std::string_view own_name(const StunMessage& check) {
  return check.username.substr(0, check.username.find(':'));
}
}  // namespace

IcePort::Opened IcePort::open(const Address& local) {
  std::unique_ptr<IcePort> made(new IcePort());
  made->listener_ = listen_at(local);
  if (!made->listener_.open()) return {nullptr, errno == 0 ? EADDRINUSE : errno};
  sockaddr_storage name{};
  socklen_t length = sizeof(name);
  ::getsockname(made->listener_.get(), reinterpret_cast<sockaddr*>(&name), &length);
  made->local_ = from_sockaddr(name);
  // Bind exclusively first, to detect other users of the port.
  if (const int error = UdpSocket::bind(made->local_).error; error != 0) return {nullptr, error};
  UdpSocket::Bound bound = UdpSocket::bind(made->local_, UdpSocket::Sharing::shared);
  if (bound.error != 0) return {nullptr, bound.error};
  made->socket_ = std::move(bound.socket);
  return {std::move(made), 0};
}

void IcePort::report_to(Deliver deliver, Attach attach) {
  deliver_ = std::move(deliver);
  attach_ = std::move(attach);
}

void IcePort::expect(LegHandle leg, const std::string& ufrag) {
  Known& known = legs_[leg];
  if (std::ranges::find(known.names, ufrag) != known.names.end()) return;
  if (known.names.size() == kMaxNames) {
    names_.erase(known.names.front());
    known.names.erase(known.names.begin());
  }
  known.names.push_back(ufrag);
  names_[ufrag] = leg;
}

void IcePort::forget(LegHandle leg) {
  const auto found = legs_.find(leg);
  if (found == legs_.end()) return;
  for (const std::string& name : found->second.names) names_.erase(name);
  for (const Address& address : found->second.addresses) give_up(leg, address);
  legs_.erase(found);
  std::erase_if(connections_, [leg](const Connection& one) { return one.leg == leg; });
}

/// Removes an address of a leg, unless another leg has taken it over.
void IcePort::give_up(LegHandle leg, const Address& address) {
  const auto owner = addresses_.find(address);
  if (owner != addresses_.end() && owner->second == leg) addresses_.erase(owner);
}

void IcePort::found(LegHandle leg, const Address& peer) {
  const auto known = legs_.find(leg);
  if (known == legs_.end() || peer.stream) return;
  std::vector<Address>& addresses = known->second.addresses;
  if (!addresses.empty() && addresses.back() == peer) return;
  std::erase(addresses, peer);
  if (addresses.size() == kMaxAddresses) {
    give_up(leg, addresses.front());
    addresses.erase(addresses.begin());
  }
  addresses.push_back(peer);
  addresses_[peer] = leg;
  UdpSocket::Bound own = connected_to(peer, known->second);
  if (own.error != 0) return;
  // Between bind and connect, the socket could receive datagrams of other peers; dispatch them. They are the
  // first ones. The leg reads the others, which a peer may send faster than this thread reads.
  take_from(own.socket);
  attach_(leg, std::make_shared<UdpSocket>(std::move(own.socket)), peer);
}

/// Returns a socket whose own address is the one to which the peer sends.
UdpSocket::Bound IcePort::connected_to(const Address& peer, const Known& known) const {
  Address local = local_;
  for (const auto& [theirs, own] : known.pairs) {
    if (theirs != peer || own.family == Address::Family::none) continue;
    local = own;
    local.port = local_.port;
  }
  UdpSocket::Bound made = UdpSocket::bind(local, UdpSocket::Sharing::shared);
  if (made.error == 0 && !made.socket.connect(peer)) made.error = errno == 0 ? EINVAL : errno;
  return made;
}

/// Stores the own address to which a peer has sent a check.
void IcePort::checked(LegHandle leg, const Datagram& check) {
  const auto known = legs_.find(leg);
  if (known == legs_.end()) return;
  auto& pairs = known->second.pairs;
  std::erase_if(pairs, [&](const auto& pair) { return pair.first == check.source; });
  if (pairs.size() == kMaxPairs) pairs.erase(pairs.begin());
  pairs.emplace_back(check.source, check.destination);
}

LegHandle IcePort::named(const StunMessage& check) const {
  const auto found = names_.find(own_name(check));
  return found == names_.end() ? LegHandle() : found->second;
}

void IcePort::take_from(const UdpSocket& socket) {
  for (int taken = 0; taken < kDatagramsAtOnce && buffer_->receive(socket); ++taken) {
    take(buffer_->datagram());
  }
}

void IcePort::take(const Datagram& datagram) {
  if (muxed_kind(datagram.bytes) != Muxed::stun) {
    const auto known = addresses_.find(datagram.source);
    if (known != addresses_.end()) deliver_(known->second, datagram, nullptr);
    return;
  }
  const std::optional<StunMessage> check = parse_stun(datagram.bytes);
  if (!check || check->kind != StunKind::request) return;
  // A check can arrive before the answer that announces its name. The peer repeats it; unknown names get no
  // response.
  const LegHandle leg = named(*check);
  if (leg == LegHandle()) return;
  checked(leg, datagram);
  deliver_(leg, datagram, nullptr);
}

void IcePort::watch(std::vector<pollfd>& descriptors) const {
  descriptors.push_back({socket_.descriptor(), POLLIN, 0});
  for (const Connection& one : connections_) descriptors.push_back({one.path->descriptor(), POLLIN, 0});
  // A connection that must wait would otherwise end each poll immediately.
  if (accepts()) descriptors.push_back({listener_.get(), POLLIN, 0});
}

void IcePort::polled(std::span<const pollfd> descriptors) {
  for (size_t i = 0; i < connections_.size() && i + 1 < descriptors.size(); ++i) {
    connections_[i].is_ready = descriptors[i + 1].revents != 0;
  }
}

std::optional<Nanos> IcePort::due() const {
  std::optional<Nanos> first = accept_again_;
  for (const Connection& one : connections_) {
    if (one.leg == LegHandle() && (!first || one.until < *first)) first = one.until;
  }
  return first;
}

void IcePort::serve(Nanos now) {
  take_from(socket_);
  if (accept_again_ && now >= *accept_again_) accept_again_.reset();
  accept(now);
  for (Connection& one : connections_) {
    if (std::exchange(one.is_ready, false)) one.has_ended = !read(one);
  }
  std::erase_if(connections_, [now](const Connection& one) {
    return one.has_ended || (one.leg == LegHandle() && now >= one.until);
  });
}

size_t IcePort::connections_of(LegHandle leg) const {
  return static_cast<size_t>(std::ranges::count(connections_, leg, &Connection::leg));
}

bool IcePort::accepts() const {
  return !accept_again_ && connections_.size() < kMaxConnections && connections_of({}) < kMaxUnnamed;
}

void IcePort::accept(Nanos now) {
  while (accepts()) {
    sockaddr_storage name{};
    socklen_t length = sizeof(name);
    FileDescriptor made(::accept4(listener_.get(), reinterpret_cast<sockaddr*>(&name), &length,
                                  SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!made.open()) {
      const bool exhausted = errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM;
      if (exhausted) accept_again_ = now + kAcceptAgain;
      return;
    }
    const int on = 1;
    ::setsockopt(made.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    Address peer = from_sockaddr(name);
    peer.stream = true;
    connections_.push_back({std::make_shared<StreamPath>(std::move(made), peer), {}, now + kNaming, {}});
  }
}

/// Reads from a connection. Returns false if it has ended.
bool IcePort::read(Connection& connection) {
  std::array<uint8_t, kReadAtOnce> bytes;
  const ssize_t size = ::recv(connection.path->descriptor(), bytes.data(), bytes.size(), MSG_DONTWAIT);
  if (size < 0) return errno == EAGAIN || errno == EINTR;
  if (size == 0) return false;
  std::vector<uint8_t>& waiting = connection.waiting;
  waiting.insert(waiting.end(), bytes.begin(), bytes.begin() + size);
  size_t at = 0;
  while (waiting.size() - at >= StreamPath::kLengthBytes) {
    const size_t length = read_u16(waiting, at);
    if (length > StreamPath::kMaxFrame) return false;
    if (waiting.size() - at < StreamPath::kLengthBytes + length) break;
    const std::span<uint8_t> frame = std::span(waiting).subspan(at + StreamPath::kLengthBytes, length);
    if (length > 0 && !take_frame(connection, frame)) return false;
    at += StreamPath::kLengthBytes + length;
  }
  waiting.erase(waiting.begin(), waiting.begin() + static_cast<std::ptrdiff_t>(at));
  return true;
}

/// Processes a frame. The first frame determines the connection's leg.
bool IcePort::take_frame(Connection& connection, std::span<uint8_t> frame) {
  if (muxed_kind(frame) == Muxed::stun) {
    const std::optional<StunMessage> check = parse_stun(frame);
    if (!check) return false;
    if (check->kind != StunKind::request) return connection.leg != LegHandle();
    const LegHandle leg = named(*check);
    if (leg == LegHandle()) return true;
    if (connection.leg != LegHandle() && connection.leg != leg) return false;
    if (connection.leg == LegHandle() && connections_of(leg) >= kMaxPerLeg) return false;
    connection.leg = leg;
  }
  if (connection.leg == LegHandle()) return false;
  deliver_(connection.leg, {frame, connection.path->peer()}, connection.path);
  return true;
}

}  // namespace carillon
