#include "tls/dtls_thread.hpp"

#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <system_error>
#include <utility>

#include "core/srtp/srtp_protection.hpp"
#include "tls/srtp_ciphers.hpp"

namespace carillon {

namespace {
constexpr int kForever = -1;

/// Returns true if the handshake is not finished.
bool is_open(const DtlsSession& session) {
  return session.state() == DtlsSession::State::idle || session.state() == DtlsSession::State::shaking;
}
}  // namespace

DtlsThread::DtlsThread(MediaEngine& engine, MediaEngine::Drive drive)
    : engine_(engine),
      drive_(drive),
      bell_(made_descriptor(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC), "eventfd")) {}

DtlsThread::~DtlsThread() { stop(); }

void DtlsThread::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  ring();
  if (thread_.joinable()) thread_.join();
}

void DtlsThread::use(std::shared_ptr<DtlsIdentity> identity) {
  const std::lock_guard lock(mutex_);
  identity_ = std::move(identity);
}

void DtlsThread::begin(LegHandle leg, DtlsTerms terms) { order(Begin{leg, std::move(terms)}); }
void DtlsThread::end(LegHandle leg) { order(End{leg}); }

void DtlsThread::order(Order order) {
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) return;
    // Start the thread on first use, so that it does not exist without DTLS.
    const int error = start();
    if (const Begin* const begin = std::get_if<Begin>(&order); begin != nullptr && error != 0) {
      // Without the thread, only this one passes results to the engine. The next order tries again.
      report(begin->leg, std::string("the key exchange thread cannot start: ") + std::strerror(error));
      return;
    }
    orders_.push_back(std::move(order));
  }
  if (drive_ == MediaEngine::Drive::manual) {
    take_orders();
  } else {
    ring();
  }
}

/// Requires the lock. Returns an errno, or 0.
int DtlsThread::start() {
  if (drive_ == MediaEngine::Drive::manual || thread_.joinable()) return 0;
  try {
    thread_ = std::thread([this] { run(); });
  } catch (const std::system_error& failure) {
    return failure.code().value();
  }
  return 0;
}

void DtlsThread::ring() const {
  const uint64_t one = 1;
  static_cast<void>(!::write(bell_.get(), &one, sizeof(one)));
}

void DtlsThread::received(LegHandle leg, Bytes datagram) { hand_over(Arrival::datagram, leg, datagram); }
void DtlsThread::reachable(LegHandle leg, const Address& peer) {
  hand_over(Arrival::reachable, leg, Bytes(reinterpret_cast<const uint8_t*>(&peer), sizeof(peer)));
}

void DtlsThread::hand_over(Arrival what, LegHandle leg, Bytes datagram) {
  if (drive_ == MediaEngine::Drive::manual) {
    arrived(what, leg, datagram);
    return;
  }
  const size_t reserve = what == Arrival::datagram ? kReservedForAddresses : 0;
  arrivals_.put({static_cast<uint8_t>(what), 0, 0, leg.value()}, datagram, reserve);
  ring();
}

void DtlsThread::run() {
  pthread_setname_np(pthread_self(), "carillon-dtls");
  batch_.resize(kRingBytes);
  for (;;) {
    wait();
    {
      const std::lock_guard lock(mutex_);
      if (stopping_) return;
    }
    engine_.repeat_keys();
    take_orders();
    take_arrivals();
    time_out();
    if (ice_port_) ice_port_->serve(monotonic_now());
  }
}

void DtlsThread::wait() {
  descriptors_.assign(1, {bell_.get(), POLLIN, 0});
  if (ice_port_) ice_port_->watch(descriptors_);
  ::poll(descriptors_.data(), descriptors_.size(), wait_ms());
  if (ice_port_) ice_port_->polled(std::span(descriptors_).subspan(1));
  uint64_t rung = 0;
  static_cast<void>(!::read(bell_.get(), &rung, sizeof(rung)));
}

