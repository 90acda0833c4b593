#include "net/stream_socket.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "core/stream/media_message.hpp"
#include "core/stream/play_message.hpp"
#include "engine/socket_address.hpp"

namespace carillon {

namespace {

/// One address of several may be dead: the next gets its turn while there is still time for it.
constexpr Nanos kConnectAttempt = 2500 * kMillisecond;
/// How long the peer may take to close the connection once all is said (RFC 6455 §7.1.1).
constexpr Nanos kLinger = 2 * kSecond;
/// The kernel takes about half a second of audio; what a bot does not read waits here, where it can be
/// dropped.
constexpr int kSendBuffer = 32 * 1024;
constexpr size_t kMaxHeadBytes = 16 * 1024;
/// Of one socket in one visit, so that a flood does not keep the others waiting.
constexpr size_t kMaxBytesPerVisit = 256 * 1024;
/// An inbox that has been larger is given back.
constexpr size_t kKeptInboxBytes = 16 * 1024;
/// Messages that the control thread gets in one piece.
constexpr size_t kMaxGathered = 256;

Bytes bytes_of(std::string_view text) { return {reinterpret_cast<const uint8_t*>(text.data()), text.size()}; }

std::string_view text_of(Bytes bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

/// Faults and fill levels may not use this part of the event ring: what ends a stream always finds room.
constexpr size_t kReservedPart = 4;

/// Told once, and somebody waits for it.
bool is_urgent(SocketEvent event) {
  switch (event) {
    case SocketEvent::upgrade_answered:
    case SocketEvent::pong:
    case SocketEvent::flooded:
    case SocketEvent::overrun:
    case SocketEvent::ended:
      return true;
    default:
      return false;
  }
}

/// 100 Continue, 103 Early Hints and their like: the answer is still to come (RFC 9110 §15.2).
bool is_interim(std::string_view head) {
  constexpr size_t kStatusAt = std::string_view("HTTP/1.1 ").size();
  return head.starts_with("HTTP/1.") && head.substr(std::min(kStatusAt, head.size())).starts_with('1') &&
         head.substr(kStatusAt, 3) != "101";
}

FileDescriptor open_socket(sa_family_t family) {
  FileDescriptor fd(::socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_TCP));
  if (!fd.open()) return fd;
  const int on = 1;
  ::setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  ::setsockopt(fd.get(), SOL_SOCKET, SO_SNDBUF, &kSendBuffer, sizeof(kSendBuffer));
  return fd;
}

}  // namespace

StreamSocket::StreamSocket(uint32_t handle, SocketOptions options, std::shared_ptr<SocketMailbox> mailbox,
                           SocketWorld& world)
    : handle_(handle),
      options_(std::move(options)),
      mailbox_(std::move(mailbox)),
      world_(world),
      reader_(options_.max_message_bytes),
      outbox_(options_.outbox),
      flood_(options_.flood) {}

// ---------------------------------------------------------------- connection

void StreamSocket::connect_to_next(Nanos now) {
  state_ = State::connecting;
  interest_.reset();
  while (next_address_ < options_.addresses.size()) {
    sockaddr_storage name{};
    const socklen_t length = to_sockaddr(options_.addresses[next_address_++], name);
    fd_ = open_socket(name.ss_family);
    if (fd_.open() && (::connect(fd_.get(), reinterpret_cast<const sockaddr*>(&name), length) == 0 ||
                       errno == EINPROGRESS)) {
      const bool others = next_address_ < options_.addresses.size();
      deadline_ = others ? now + kConnectAttempt : 0;
      update_interest();
      return;
    }
    connect_error_ = errno;
  }
  if (connect_error_ == 0) {
    failed_to_connect({TransportFailure::Kind::other, 0, "there is no address to connect to"});
  } else {
    failed_to_connect({TransportFailure::Kind::system, static_cast<uint32_t>(connect_error_), ""});
  }
}

void StreamSocket::connected(Nanos now) {
  int error = 0;
  socklen_t length = sizeof(error);
  ::getsockopt(fd_.get(), SOL_SOCKET, SO_ERROR, &error, &length);
  if (error != 0) {
    connect_error_ = error;
    connect_to_next(now);
    return;
  }
  deadline_ = 0;
  if (options_.secure_host.empty()) {
    transport_ = make_tcp_transport(fd_.get());
  } else if (world_.secure) {
    transport_ = world_.secure(fd_.get(), options_.secure_host);
  }
  if (!transport_) {
    failed_to_connect({TransportFailure::Kind::other, 0, "there is no TLS here"});
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
  unsent_ = std::move(options_.request);
  flush();
}

void StreamSocket::take_head() {
  constexpr std::string_view kEnd = "\r\n\r\n";
  while (true) {
    const std::string_view received = text_of(inbox_);
    const size_t end = received.find(kEnd);
    const std::string_view head = received.substr(0, end);
    if (head_bytes_ + head.size() > kMaxHeadBytes) {
      failed_to_connect({TransportFailure::Kind::other, 0, "the answer to the upgrade is too long"});
      return;
    }
    if (end == std::string_view::npos) return;
    const bool interim = is_interim(head);
    if (!interim) {
      state_ = State::judged;
      tell(SocketEvent::upgrade_answered, 0, 0, bytes_of(head));
    }
    head_bytes_ += end + kEnd.size();
    inbox_.erase(inbox_.begin(), inbox_.begin() + static_cast<std::ptrdiff_t>(end + kEnd.size()));
    if (!interim) return;
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
      // What the peer sent along with the end of its handshake is inside of TLS already.
      if (state_ == State::upgrading) fill(now);
      break;
    case State::over:
      return;
    default:
      if ((epoll_events & EPOLLOUT) != 0) flush();
      if ((epoll_events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0 || wants_write_) fill(now);
  }
  update_interest();
}

void StreamSocket::check_time(Nanos now) {
  if (deadline_ != 0 && now >= deadline_) {
    deadline_ = 0;
    if (state_ == State::connecting) connect_to_next(now);
    if (state_ == State::lingering) give_up();
  }
  if (state_ == State::over) return;
  if (untold_) tell_held();
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
      return !held_ && !resting_ && !behind_ && gathered_.size() < kMaxGathered;
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
    if (!unsent_.empty() || wants_write_) wanted |= EPOLLOUT;
  }
  if (interest_ == wanted) return;
  epoll_event event{};
  event.events = wanted;
  event.data.u64 = handle_;
  ::epoll_ctl(world_.epoll, interest_ ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, fd_.get(), &event);
  interest_ = wanted;
}

// ---------------------------------------------------------------- reading

void StreamSocket::fill(Nanos now) {
  unfinished_ = false;
  wants_write_ = false;
  size_t total = 0;
  while (reads()) {
    if (total >= kMaxBytesPerVisit) {
      unfinished_ = true;
      return;
    }
    const IoResult result = transport_->read(world_.scratch);
    switch (result.kind) {
      case IoResult::Kind::done:
        total += result.bytes;
        take_in(Bytes(world_.scratch).first(result.bytes), now);
        if (state_ == State::over) return;
        if (result.bytes < world_.scratch.size() && !transport_->has_pending()) return;
        break;
      case IoResult::Kind::wants_read:
        return;
      case IoResult::Kind::wants_write:
        wants_write_ = true;
        return;
      case IoResult::Kind::ended:
      case IoResult::Kind::failed:
        lost(result);
        return;
    }
  }
}

/// Usually all of it is understood where it was read to; only the rest of an incomplete frame is copied.
void StreamSocket::take_in(Bytes bytes, Nanos now) {
  if (state_ == State::lingering) return;
  if (inbox_.empty() && state_ != State::upgrading) {
    const Bytes rest = bytes.subspan(digest(bytes, now));
    inbox_.assign(rest.begin(), rest.end());
    return;
  }
  inbox_.insert(inbox_.end(), bytes.begin(), bytes.end());
  if (state_ == State::upgrading) {
    take_head();
    return;
  }
  const size_t used = digest(inbox_, now);
  inbox_.erase(inbox_.begin(), inbox_.begin() + static_cast<std::ptrdiff_t>(used));
  if (inbox_.empty() && inbox_.capacity() > kKeptInboxBytes) std::vector<uint8_t>().swap(inbox_);
}

/// Bytes that are done with.
size_t StreamSocket::digest(Bytes input, Nanos now) {
  size_t at = 0;
  while (reads()) {
    if (state_ == State::lingering) return input.size();
    const MessageReader::Item item = reader_.next(input.subspan(at));
    if (item.kind == MessageReader::Kind::incomplete) break;
    at += item.consumed;
    take(item, now);
  }
  hold();
  return at;
}

void StreamSocket::take(const MessageReader::Item& item, Nanos now) {
  switch (item.kind) {
    case MessageReader::Kind::incomplete:
      break;
    case MessageReader::Kind::fragment:
      static_cast<void>(meter(item.payload.size(), now));
      break;
    case MessageReader::Kind::message:
      message(item, now);
      break;
    case MessageReader::Kind::ping:
      if (state_ != State::open || !meter(item.payload.size(), now)) break;
      write_frame(Opcode::pong, item.payload, false);
      break;
    case MessageReader::Kind::pong:
      if (state_ != State::open || !meter(item.payload.size(), now) || !pinged_) break;
      pinged_ = false;
      tell(SocketEvent::pong);
      break;
    case MessageReader::Kind::close:
      hold();  // what was said before the end is told before it
      peer_closed(item.close_code, item.payload, now);
      break;
    case MessageReader::Kind::fault:
      hold();
      protocol_fault(item, now);
      break;
  }
}

/// False: the bot has flooded the socket, nothing more is taken from it.
bool StreamSocket::meter(size_t bytes, Nanos now) {
  if (state_ != State::open) return true;
  const FloodMeter::Verdict verdict = flood_.count(bytes, now);
  if (verdict == FloodMeter::Verdict::fine) return true;
  resting_ = true;
  if (verdict == FloodMeter::Verdict::first_rest) tell(SocketEvent::flooding);
  if (verdict != FloodMeter::Verdict::flooded) return true;
  tell(SocketEvent::flooded);
  return false;
}

void StreamSocket::message(const MessageReader::Item& item, Nanos now) {
  if (state_ != State::open) return;
  world_.counters.messages_received.fetch_add(1, std::memory_order_relaxed);
  if (!meter(item.payload.size(), now)) return;
  if (input_ && item.is_text) {
    const std::string_view text = text_of(item.payload);
    if (gathered_.empty()) {
      if (play(text)) return;
    } else if (StreamInput::is_play(text)) {
      behind_.emplace(item.payload.begin(), item.payload.end());
      return;
    }
    // The line falls silent with its next frame; the rest of it is the control thread's, as of any message.
    if (input_->is_clear(text)) input_->clear();
  }
  gather(item.payload);
}

/// False: it is not audio.
bool StreamSocket::play(std::string_view text) {
  const unsigned before = input_->fill_percent();
  const PlayResult result = input_->receive(text);
  if (result == PlayResult::other) return false;
  if (result == PlayResult::taken) {
    tell_fill(before);
  } else {
    tell(SocketEvent::fault, static_cast<uint8_t>(result));
  }
  return true;
}

void StreamSocket::gather(Bytes bytes) { gathered_.emplace_back(bytes.begin(), bytes.end()); }

/// What one read has brought goes to the control thread in one piece: it costs a turn, not one a message.
void StreamSocket::hold() {
  if (gathered_.empty()) return;
  mailbox_->messages = std::exchange(gathered_, {});
  held_ = true;
  tell_held();
}

void StreamSocket::tell_held() { untold_ = !tell(SocketEvent::messages); }

void StreamSocket::proceed(Nanos now) {
  if (!held_) return;
  held_ = false;
  if (behind_) {
    const std::vector<uint8_t> audio = *std::exchange(behind_, std::nullopt);
    if (input_ && !play(text_of(audio))) gather(audio);
    hold();
  }
  resume(now);
  update_interest();
}

/// What has been received in the meantime, here or inside of TLS, makes no socket readable again.
void StreamSocket::resume(Nanos now) {
  if (!reads()) return;
  if (!inbox_.empty()) take_in({}, now);
  if (reads()) fill(now);
}

// ---------------------------------------------------------------- audio of the bot

void StreamSocket::enqueue(const StreamFormat& format, Bytes audio) {
  if (!input_) return;
  const unsigned before = input_->fill_percent();
  const PlayResult result = input_->enqueue(format, audio);
  if (result == PlayResult::taken) {
    tell_fill(before);
  } else {
    tell(SocketEvent::fault, static_cast<uint8_t>(result));
  }
}

void StreamSocket::clear() {
  if (input_) input_->clear();
}

void StreamSocket::checkpoint(uint32_t id) {
  if (input_) input_->checkpoint(id);
}

void StreamSocket::tell_fill(unsigned before) {
  fill_levels_.changed(before, input_->fill_percent(), [this](unsigned percent) {
    tell(SocketEvent::degraded, static_cast<uint8_t>(percent));
  });
}

// ---------------------------------------------------------------- writing

void StreamSocket::number(std::span<uint8_t> text) {
  constexpr std::string_view kHead = MediaMessageWriter::kHead;
  if (text.size() < kHead.size()) return;
  uint32_t rest = sequence_number_++;
  size_t at = kHead.size();
  do {
    text[--at] = static_cast<uint8_t>('0' + rest % 10);
    rest /= 10;
  } while (rest > 0);
}

void StreamSocket::media(std::span<uint8_t> message) {
  // `start` goes first, even when commands are late because too many of them wait.
  if (state_ != State::open || sequence_number_ == 0) return;
  world_.counters.media_sent.fetch_add(1, std::memory_order_relaxed);
  send(message, true);
}

void StreamSocket::send(std::span<uint8_t> text, bool is_media) {
  if (state_ != State::open) return;
  number(text);
  write_frame(Opcode::text, text, is_media);
  update_interest();
}

void StreamSocket::ping() {
  if (state_ != State::open) return;
  pinged_ = true;
  write_frame(Opcode::ping, {}, false);
  update_interest();
}

void StreamSocket::write_frame(Opcode opcode, Bytes payload, bool is_media) {
  if (unsent_.empty() && outbox_.empty()) {
    append_frame(unsent_, opcode, payload, world_.masks.next());
    write_now();
  } else if (is_media) {
    outbox_.put_media(payload);
    mailbox_->media_dropped.store(outbox_.dropped(), std::memory_order_relaxed);
    if (const unsigned percent = outbox_.newly_degraded(); percent > 0) {
      tell(SocketEvent::degraded, static_cast<uint8_t>(percent));
    }
  } else if (!outbox_.put_control(opcode, payload) && !overrun_) {
    overrun_ = true;
    tell(SocketEvent::overrun);
  }
}

/// True when the frame in hand has left. An error of the connection shows when it is read.
bool StreamSocket::write_now() {
  while (unsent_from_ < unsent_.size()) {
    const IoResult result = transport_->write(Bytes(unsent_).subspan(unsent_from_));
    if (result.kind != IoResult::Kind::done) {
      if (result.kind == IoResult::Kind::failed || result.kind == IoResult::Kind::ended) break;
      return false;
    }
    unsent_from_ += result.bytes;
  }
  unsent_.clear();
  unsent_from_ = 0;
  return true;
}

void StreamSocket::flush() {
  while (write_now()) {
    const std::optional<Outbox::Item> item = outbox_.take();
    if (!item) return;
    append_frame(unsent_, item->opcode, item->payload, world_.masks.next());
  }
}

// ---------------------------------------------------------------- ends

void StreamSocket::close(uint16_t code, std::string_view reason, std::span<uint8_t> last, Nanos now) {
  if (state_ != State::open) {
    drop();
    return;
  }
  input_.reset();
  outbox_.drop_media();
  mailbox_->media_dropped.store(outbox_.dropped(), std::memory_order_relaxed);
  if (!last.empty()) send(last, false);
  write_frame(Opcode::close, close_payload(code, reason), false);
  state_ = State::closing;
  held_ = resting_ = false;
  gathered_.clear();
  behind_.reset();
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
    outbox_.drop_media();
    write_frame(Opcode::close, answer, false);
  }
  end(SocketEnd::closed, code, reason);
  linger(now);
}

void StreamSocket::protocol_fault(const MessageReader::Item& item, Nanos now) {
  if (state_ == State::open) {
    outbox_.drop_media();
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
    constexpr std::string_view kWords = "the connection closed before the upgrade was answered";
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
  tell(SocketEvent::ended, static_cast<uint8_t>(how), code, payload);
}

bool StreamSocket::tell(SocketEvent event, uint8_t a, uint16_t b, Bytes payload) {
  const size_t reserve = is_urgent(event) ? 0 : world_.events.capacity() / kReservedPart;
  return world_.events.put({static_cast<uint8_t>(event), a, b, handle_}, payload, reserve);
}

}  // namespace carillon
