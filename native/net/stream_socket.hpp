// WebSocket to a bot, on a stream socket thread: connection, TLS, upgrade and frames.
//
// Audio bypasses the control thread: `media` comes from a media thread, and a simple `playAudio` goes into
// the stream's playback queue. Other messages are passed to the control thread, and audio after them waits
// until they are processed. A bot's messages thus take effect in the order in which it sent them.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/address.hpp"
#include "core/stream/stream_input.hpp"
#include "core/websocket/flood_meter.hpp"
#include "core/websocket/frame.hpp"
#include "core/websocket/upgrade_head.hpp"
#include "engine/file_descriptor.hpp"
#include "engine/record_ring.hpp"
#include "net/connector.hpp"
#include "net/fill_levels.hpp"
#include "net/frame_writer.hpp"
#include "net/mask_source.hpp"
#include "net/message_budget.hpp"
#include "net/transport.hpp"

namespace carillon {

/// Events for the control thread. `handle` is the socket's handle.
enum class SocketEvent : uint8_t {
  upgrade_answered = 32,  // payload: response head, for validation
  messages = 33,          // messages are in the mailbox
  fault = 34,             // a: PlayResult of a playAudio
  pong = 35,              // first pong after one of our pings
  flooding = 36,
  flooded = 37,
  degraded = 38,   // a: percent
  overrun = 39,    // too many control messages are waiting
  ended = 40,      // a: SocketEnd; b: close code; payload: text, or u32 number
  oversized = 41,  // a: Oversize; reading stops until close()
  dropped = 42,    // media was dropped and the queue is empty; the mailbox has the count
};

/// Limit that a bot's message exceeded.
enum class Oversize : uint8_t { message = 0, account = 1 };

enum class SocketEnd : uint8_t {
  system = 0,       // u32 errno
  certificate = 1,  // u32 X509_V_ERR_*
  other = 2,        // text: no connection was established
  closed = 3,       // the peer closed: code and reason
  broken = 4,       // the connection ended without a closing handshake
  fault = 5,        // protocol violation by the peer: text
};

/// State shared with the control thread.
struct SocketMailbox {
  /// Messages, written before a `messages` event and not touched until proceed().
  std::vector<std::vector<uint8_t>> messages;
  std::atomic<uint64_t> media_dropped{0};
};

struct SocketOptions {
  /// Addresses, tried in this order.
  std::vector<Address> addresses;
  /// Host name for TLS. Empty: no TLS.
  std::string secure_host;
  /// Complete upgrade request (RFC 6455 §4.1).
  std::vector<uint8_t> request;
  size_t max_message_bytes = 0;
  /// Account whose budget the messages count against, and the size of that budget in bytes.
  std::string account;
  size_t account_message_bytes = 0;
  SendQueue::Limits send_queue;
  FloodLimits flood;
};

/// State that the sockets of one thread share. The budgets are shared by all threads.
struct SocketWorld {
  struct Counters {
    std::atomic<uint64_t> media_sent{0};
    std::atomic<uint64_t> messages_received{0};
  };
  RecordRing& events;
  const SecureTransports& secure;
  int epoll;
  MaskSource masks;
  Counters counters;
  std::vector<uint8_t> scratch;
  MessageBudgets& budgets;
};

class StreamSocket {
 public:
  StreamSocket(uint32_t handle, SocketOptions options, std::shared_ptr<SocketMailbox> mailbox,
               SocketWorld& world);

  void start(Nanos now) { connect_to_next(now); }
  /// Handles the readiness events of epoll.
  void ready(uint32_t epoll_events, Nanos now);
  /// Checks timeouts and pauses. Call every few milliseconds.
  void check_time(Nanos now);
  /// Returns true if the socket is finished and can be destroyed.
  [[nodiscard]] bool over() const { return state_ == State::over; }
  /// Returns true if ready() would continue a TLS handshake.
  [[nodiscard]] bool is_securing() const {
    return state_ == State::securing || (state_ == State::connecting && !options_.secure_host.empty());
  }