/// Time in ms until the next retransmission or timeout.
int DtlsThread::wait_ms() const {
  int wait = kForever;
  const Nanos now = monotonic_now();
  for (const auto& [leg, exchange] : exchanges_) {
    if (!is_open(*exchange.session)) continue;
    const Nanos timeout = std::max(Nanos{}, exchange.until - now);
    const Nanos left = std::min(exchange.session->until_timeout().value_or(timeout), timeout);
    const int ms = static_cast<int>(left / kMillisecond) + 1;
    wait = wait == kForever ? ms : std::min(wait, ms);
  }
  if (const std::optional<Nanos> due = ice_port_ ? ice_port_->due() : std::nullopt) {
    const int ms = static_cast<int>(std::max(Nanos{}, *due - now) / kMillisecond) + 1;
    wait = wait == kForever ? ms : std::min(wait, ms);
  }
  return wait;
}

void DtlsThread::take_orders() {
  std::vector<Order> orders;
  {
    const std::lock_guard lock(mutex_);
    orders.swap(orders_);
  }
  for (const Order& order : orders) {
    std::visit([this](const auto& what) { carry_out(what); }, order);
  }
}

void DtlsThread::take_arrivals() {
  const size_t bytes = arrivals_.take(batch_);
  for_each_record(std::span(batch_).first(bytes), [this](const Record& record, std::span<uint8_t> payload) {
    arrived(static_cast<Arrival>(record.type), LegHandle(record.handle), payload);
  });
}

void DtlsThread::time_out() {
  const Nanos now = monotonic_now();
  for (auto& [leg, exchange] : exchanges_) {
    if (!is_open(*exchange.session)) continue;
    if (now >= exchange.until) {
      give_up(LegHandle(leg), exchange);
      continue;
    }
    const std::optional<Nanos> left = exchange.session->until_timeout();
    if (!left || *left > Nanos{}) continue;
    exchange.session->time_out();
    pass_on(LegHandle(leg), *exchange.session);
  }
}

void DtlsThread::give_up(LegHandle leg, Exchange& exchange) {
  const std::string& trouble = exchange.session->trouble();
  std::string why = exchange.reachable ? "the peer did not complete the key exchange"
                                       : "the peer is unreachable: no ICE checks arrived";
  if (!trouble.empty()) why += ": " + trouble;
  exchange.session->abandon();
  report(leg, std::move(why));
}

void DtlsThread::carry_out(const Begin& begin) {
  Exchange& exchange = exchanges_[begin.leg.value()];
  if (exchange.session && exchange.session->terms() == begin.terms) return;
  std::shared_ptr<DtlsIdentity> identity;
  {
    const std::lock_guard lock(mutex_);
    identity = identity_;
  }
  if (!identity) {
    exchanges_.erase(begin.leg.value());
    return;
  }
  exchange.session = std::make_unique<DtlsSession>(std::move(identity), begin.terms);
  exchange.until = monotonic_now() + kPatience;
  // A client's first message is lost while the peer's address is unknown. reachable() is called when it
  // becomes known.
  engine_.post_keys(begin.leg, [name = begin.leg](MediaLoop& loop, LegHandle at) {
    if (loop.core().peek(at) == nullptr) return false;
    if (loop.core().can_reach(at)) {
      loop.core().report_reachable(name, loop.core().peek(at)->receive_path().source().target());
    }
    return true;
  });
}

void DtlsThread::carry_out(const End& end) {
  exchanges_.erase(end.leg.value());
  if (ice_port_) ice_port_->forget(end.leg);
}

// ---------------------------------------------------------------- the shared port

