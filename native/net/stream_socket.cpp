#include "net/stream_socket.hpp"

#include <sys/epoll.h>

#include <cerrno>

namespace carillon {

namespace {

/// Time limit per address, so that the next address is tried if one does not respond.
constexpr Nanos kConnectAttempt = 2500 * kMillisecond;
/// Time for the peer to close the connection after the closing handshake (RFC 6455 §7.1.1).
constexpr Nanos kLinger = 2 * kSecond;
/// Maximum number of messages passed to the control thread together.
constexpr size_t kMaxGathered = 256;

Bytes bytes_of(std::string_view text) { return {reinterpret_cast<const uint8_t*>(text.data()), text.size()}; }

/// One over the fraction of the event ring that errors and fill levels must not use, so that events that end
/// a stream always fit.
constexpr size_t kReservedPart = 4;

/// Returns true for events that must arrive, and before the end. A socket has few of them at a time.
bool is_urgent(SocketEvent event) {
  switch (event) {
    case SocketEvent::upgrade_answered:
    case SocketEvent::messages:  // at most one until proceed()
    case SocketEvent::pong:
    case SocketEvent::flooded:
    case SocketEvent::overrun:
    case SocketEvent::oversized:
    case SocketEvent::ended:
      return true;
    default:
      return false;
  }
}

}  // namespace

StreamSocket::StreamSocket(uint32_t handle, SocketOptions options, std::shared_ptr<SocketMailbox> mailbox,
                           SocketWorld& world)
    : handle_(handle),
      options_(std::move(options)),
      mailbox_(std::move(mailbox)),
      world_(world),
      connector_(std::move(options_.addresses)),
      reader_(options_.max_message_bytes),
      share_(world_.budgets.of(options_.account, options_.account_message_bytes)),
      writer_(options_.send_queue, world_.masks),
      flood_(options_.flood) {}

// ---------------------------------------------------------------- connection

void StreamSocket::connect_to_next(Nanos now) {
  state_ = State::connecting;
  interest_.reset();
  fd_ = connector_.next();
  if (fd_.open()) {
    deadline_ = connector_.has_more() ? now + kConnectAttempt : Nanos{};
    update_interest();
  } else if (connector_.error() == 0) {
    failed_to_connect({TransportFailure::Kind::other, 0, "no address to connect to"});
  } else {
    failed_to_connect({TransportFailure::Kind::system, static_cast<uint32_t>(connector_.error()), ""});
  }
}

void StreamSocket::connected(Nanos now) {
  if (!connector_.succeeded(fd_)) {
    connect_to_next(now);
    return;
  }
  deadline_ = {};
  if (options_.secure_host.empty()) {
    transport_ = make_tcp_transport(fd_.get());
  } else if (world_.secure) {
    transport_ = world_.secure(fd_.get(), options_.secure_host);
  }
  if (!transport_) {
    failed_to_connect({TransportFailure::Kind::other, 0, "TLS is not available"});
    return;
  }
  state_ = State::securing;
  handshake();
}

void StreamSocket::handshake() {
  const IoResult result = transport_->handshake();
  wants_write_ = result.kind == IoResult::Kind::wants_write;
  if (result.kind == IoResult::Kind::done) {
    request_upgrade();
  } else if (result.kind == IoResult::Kind::failed || result.kind == IoResult::Kind::ended) {
    lost(result);
  }
}

void StreamSocket::request_upgrade() {
  state_ = State::upgrading;
  writer_.write_raw(*transport_, std::move(options_.request));
}

void StreamSocket::take_head() {
  const std::optional<std::string> head = head_.take(inbox_);
  if (head) {
    state_ = State::judged;
    report(SocketEvent::upgrade_answered, 0, 0, bytes_of(*head));
  } else if (head_.too_long()) {
    failed_to_connect({TransportFailure::Kind::other, 0, "the upgrade response is too long"});
  }
}

void StreamSocket::accept(Nanos now) {
  if (state_ != State::judged) return;
  state_ = State::open;
  resume(now);
  update_interest();
}

void StreamSocket::failed_to_connect(const TransportFailure& failure) {
  switch (failure.kind) {
    case TransportFailure::Kind::system:
    case TransportFailure::Kind::certificate: {
      const auto how =
          failure.kind == TransportFailure::Kind::system ? SocketEnd::system : SocketEnd::certificate;
      end(how, 0, {reinterpret_cast<const uint8_t*>(&failure.code), sizeof(failure.code)});
      break;
    }
    case TransportFailure::Kind::other:
      end(SocketEnd::other, 0, bytes_of(failure.words));
      break;
  }
  give_up();
}

// ---------------------------------------------------------------- readiness

void StreamSocket::ready(uint32_t epoll_events, Nanos now) {
  switch (state_) {
    case State::connecting:
      connected(now);
      break;
    case State::securing:
      handshake();
      // Data that followed the peer's handshake may already be buffered by TLS.
      if (state_ == State::upgrading) fill(now);
      break;
    case State::over:
      return;
    default:
      if ((epoll_events & EPOLLOUT) != 0) writer_.flush(*transport_);
      report_gap();
      if ((epoll_events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0 || wants_write_) fill(now);
  }
  update_interest();
}

void StreamSocket::check_time(Nanos now) {
  if (deadline_ != Nanos{} && now >= deadline_) {
    deadline_ = {};
    if (state_ == State::connecting) connect_to_next(now);
    if (state_ == State::lingering) give_up();
  }
  if (state_ == State::over) return;
  if (unreported_) report_held();
  if (resting_ && !flood_.resting(now)) {
    resting_ = false;
    flood_.go_on(now);
    resume(now);
  } else if (unfinished_) {
    fill(now);
  }
  update_interest();
}

bool StreamSocket::reads() const {
  switch (state_) {
    case State::open:
      return !held_ && !resting_ && !refused_ && !behind_ && gathered_.size() < kMaxGathered;
    case State::upgrading:
    case State::closing:
    case State::lingering:
      return true;
    default:
      return false;
  }
}

void StreamSocket::update_interest() {
  if (!fd_.open()) return;
  uint32_t wanted = 0;
  if (state_ == State::connecting) {
    wanted = EPOLLOUT;
  } else if (state_ == State::securing) {
    wanted = wants_write_ ? EPOLLOUT : EPOLLIN;
  } else {
    if (reads()) wanted |= EPOLLIN;
    if (writer_.pending() || wants_write_) wanted |= EPOLLOUT;
  }
  if (interest_ == wanted) return;
  epoll_event event{};
  event.events = wanted;
  event.data.u64 = handle_;
  const bool is_new = !interest_;
  interest_ = wanted;
  if (::epoll_ctl(world_.epoll, is_new ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, fd_.get(), &event) == 0) return;
  // Without events, the connection would never end. Only the first call fails: descriptors or watches are
  // exhausted.
  if (is_new) failed_to_connect({TransportFailure::Kind::system, static_cast<uint32_t>(errno), ""});
}

// ---------------------------------------------------------------- writing

void StreamSocket::media(std::span<uint8_t> message, Nanos now) {
  // `start` must be sent first, even if commands are delayed because too many are waiting.
  if (state_ != State::open || writer_.messages_numbered() == 0) return;
  world_.counters.media_sent.fetch_add(1, std::memory_order_relaxed);
  writer_.observe(fd_.get());
  writer_.set_time(now);
  send(message, true);
}

void StreamSocket::send(std::span<uint8_t> text, bool is_media) {
  if (state_ != State::open) return;
  writer_.number(text);
  write_frame(Opcode::text, text, is_media);
  update_interest();
}

void StreamSocket::ping() {
  if (state_ != State::open) return;
  pinged_ = true;
  writer_.ping(*transport_);
  update_interest();
}

void StreamSocket::write_frame(Opcode opcode, Bytes payload, bool is_media) {
  const FrameWriter::Outcome outcome = writer_.write(*transport_, opcode, payload, is_media);
  if (is_media) mailbox_->media_dropped.store(writer_.media_dropped(), std::memory_order_relaxed);
  report_gap();
  if (outcome.degraded > 0) report(SocketEvent::degraded, static_cast<uint8_t>(outcome.degraded));
  if (!outcome.refused || overrun_) return;
  overrun_ = true;
  report(SocketEvent::overrun);
}

/// Reports dropped audio once the bot reads again.
void StreamSocket::report_gap() {
  if (writer_.take_gap() > 0) report(SocketEvent::dropped);
}

void StreamSocket::give_up_media() {
  writer_.drop_media();
  mailbox_->media_dropped.store(writer_.media_dropped(), std::memory_order_relaxed);
}

// ---------------------------------------------------------------- ends

void StreamSocket::close(uint16_t code, std::string_view reason, std::span<uint8_t> last, Nanos now) {
  if (state_ != State::open) {
    drop();
    return;
  }
  input_.reset();
  give_up_media();
  if (!last.empty()) send(last, false);
  write_frame(Opcode::close, close_payload(code, reason), false);
  state_ = State::closing;
  held_ = resting_ = refused_ = false;
  gathered_.clear();
  behind_.reset();
  kept_bytes_ = 0;
  reader_.skip_messages();
  static_cast<void>(share_.hold(0));
  resume(now);
  update_interest();
}

void StreamSocket::drop() {
  ended_ = true;
  give_up();
}

void StreamSocket::peer_closed(uint16_t code, Bytes reason, Nanos now) {
  if (state_ == State::open) {
    const std::vector<uint8_t> answer =
        code == close_code::kNone ? std::vector<uint8_t>() : close_payload(code, "");
    give_up_media();
    write_frame(Opcode::close, answer, false);
  }
  end(SocketEnd::closed, code, reason);
  linger(now);
}

void StreamSocket::protocol_fault(const MessageReader::Item& item, Nanos now) {
  if (item.close_code == close_code::kTooBig) {
    refuse_message(Oversize::message);
    return;
  }
  if (state_ == State::open) {
    give_up_media();
    write_frame(Opcode::close, close_payload(item.close_code, ""), false);
  }
  end(SocketEnd::fault, item.close_code, bytes_of(item.fault));
  linger(now);
}

void StreamSocket::linger(Nanos now) {
  state_ = State::lingering;
  input_.reset();
  deadline_ = now + kLinger;
}

void StreamSocket::lost(const IoResult& result) {
  const bool before_open = state_ == State::securing || state_ == State::upgrading;
  if (result.kind == IoResult::Kind::failed) {
    failed_to_connect(transport_->failure());
  } else if (before_open) {
    constexpr std::string_view kWords = "the connection closed before the upgrade response";
    end(SocketEnd::other, 0, bytes_of(kWords));
  } else {
    end(SocketEnd::broken, 0, {});
  }
  give_up();
}

void StreamSocket::give_up() {
  state_ = State::over;
  input_.reset();
  transport_.reset();
  fd_.reset();
}

void StreamSocket::end(SocketEnd how, uint16_t code, Bytes payload) {
  if (ended_) return;
  ended_ = true;
  report(SocketEvent::ended, static_cast<uint8_t>(how), code, payload);
}

bool StreamSocket::report(SocketEvent event, uint8_t a, uint16_t b, Bytes payload) {
  const size_t reserve = is_urgent(event) ? 0 : world_.events.capacity() / kReservedPart;
  return world_.events.put({static_cast<uint8_t>(event), a, b, handle_}, payload, reserve);
}

}  // namespace carillon
