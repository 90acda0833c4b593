// Tests one stream socket in virtual time over a scripted transport.
#include "net/stream_socket.hpp"

#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <deque>
#include <string>

#include "test/support/narrow.hpp"

namespace carillon {

namespace {

constexpr std::string_view kUpgrade = "HTTP/1.1 101 Switching Protocols";
constexpr std::string_view kBlank = R"({"sequenceNumber":          ,"event":"x"})";

/// Returns the first bytes of a text frame (RFC 6455 §5.2).
std::string frame_head(uint32_t length) {
  std::string head("\x81\x7f\0\0\0\0", 6);
  for (int shift = 24; shift >= 0; shift -= 8) head.push_back(static_cast<char>(length >> shift));
  return head;
}

/// Scripted data of the peer, and the data it has received.
struct Script {
  std::deque<std::string> says;
  std::deque<IoResult::Kind> before_reads;
  std::string heard;
  bool takes = true;
  /// Number of handshake rounds.
  int rounds = 1;
};

class ScriptedTransport final : public Transport {
 public:
  explicit ScriptedTransport(Script& script) : script_(script) {}
  IoResult handshake() override {
    return {--script_.rounds > 0 ? IoResult::Kind::wants_read : IoResult::Kind::done, 0};
  }
  IoResult read(std::span<uint8_t> out) override {
    if (!script_.before_reads.empty()) {
      const IoResult::Kind kind = script_.before_reads.front();
      script_.before_reads.pop_front();
      return {kind, 0};
    }
    if (script_.says.empty()) return {IoResult::Kind::wants_read, 0};
    const std::string bytes = script_.says.front();
    script_.says.pop_front();
    REQUIRE(bytes.size() <= out.size());
    std::copy(bytes.begin(), bytes.end(), out.begin());
    return {IoResult::Kind::done, bytes.size()};
  }
  IoResult write(Bytes bytes) override {
    if (!script_.takes) return {IoResult::Kind::wants_write, 0};
    script_.heard.append(bytes.begin(), bytes.end());
    return {IoResult::Kind::done, bytes.size()};
  }
  [[nodiscard]] bool has_pending() const override { return !script_.says.empty(); }
  [[nodiscard]] TransportFailure failure() const override { return {}; }

