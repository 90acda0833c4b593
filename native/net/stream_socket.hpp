// One WebSocket towards a bot, on the thread of the stream sockets: connection, TLS, upgrade, frames.
//
// Audio passes by the control thread: `media` comes from a media thread, a plain `playAudio` goes into the
// stream's playback queue. Other messages are handed to the control thread, and no audio behind them is
// taken, until it has dealt with them: so a bot's messages take effect in the order in which it sent them.
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

/// What a socket tells the control thread. `handle` is the socket's.
enum class SocketEvent : uint8_t {
  upgrade_answered = 32,  // payload: head of the HTTP response, to be judged
  messages = 33,          // they are in the mailbox
  fault = 34,             // a: PlayResult of a playAudio
  pong = 35,              // the first after a ping of ours
  flooding = 36,
  flooded = 37,
  degraded = 38,   // a: percent
  overrun = 39,    // more control messages wait than may
  ended = 40,      // a: SocketEnd; b: close code; payload: words, or u32 number
  oversized = 41,  // a: Oversize; nothing more is read until close()
  dropped = 42,    // media was dropped, and nothing waits any more; how much, the mailbox says
};

/// What a message of a bot was too long for.
enum class Oversize : uint8_t { message = 0, account = 1 };

enum class SocketEnd : uint8_t {
  system = 0,       // u32 errno
  certificate = 1,  // u32 X509_V_ERR_*
  other = 2,        // words: no connection came about
  closed = 3,       // the peer closed: code and reason
  broken = 4,       // the connection is gone without a closing handshake
  fault = 5,        // the peer broke the protocol: words
};

/// Shared with the control thread.
struct SocketMailbox {
  /// Written before a `messages` event is told, left alone until proceed().
  std::vector<std::vector<uint8_t>> messages;
  std::atomic<uint64_t> media_dropped{0};
};

struct SocketOptions {
  /// Tried in their order.
  std::vector<Address> addresses;
  /// Empty: no TLS.
  std::string secure_host;
  /// The whole upgrade request (RFC 6455 §4.1).
  std::vector<uint8_t> request;
  size_t max_message_bytes = 0;
  /// Whose budget its messages count against, and how many bytes that has.
  std::string account;
  size_t account_message_bytes = 0;
  SendQueue::Limits send_queue;
  FloodLimits flood;
};

/// What the sockets of one thread share; the budgets are those of all threads.
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
  /// The socket can be read or written, as epoll says.
  void ready(uint32_t epoll_events, Nanos now);
  /// Time limits and rests; call every few milliseconds.
  void check_time(Nanos now);
  /// Nothing is left to be done: destroy it.
  [[nodiscard]] bool over() const { return state_ == State::over; }

  // --- from the control thread, by command ---
  /// The response to the upgrade is in order.
  void accept(Nanos now);
  /// A message of ours; its sequence number is filled in here.
  void send(std::span<uint8_t> text, bool is_media);
  void ping();
  /// From now on playAudio is taken here.
  void attach(std::unique_ptr<StreamInput> input) { input_ = std::move(input); }
  /// Of an attached stream.
  void enqueue(const StreamFormat& format, Bytes audio);
  void clear();
  void checkpoint(uint32_t id);
  /// The messages in the mailbox have been dealt with.
  void proceed(Nanos now);
  /// `last` is the last message, if there is one; media that waits is given up.
  void close(uint16_t code, std::string_view reason, std::span<uint8_t> last, Nanos now);
  void drop();

  // --- from a media thread, by its feed ---
  void media(std::span<uint8_t> message);

 private:
  enum class State : uint8_t {
    connecting,
    securing,
    upgrading,  // the request is on its way, or its answer is
    judged,     // the answer is at the control thread
    open,
    closing,    // our close frame is sent, or waits to be
    lingering,  // all is said; the peer may close the connection first
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
  void tell_gap();
  void tell_fill(unsigned before);
  void lost(const IoResult& result);
  void failed_to_connect(const TransportFailure& failure);
  void linger(Nanos now);
  void end(SocketEnd how, uint16_t code, Bytes payload);
  bool tell(SocketEvent event, uint8_t a = 0, uint16_t b = 0, Bytes payload = {});
  void tell_held();
  void give_up();
  void update_interest();
  [[nodiscard]] bool reads() const;

  // Given.
  uint32_t handle_;
  SocketOptions options_;
  std::shared_ptr<SocketMailbox> mailbox_;
  SocketWorld& world_;
  // Owned.
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
  // State.
  State state_ = State::connecting;
  /// What epoll was told; nothing: it does not know the descriptor yet.
  std::optional<uint32_t> interest_;
  bool wants_write_ = false;
  /// 0: none.
  Nanos deadline_{};
  /// Messages for the control thread, gathered from one read.
  std::vector<std::vector<uint8_t>> gathered_;
  /// Audio that came behind them.
  std::optional<std::vector<uint8_t>> behind_;
  /// Of the gathered, of those in the mailbox, and of the audio behind them: bytes of the long ones.
  size_t kept_bytes_ = 0;
  /// Messages are in the mailbox.
  bool held_ = false;
  bool resting_ = false;
  /// The control thread does not know of it yet: the ring was full.
  bool untold_ = false;
  /// More may be there than one visit takes.
  bool unfinished_ = false;
  bool overrun_ = false;
  /// A message was too long: the control thread has yet to close.
  bool refused_ = false;
  /// A ping of ours is not answered yet.
  bool pinged_ = false;
  bool ended_ = false;
  /// Received, not yet understood.
  std::vector<uint8_t> inbox_;
};

}  // namespace carillon