int DtlsThread::share_port(const Address& local) {
  IcePort::Opened opened = IcePort::open(local);
  if (opened.error != 0) return opened.error;
  ice_port_ = std::move(opened.port);
  ice_port_->report_to([this](LegHandle leg, const Datagram& datagram,
                              std::shared_ptr<StreamPath> path) { deliver(leg, datagram, std::move(path)); },
                       [this](LegHandle leg, std::shared_ptr<UdpSocket> socket, const Address& peer) {
                         attach(leg, std::move(socket), peer);
                       });
  {
    const std::lock_guard lock(mutex_);
    if (const int error = start(); error != 0) {
      ice_port_.reset();
      return error;
    }
  }
  for (size_t i = 0; i < engine_.thread_count(); ++i) {
    engine_.on_thread(i, [port = &ice_port_->socket()](MediaLoop& loop) { loop.sockets().share(*port); });
  }
  return 0;
}

void DtlsThread::expect(LegHandle leg, const std::string& ufrag) {
  if (ice_port_) order(Expect{leg, ufrag});
}

void DtlsThread::carry_out(const Expect& expect) { ice_port_->expect(expect.leg, expect.ufrag); }

void DtlsThread::deliver(LegHandle leg, const Datagram& datagram, std::shared_ptr<StreamPath> path) {
  engine_.post_datagram(leg, [copy = datagram, path = std::move(path),
                              bytes = std::vector<uint8_t>(datagram.bytes.begin(), datagram.bytes.end())](
                                 MediaLoop& loop, LegHandle at) mutable {
    if (loop.core().peek(at) == nullptr) return false;
    copy.bytes = bytes;
    loop.sockets().receive_shared(at, path, copy, loop.core(), loop.now());
    return true;
  });
}

void DtlsThread::attach(LegHandle leg, std::shared_ptr<UdpSocket> socket, const Address& peer) {
  engine_.post_keys(leg, [socket = std::move(socket), peer](MediaLoop& loop, LegHandle at) {
    if (loop.core().peek(at) == nullptr) return false;
    loop.sockets().attach(at, *socket, peer);
    return true;
  });
}

void DtlsThread::arrived(Arrival what, LegHandle leg, Bytes datagram) {
  if (what == Arrival::reachable && ice_port_ && datagram.size() == sizeof(Address)) {
    Address peer;
    std::memcpy(&peer, datagram.data(), sizeof(peer));
    ice_port_->found(leg, peer);
  }
  const auto found = exchanges_.find(leg.value());
  if (found == exchanges_.end()) return;
  DtlsSession& session = *found->second.session;
  found->second.reachable = true;
  if (what == Arrival::reachable) {
    session.begin();
  } else {
    session.receive(datagram);
  }
  pass_on(leg, session);
}

/// Passes datagrams, keys and failures to the media thread.
void DtlsThread::pass_on(LegHandle leg, DtlsSession& session) {
  for (std::vector<uint8_t>& datagram : session.take_datagrams()) {
    engine_.post_keys(leg, [bytes = std::move(datagram)](MediaLoop& loop, LegHandle at) {
      if (loop.core().peek(at) == nullptr) return false;
      loop.core().send_to_peer(at, bytes);
      return true;
    });
  }
  if (const std::optional<DtlsKeys> keys = session.take_keys()) {
    const auto protection = std::make_shared<std::unique_ptr<PacketProtection>>(
        std::make_unique<SrtpProtection>(keys->send, keys->receive, srtp_ciphers));
    engine_.post_keys(leg, [leg, protection](MediaLoop& loop, LegHandle at) {
      Leg* const found = loop.core().leg(at);
      if (found == nullptr) return false;
      found->protect_with(*protection);
      loop.events().secured(leg, true, "");
      return true;
    });
  }
  if (session.state() == DtlsSession::State::failed && !session.fault().empty()) {
    report(leg, session.take_fault());
  }
}

void DtlsThread::report(LegHandle leg, std::string fault) {
  engine_.post_keys(leg, [leg, fault = std::move(fault)](MediaLoop& loop, LegHandle /*at*/) {
    loop.events().secured(leg, false, fault);
    return true;
  });
}

}  // namespace carillon