 private:
  Script& script_;
};

/// Socket whose TCP connection goes to a listener that never reads. Received bytes come from the script.
struct Rig {
  Script script;
  SecureTransports secure = [this](int, const std::string&) {
    return std::make_unique<ScriptedTransport>(script);
  };
  RecordRing events{4096};
  FileDescriptor epoll{::epoll_create1(EPOLL_CLOEXEC)};
  MessageBudgets budgets;
  SocketWorld world{events, secure, epoll.get(), {}, {}, std::vector<uint8_t>(65536), budgets};
  FileDescriptor listener{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  std::unique_ptr<StreamSocket> socket;
  Nanos now = kSecond;
  size_t account_bytes = 1'000'000;

  Address listen() const {
    sockaddr_in name{};
    name.sin_family = AF_INET;
    name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof(name);
    REQUIRE(::bind(listener.get(), reinterpret_cast<sockaddr*>(&name), length) == 0);
    REQUIRE(::listen(listener.get(), 8) == 0);
    ::getsockname(listener.get(), reinterpret_cast<sockaddr*>(&name), &length);
    Address address;
    address.family = Address::Family::ipv4;
    std::copy_n(reinterpret_cast<const uint8_t*>(&name.sin_addr), 4, address.ip.begin());
    address.port = ntohs(name.sin_port);
    return address;
  }

  void open(std::vector<Address> addresses) {
    SocketOptions options;
    options.addresses = std::move(addresses);
    options.secure_host = "scripted";
    options.request = {'G', 'E', 'T'};
    options.max_message_bytes = 100'000;
    options.account_message_bytes = account_bytes;
    options.send_queue = {50, 10'000};
    options.flood = {{1e6, 1e6}, {1e9, 1e9}, 30 * kSecond};
    socket = std::make_unique<StreamSocket>(1, options, std::make_shared<SocketMailbox>(), world);
    socket->start(now);
  }

  void readable() { socket->ready(EPOLLIN, now); }

  void open_upgraded() {
    open({listen()});
    socket->ready(EPOLLOUT, now);
    script.says.push_back(std::string(kUpgrade) + "\r\n\r\n");
    readable();
    reported();
    socket->accept(now);
    say(kBlank);
  }

  void say(std::string_view text) const {
    std::vector<uint8_t> bytes(text.begin(), text.end());
    socket->send(bytes, false);
  }

  struct Reported {
    SocketEvent event;
    uint8_t a;
    std::string payload;
  };
  std::vector<Reported> reported() {
    std::vector<Reported> out;
    std::vector<uint8_t> batch(8192);
    const size_t size = events.take(batch);
    for_each_record(std::span(batch).first(size), [&](const Record& record, std::span<uint8_t> payload) {
      out.push_back({static_cast<SocketEvent>(record.type), record.a, {payload.begin(), payload.end()}});
    });
    return out;
  }
};

}  // namespace

TEST_SUITE("stream socket") {
  TEST_CASE("skips interim responses before the final one, in one piece or byte by byte (RFC 9110 §15.2)") {
    const std::string heads = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n" +
                              std::string(kUpgrade) + "\r\n\r\n";
    for (const size_t piece : {heads.size(), size_t{1}}) {
      Rig rig;
      rig.open({rig.listen()});
      rig.socket->ready(EPOLLOUT, rig.now);
      for (size_t at = 0; at < heads.size(); at += piece) rig.script.says.push_back(heads.substr(at, piece));
      rig.readable();
      const auto reported = rig.reported();
      REQUIRE(reported.size() == 1);
      CHECK(reported[0].event == SocketEvent::upgrade_answered);
      CHECK(reported[0].payload == kUpgrade);
    }
  }

  TEST_CASE("limits response heads: unterminated, too long in one piece, or endless interim responses") {
    std::string endless;
    for (int i = 0; i < 2000; ++i) endless += "HTTP/1.1 100 Continue\r\n\r\n";
    for (const std::string& head :
         {std::string(20'000, 'x'), "HTTP/1.1 101 x\r\nX: " + std::string(20'000, 'x') + "\r\n\r\n",
          endless}) {
      Rig rig;
      rig.open({rig.listen()});
      rig.socket->ready(EPOLLOUT, rig.now);
      rig.script.says.push_back(head);
      rig.readable();
      const auto reported = rig.reported();
      REQUIRE(reported.size() == 1);
      CHECK(reported[0].payload == "the upgrade response is too long");
      CHECK(rig.socket->over());
    }
  }

  TEST_CASE("reads data buffered with the end of the TLS handshake although the socket is not readable") {
    Rig rig;
    rig.open({rig.listen()});
    rig.script.rounds = 2;
    rig.script.says.push_back("HTTP/1.1 408 Request Timeout\r\n\r\n");
    rig.socket->ready(EPOLLOUT, rig.now);  // connected
    rig.socket->ready(EPOLLIN, rig.now);
    const auto reported = rig.reported();
    REQUIRE(reported.size() == 1);
    CHECK(reported[0].payload == "HTTP/1.1 408 Request Timeout");
  }

  TEST_CASE("retries a read that waited for the socket to become writable") {
    Rig rig;
    rig.open_upgraded();
    rig.script.before_reads = {IoResult::Kind::wants_write};
    rig.script.says.push_back(std::string("\x81\x02ok", 4));
    rig.readable();
    CHECK(rig.reported().empty());
    rig.socket->ready(EPOLLOUT, rig.now);
    const auto reported = rig.reported();
    REQUIRE(reported.size() == 1);
    CHECK(reported[0].event == SocketEvent::messages);
  }

  TEST_CASE("leaves the mailbox unchanged and reads nothing while the control thread has messages") {
    Rig rig;
    rig.open_upgraded();
    rig.script.says.push_back(
        std::string("\x81\x01"
                    "a",
                    3));
    rig.readable();
    CHECK(rig.reported().size() == 1);
    rig.script.says.push_back(
        std::string("\x81\x01"
                    "b",
                    3));
    rig.readable();
    rig.socket->check_time(rig.now += kSecond);
    CHECK(rig.reported().empty());
    CHECK(rig.script.says.size() == 1);
    rig.socket->proceed(rig.now);
    const auto reported = rig.reported();
    REQUIRE(reported.size() == 1);
    CHECK(reported[0].event == SocketEvent::messages);
  }

  TEST_CASE("sends no media before the first own message") {
    Rig rig;
    rig.open({rig.listen()});
    rig.socket->ready(EPOLLOUT, rig.now);
    rig.script.says.push_back(std::string(kUpgrade) + "\r\n\r\n");
    rig.readable();
    rig.socket->accept(rig.now);
    rig.script.heard.clear();
    std::vector<uint8_t> media(kBlank.begin(), kBlank.end());
    rig.socket->media(media, rig.now);
    CHECK(rig.script.heard.empty());
    rig.say(kBlank);
    const size_t start = rig.script.heard.size();
    CHECK(start > 0);
    rig.socket->media(media, rig.now);
    CHECK(rig.script.heard.size() > start);
  }

  TEST_CASE("reports one pong for each requested ping") {
    Rig rig;
    rig.open_upgraded();
    const std::string pong("\x8a\x00", 2);
    std::string many;
    for (int i = 0; i < 1000; ++i) many += pong;
    rig.script.says.push_back(many);
    rig.readable();
    CHECK(rig.reported().empty());
    rig.socket->ping();
    rig.script.says.push_back(many);
    rig.readable();
    REQUIRE(rig.reported().size() == 1);
  }

  TEST_CASE("keeps space in the event ring for the end despite any number of faults") {
    Rig rig;
    rig.open_upgraded();
    rig.socket->attach(std::make_unique<StreamInput>("s", StreamFormat{},
                                                     std::make_shared<PlaybackQueue>(kNarrowband, 8000)));
    const std::string bad = R"({"event":"playAudio","media":{"payload":"%"}})";
    std::string many;
    for (int i = 0; i < 1000; ++i) many += std::string("\x81") + static_cast<char>(bad.size()) + bad;
    rig.script.says.push_back(many);
    rig.script.says.push_back(std::string("\x88\x02\x03\xe8", 4));
    rig.readable();
    const auto reported = rig.reported();
    REQUIRE(!reported.empty());
    CHECK(reported.front().event == SocketEvent::fault);
    CHECK(reported.back().event == SocketEvent::ended);
    CHECK(rig.events.dropped() > 0);
  }

  TEST_CASE("reports the last messages before the end, although faults fill their part of the event ring") {
    Rig rig;
    rig.open_upgraded();
    const Record fault{static_cast<uint8_t>(SocketEvent::fault), 0, 0, 2};
    while (rig.events.put(fault, {}, rig.events.capacity() / 4)) {
    }
    rig.script.says.push_back(std::string("\x81\x02ok", 4) + std::string("\x88\x02\x03\xe8", 4));
    rig.readable();
    const auto reported = rig.reported();
    REQUIRE(reported.size() > 2);
    CHECK(reported[reported.size() - 2].event == SocketEvent::messages);
    CHECK(reported.back().event == SocketEvent::ended);
  }

  TEST_CASE("queues at most one pong for pings of a bot that does not read") {
    Rig rig;
    rig.open_upgraded();
    rig.script.takes = false;
    std::string pings;
    for (int i = 0; i < 20'000; ++i) pings += std::string("\x89\x00", 2);
    rig.script.says.push_back(pings);
    rig.readable();
    CHECK(rig.reported().empty());
    rig.script.heard.clear();
    rig.script.takes = true;
    rig.socket->ready(EPOLLOUT, rig.now);
    constexpr size_t kEmptyFrame = 6;
    CHECK(rig.script.heard.size() == 2 * kEmptyFrame);  // the one being written, and the last
  }

  TEST_CASE("limits a connection attempt to 2.5 s if another address is left") {
    Rig rig;
    // The listener never accepts and its only backlog slot is used, so another connection attempt hangs.
    const FileDescriptor dead(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in name{};
    name.sin_family = AF_INET;
    inet_pton(AF_INET, "127.0.0.3", &name.sin_addr);
    const Address live = rig.listen();
    name.sin_port = htons(live.port);
    REQUIRE(::bind(dead.get(), reinterpret_cast<sockaddr*>(&name), sizeof(name)) == 0);
    REQUIRE(::listen(dead.get(), 0) == 0);
    std::vector<FileDescriptor> fillers;
    for (int i = 0; i < 3; ++i) {
      fillers.emplace_back(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
      ::connect(fillers.back().get(), reinterpret_cast<const sockaddr*>(&name), sizeof(name));
    }
    Address silent = live;
    std::copy_n(reinterpret_cast<const uint8_t*>(&name.sin_addr), 4, silent.ip.begin());
    rig.open({silent, live});
    const auto connects = [&] {
      epoll_event event;
      return ::epoll_wait(rig.epoll.get(), &event, 1, 0) == 1;
    };
    rig.socket->check_time(rig.now + 2400 * kMillisecond);
    CHECK_FALSE(connects());
    rig.socket->check_time(rig.now + 2500 * kMillisecond);
    CHECK(connects());
  }

  TEST_CASE("reports an oversized message, stops reading until close, then skips the message") {
    Rig rig;
    rig.open_upgraded();
    rig.script.says.push_back(std::string("\x81\x01"
                                          "a") +
                              frame_head(100'001) + std::string(1000, 'x'));
    rig.readable();
    auto reported = rig.reported();
    REQUIRE(reported.size() == 2);
    CHECK(reported[0].event == SocketEvent::messages);
    CHECK(reported[1].event == SocketEvent::oversized);
    CHECK(reported[1].a == static_cast<uint8_t>(Oversize::message));
    rig.socket->proceed(rig.now);
    rig.script.says.push_back(std::string(60'000, 'x'));
    rig.readable();
    CHECK(rig.script.says.size() == 1);
    rig.socket->close(close_code::kTooBig, "too long", {}, rig.now);
    rig.script.says.push_back(std::string(39'001, 'x') + std::string("\x88\x02\x03\xf1", 4));
    rig.readable();
    reported = rig.reported();
    REQUIRE(reported.size() == 1);
    CHECK(reported[0].event == SocketEvent::ended);
    CHECK(reported[0].a == static_cast<uint8_t>(SocketEnd::closed));
  }

  TEST_CASE("reports a message beyond the account's budget, but always accepts short ones") {
    Rig rig;
    rig.account_bytes = 80'000;
    rig.open_upgraded();
    rig.script.says.push_back(frame_head(79'000) + std::string(1000, 'x'));
    rig.readable();
    CHECK(rig.reported().empty());
    CHECK(rig.world.budgets.of("", rig.account_bytes)->held.load() == 79'000);
    rig.script.says.push_back(std::string(60'000, 'x'));
    rig.script.says.push_back(std::string(18'000, 'x'));
    rig.readable();
    rig.socket->check_time(rig.now);
    REQUIRE(rig.reported().size() == 1);
    CHECK(rig.world.budgets.of("", rig.account_bytes)->held.load() == 79'000);  // until it has been processed
    rig.socket->proceed(rig.now);
    CHECK(rig.world.budgets.of("", rig.account_bytes)->held.load() == 0);
    rig.script.says.push_back(std::string("\x81\x01"
                                          "a") +
                              frame_head(81'000) + std::string(1000, 'x'));
    rig.readable();
    const auto reported = rig.reported();
    REQUIRE(reported.size() == 2);
    CHECK(reported[0].event == SocketEvent::messages);
    CHECK(reported[1].event == SocketEvent::oversized);
    CHECK(reported[1].a == static_cast<uint8_t>(Oversize::account));
  }

  TEST_CASE("ends with an error if the kernel cannot watch the connection") {
    Rig rig;
    rig.world.epoll = -1;
    rig.open({rig.listen()});
    CHECK(rig.socket->over());
    const auto reported = rig.reported();
    REQUIRE(reported.size() == 1);
    CHECK(reported[0].a == static_cast<uint8_t>(SocketEnd::system));
  }

  TEST_CASE("ends with a text if there is no address") {
    Rig rig;
    rig.open({});
    const auto reported = rig.reported();
    REQUIRE(reported.size() == 1);
    CHECK(reported[0].a == static_cast<uint8_t>(SocketEnd::other));
    CHECK(reported[0].payload == "no address to connect to");
  }
}

}  // namespace carillon
