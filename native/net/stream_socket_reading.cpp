// StreamSocket: reads messages from a bot.
#include <algorithm>
#include <utility>

#include "net/stream_socket.hpp"

namespace carillon {

namespace {

/// Maximum bytes read per socket and visit, so that a flood does not delay other sockets.
constexpr size_t kMaxBytesPerVisit = 256 * 1024;
/// Maximum bytes per visit while closing, when the bot's data must be read but is discarded.
constexpr size_t kMaxBytesPerLastVisit = 64 * 1024;
/// Buffer size above which memory is released.
constexpr size_t kKeptInboxBytes = 16 * 1024;

std::string_view text_of(Bytes bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

}  // namespace

void StreamSocket::fill(Nanos now) {
  unfinished_ = false;
  wants_write_ = false;
  size_t total = 0;
  const bool ending = state_ == State::closing || state_ == State::lingering;
  const size_t most = ending ? kMaxBytesPerLastVisit : kMaxBytesPerVisit;
  while (reads()) {
    if (total >= most) {
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

/// Parses received bytes. Usually they are parsed in the read buffer, and only an incomplete frame is copied.
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

/// Returns the number of parsed bytes.
size_t StreamSocket::digest(Bytes input, Nanos now) {
  size_t at = 0;
  while (reads()) {
    if (state_ == State::lingering) return input.size();
    const MessageReader::Item item = reader_.next(input.subspan(at));
    if (item.kind == MessageReader::Kind::incomplete) break;
    at += item.consumed;
    take(item, now);
    reader_.release();
    keep_to_budget();
  }
  hold();
  return at;
}

void StreamSocket::take(const MessageReader::Item& item, Nanos now) {
  switch (item.kind) {
    case MessageReader::Kind::incomplete:
      break;
    case MessageReader::Kind::part:
      static_cast<void>(meter(item.consumed, now, 0));
      break;
    case MessageReader::Kind::fragment:
      static_cast<void>(meter(item.consumed, now));
      break;
    case MessageReader::Kind::message:
      message(item, now);
      break;
    case MessageReader::Kind::ping:
      if (state_ != State::open || !meter(item.consumed, now)) break;
      write_frame(Opcode::pong, item.payload, false);
      break;
    case MessageReader::Kind::pong:
      if (state_ != State::open || !meter(item.consumed, now)) break;
      writer_.answered(*transport_, item.payload);
      report_gap();
      if (!pinged_) break;
      pinged_ = false;
      report(SocketEvent::pong);
      break;
    case MessageReader::Kind::close:
      hold();  // report earlier messages before the end
      peer_closed(item.close_code, item.payload, now);
      break;
    case MessageReader::Kind::fault:
      hold();
      protocol_fault(item, now);
      break;
  }
}

/// Applies the rate limit. Returns false if the bot must be disconnected for flooding.
bool StreamSocket::meter(size_t bytes, Nanos now, unsigned messages) {
  if (state_ != State::open) return true;
  const FloodMeter::Verdict verdict = flood_.count(bytes, now, messages);
  if (verdict == FloodMeter::Verdict::fine) return true;
  resting_ = true;
  if (verdict == FloodMeter::Verdict::first_rest) report(SocketEvent::flooding);
  if (verdict != FloodMeter::Verdict::flooded) return true;
  report(SocketEvent::flooded);
  return false;
}

void StreamSocket::message(const MessageReader::Item& item, Nanos now) {
  if (state_ != State::open) return;
  world_.counters.messages_received.fetch_add(1, std::memory_order_relaxed);
  if (!meter(item.consumed, now)) return;
  if (input_ && item.is_text) {
    const std::string_view text = text_of(item.payload);
    if (gathered_.empty()) {
      if (play(text)) return;
    } else if (StreamInput::is_play(text)) {
      behind_ = reader_.take(item);
      if (behind_->size() > BudgetShare::kFree) kept_bytes_ += behind_->size();
      return;
    }
    // Silences the line with its next frame. The control thread processes the message like any other.
    if (input_->is_clear(text)) input_->clear();
  }
  gather(reader_.take(item));
}

/// Returns false if the message is not audio.
bool StreamSocket::play(std::string_view text) {
  const unsigned before = input_->fill_percent();
  const PlayResult result = input_->receive(text);
  if (result == PlayResult::other) return false;
  if (result == PlayResult::taken) {
    report_fill(before);
  } else {
    report(SocketEvent::fault, static_cast<uint8_t>(result));
  }
  return true;
}

void StreamSocket::gather(std::vector<uint8_t> message) {
  if (message.size() > BudgetShare::kFree) kept_bytes_ += message.size();
  gathered_.push_back(std::move(message));
}

/// Charges the bot's held messages, including the current one, to the account's budget.
void StreamSocket::keep_to_budget() {
  if (state_ == State::open && !refused_ && !share_.hold(reader_.expected() + kept_bytes_)) {
    refuse_message(Oversize::account);
  }
}

/// Stops reading. The control thread informs the bot and closes the connection.
void StreamSocket::refuse_message(Oversize what) {
  if (state_ != State::open || refused_) return;
  hold();  // report earlier messages before this error
  refused_ = true;
  reader_.skip_messages();
  report(SocketEvent::oversized, static_cast<uint8_t>(what));
}

/// Passes all messages of one read to the control thread together, which costs one wake-up.
void StreamSocket::hold() {
  if (gathered_.empty()) return;
  mailbox_->messages = std::exchange(gathered_, {});
  held_ = true;
  report_held();
}

void StreamSocket::report_held() { unreported_ = !report(SocketEvent::messages); }

void StreamSocket::proceed(Nanos now) {
  if (!held_) return;
  held_ = false;
  kept_bytes_ = 0;
  if (behind_) {
    std::vector<uint8_t> audio = *std::exchange(behind_, std::nullopt);
    if (input_ && !play(text_of(audio))) gather(std::move(audio));
    hold();
  }
  keep_to_budget();
  resume(now);
  update_interest();
}

/// Processes data that is already buffered here or by TLS, because the socket will not become readable for
/// it.
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
    report_fill(before);
  } else {
    report(SocketEvent::fault, static_cast<uint8_t>(result));
  }
}

void StreamSocket::clear() {
  if (input_) input_->clear();
}

void StreamSocket::checkpoint(uint32_t id) {
  if (input_) input_->checkpoint(id);
}

void StreamSocket::report_fill(unsigned before) {
  fill_levels_.changed(before, input_->fill_percent(), [this](unsigned percent) {
    report(SocketEvent::degraded, static_cast<uint8_t>(percent));
  });
}

}  // namespace carillon
