#include "tls/dtls_thread.hpp"

#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "core/srtp/srtp_protection.hpp"
#include "tls/srtp_ciphers.hpp"

namespace carillon {

namespace {
constexpr int kForever = -1;

/// Neither secured nor over.
bool is_open(const DtlsSession& session) {
  return session.state() == DtlsSession::State::idle || session.state() == DtlsSession::State::shaking;
}
}  // namespace

DtlsThread::DtlsThread(MediaEngine& engine, MediaEngine::Drive drive)
    : engine_(engine), drive_(drive), bell_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {}

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
    orders_.push_back(std::move(order));
    // Who never meets a browser has no such thread.
    if (drive_ == MediaEngine::Drive::thread && !thread_.joinable()) thread_ = std::thread([this] { run(); });
  }
  if (drive_ == MediaEngine::Drive::manual) {
    take_orders();
  } else {
    ring();
  }
}

void DtlsThread::ring() const {
  const uint64_t one = 1;
  static_cast<void>(!::write(bell_.get(), &one, sizeof(one)));
}

void DtlsThread::received(LegHandle leg, Bytes datagram) { hand_over(Arrival::datagram, leg, datagram); }
void DtlsThread::reachable(LegHandle leg) { hand_over(Arrival::reachable, leg, {}); }

void DtlsThread::hand_over(Arrival what, LegHandle leg, Bytes datagram) {
  if (drive_ == MediaEngine::Drive::manual) {
    arrived(what, leg, datagram);
    return;
  }
  arrivals_.put({static_cast<uint8_t>(what), 0, 0, leg.value()}, datagram);
  ring();
}

void DtlsThread::run() {
  pthread_setname_np(pthread_self(), "carillon-dtls");
  batch_.resize(kRingBytes);
  for (;;) {
    pollfd bell{bell_.get(), POLLIN, 0};
    ::poll(&bell, 1, wait_ms());
    uint64_t rung = 0;
    static_cast<void>(!::read(bell_.get(), &rung, sizeof(rung)));
    {
      const std::lock_guard lock(mutex_);
      if (stopping_) return;
    }
    engine_.repeat_keys();
    take_orders();
    take_arrivals();
    time_out();
  }
}

/// Until something is to be sent once more.
int DtlsThread::wait_ms() const {
  int wait = kForever;
  const Nanos now = monotonic_now();
  for (const auto& [leg, exchange] : exchanges_) {
    if (!is_open(*exchange.session)) continue;
    const Nanos patience = std::max(Nanos{}, exchange.until - now);
    const Nanos left = std::min(exchange.session->until_timeout().value_or(patience), patience);
    const int ms = static_cast<int>(left / kMillisecond) + 1;
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
  exchange.session->abandon();
  report(leg, exchange.reachable ? "the peer did not finish the exchange of keys"
                                 : "no way to the peer was found: none of its checks (ICE) arrived");
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
  // A client's first message is lost as long as the peer cannot be sent to; reachable() comes then.
  engine_.post_keys(begin.leg, [name = begin.leg](MediaLoop& loop, LegHandle at) {
    if (loop.core().peek(at) == nullptr) return false;
    if (loop.core().can_reach(at)) loop.core().tell_reachable(name);
    return true;
  });
}

void DtlsThread::carry_out(const End& end) { exchanges_.erase(end.leg.value()); }

void DtlsThread::arrived(Arrival what, LegHandle leg, Bytes datagram) {
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

/// Datagrams, keys and failure to the media thread.
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
        std::make_unique<SrtpProtection>(keys->send, keys->receive, openssl_ciphers));
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