  // --- commands from the control thread ---
  /// Accepts the upgrade response as valid.
  void accept(Nanos now);
  /// Sends a message after filling in its sequence number.
  void send(std::span<uint8_t> text, bool is_media);
  void ping();
  /// Connects the playback queue that receives playAudio.
  void attach(std::unique_ptr<StreamInput> input) { input_ = std::move(input); }
  /// Queues audio or clears the queue of an attached stream.
  void enqueue(const StreamFormat& format, Bytes audio);
  void clear();
  void checkpoint(uint32_t id);
  /// Continues after the messages in the mailbox were processed.
  void proceed(Nanos now);
  /// Closes the connection and drops waiting media. `last`: final message, or empty.
  void close(uint16_t code, std::string_view reason, std::span<uint8_t> last, Nanos now);
  void drop();

  // --- from a media thread through its feed ---
  void media(std::span<uint8_t> message, Nanos now);

 private:
  enum class State : uint8_t {
    connecting,
    securing,
    upgrading,  // sending the request or waiting for the response
    judged,     // the control thread validates the response
    open,
    closing,    // the close frame is sent or queued
    lingering,  // closing handshake done; the peer may close the connection first
    over,
  };

  void connect_to_next(Nanos now);
  void connected(Nanos now);
  void handshake();
  void request_upgrade();
  void take_head();
  void fill(Nanos now);
  void take_in(Bytes bytes, Nanos now);
  size_t digest(Bytes input, Nanos now);
  void take(const MessageReader::Item& item, Nanos now);
  void message(const MessageReader::Item& item, Nanos now);
  bool play(std::string_view text);
  void gather(std::vector<uint8_t> message);
  void hold();
  void keep_to_budget();
  void refuse_message(Oversize what);
  bool meter(size_t bytes, Nanos now, unsigned messages = 1);
  void resume(Nanos now);
  void peer_closed(uint16_t code, Bytes reason, Nanos now);
  void protocol_fault(const MessageReader::Item& item, Nanos now);
  void write_frame(Opcode opcode, Bytes payload, bool is_media);
  void give_up_media();
  void report_gap();
  void report_fill(unsigned before);
  void lost(const IoResult& result);
  void failed_to_connect(const TransportFailure& failure);
  void linger(Nanos now);
  void end(SocketEnd how, uint16_t code, Bytes payload);
  bool report(SocketEvent event, uint8_t a = 0, uint16_t b = 0, Bytes payload = {});
  void report_held();
  void give_up();
  void update_interest();
  [[nodiscard]] bool reads() const;

  uint32_t handle_;
  SocketOptions options_;
  std::shared_ptr<SocketMailbox> mailbox_;
  SocketWorld& world_;
  Connector connector_;
  FileDescriptor fd_;
  std::unique_ptr<Transport> transport_;
  UpgradeHead head_;
  MessageReader reader_;
  BudgetShare share_;
  FrameWriter writer_;
  FloodMeter flood_;
  std::unique_ptr<StreamInput> input_;
  FillLevels fill_levels_;
  State state_ = State::connecting;
  /// Event mask registered with epoll. Empty: not registered.
  std::optional<uint32_t> interest_;
  bool wants_write_ = false;
  /// Deadline of the current state. 0: none.
  Nanos deadline_{};
  /// Messages for the control thread from one read.
  std::vector<std::vector<uint8_t>> gathered_;
  /// Audio that followed them.
  std::optional<std::vector<uint8_t>> behind_;
  /// Bytes of long messages: gathered, in the mailbox, and audio behind them.
  size_t kept_bytes_ = 0;
  /// True if messages are in the mailbox.
  bool held_ = false;
  bool resting_ = false;
  /// True if the mailbox event could not be reported because the ring was full.
  bool unreported_ = false;
  /// True if more data may be available than one visit reads.
  bool unfinished_ = false;
  bool overrun_ = false;
  /// True if a message was too long. The control thread must close the connection.
  bool refused_ = false;
  /// True if a ping of ours is unanswered.
  bool pinged_ = false;
  bool ended_ = false;
  /// Received bytes that have not been parsed.
  std::vector<uint8_t> inbox_;
};

}  // namespace carillon
