// One stream socket by itself, in virtual time, over a transport that does what a test wants of it.
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

/// The first bytes of a text frame (RFC 6455 §5.2).
std::string frame_head(uint32_t length) {
  std::string head("\x81\x7f\0\0\0\0", 6);
  for (int shift = 24; shift >= 0; shift -= 8) head.push_back(static_cast<char>(length >> shift));
  return head;
}

/// What the peer has said and what it has been told.
struct Script {
  std::deque<std::string> says;
  std::deque<IoResult::Kind> before_reads;
  std::string heard;
  bool takes = true;
  /// Of the handshake.
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

/// A socket whose TCP connection goes to a listener that never reads; its bytes come from the script.
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
    told();
    socket->accept(now);
    say(kBlank);
  }

  void say(std::string_view text) const {
    std::vector<uint8_t> bytes(text.begin(), text.end());
    socket->send(bytes, false);
  }

  struct Told {
    SocketEvent event;
    uint8_t a;
    std::string payload;
  };
  std::vector<Told> told() {
    std::vector<Told> out;
    std::vector<uint8_t> batch(8192);
    const size_t size = events.take(batch);
    for_each_record(std::span(batch).first(size), [&](const Record& record, std::span<uint8_t> payload) {
      out.push_back({static_cast<SocketEvent>(record.type), record.a, {payload.begin(), payload.end()}});
    });
    return out;
  }
};

}  // namespace

TEST_SUITE("one stream socket") {
  TEST_CASE("interim answers go before the answer, in one piece or byte by byte (RFC 9110 §15.2)") {
    const std::string heads = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n" +
                              std::string(kUpgrade) + "\r\n\r\n";
    for (const size_t piece : {heads.size(), size_t{1}}) {
      Rig rig;
      rig.open({rig.listen()});
      rig.socket->ready(EPOLLOUT, rig.now);
      for (size_t at = 0; at < heads.size(); at += piece) rig.script.says.push_back(heads.substr(at, piece));
      rig.readable();
      const auto told = rig.told();
      REQUIRE(told.size() == 1);
      CHECK(told[0].event == SocketEvent::upgrade_answered);
      CHECK(told[0].payload == kUpgrade);
    }
  }

  TEST_CASE("heads are bounded: one that never ends, one that comes whole, interim ones without end") {
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
      const auto told = rig.told();
      REQUIRE(told.size() == 1);
      CHECK(told[0].payload == "the upgrade response is too long");
      CHECK(rig.socket->over());
    }
  }

  TEST_CASE("what came along with the end of the TLS handshake is read, though the socket is not readable") {
    Rig rig;
    rig.open({rig.listen()});
    rig.script.rounds = 2;
    rig.script.says.push_back("HTTP/1.1 408 Request Timeout\r\n\r\n");
    rig.socket->ready(EPOLLOUT, rig.now);  // connected
    rig.socket->ready(EPOLLIN, rig.now);
    const auto told = rig.told();
    REQUIRE(told.size() == 1);
    CHECK(told[0].payload == "HTTP/1.1 408 Request Timeout");
  }

  TEST_CASE("a read that had to wait for the socket to take bytes is tried again when it takes them") {
    Rig rig;
    rig.open_upgraded();
    rig.script.before_reads = {IoResult::Kind::wants_write};
    rig.script.says.push_back(std::string("\x81\x02ok", 4));
    rig.readable();
    CHECK(rig.told().empty());
    rig.socket->ready(EPOLLOUT, rig.now);
    const auto told = rig.told();
    REQUIRE(told.size() == 1);
    CHECK(told[0].event == SocketEvent::messages);
  }

  TEST_CASE("while the control thread has messages, the mailbox is left alone and nothing further is read") {
    Rig rig;
    rig.open_upgraded();
    rig.script.says.push_back(
        std::string("\x81\x01"
                    "a",
                    3));
    rig.readable();
    CHECK(rig.told().size() == 1);
    rig.script.says.push_back(
        std::string("\x81\x01"
                    "b",
                    3));
    rig.readable();
    rig.socket->check_time(rig.now += kSecond);
    CHECK(rig.told().empty());
    CHECK(rig.script.says.size() == 1);
    rig.socket->proceed(rig.now);
    const auto told = rig.told();
    REQUIRE(told.size() == 1);
    CHECK(told[0].event == SocketEvent::messages);
  }

  TEST_CASE("no media goes before the first message of ours") {
    Rig rig;
    rig.open({rig.listen()});
    rig.socket->ready(EPOLLOUT, rig.now);
    rig.script.says.push_back(std::string(kUpgrade) + "\r\n\r\n");
    rig.readable();
    rig.socket->accept(rig.now);
    rig.script.heard.clear();
    std::vector<uint8_t> media(kBlank.begin(), kBlank.end());
    rig.socket->media(media);
    CHECK(rig.script.heard.empty());
    rig.say(kBlank);
    const size_t start = rig.script.heard.size();
    CHECK(start > 0);
    rig.socket->media(media);
    CHECK(rig.script.heard.size() > start);
  }

  TEST_CASE("pongs are told when a ping asked for them, once") {
    Rig rig;
    rig.open_upgraded();
    const std::string pong("\x8a\x00", 2);
    std::string many;
    for (int i = 0; i < 1000; ++i) many += pong;
    rig.script.says.push_back(many);
    rig.readable();
    CHECK(rig.told().empty());
    rig.socket->ping();
    rig.script.says.push_back(many);
    rig.readable();
    REQUIRE(rig.told().size() == 1);
  }

  TEST_CASE("faults without number leave room in the event ring for the end") {
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
    const auto told = rig.told();
    REQUIRE(!told.empty());
    CHECK(told.front().event == SocketEvent::fault);
    CHECK(told.back().event == SocketEvent::ended);
    CHECK(rig.events.dropped() > 0);
  }

  TEST_CASE("pings of a bot that does not read are bounded by one pong") {
    Rig rig;
    rig.open_upgraded();
    rig.script.takes = false;
    std::string pings;
    for (int i = 0; i < 20'000; ++i) pings += std::string("\x89\x00", 2);
    rig.script.says.push_back(pings);
    rig.readable();
    CHECK(rig.told().empty());
    rig.script.heard.clear();
    rig.script.takes = true;
    rig.socket->ready(EPOLLOUT, rig.now);
    constexpr size_t kEmptyFrame = 6;
    CHECK(rig.script.heard.size() == 2 * kEmptyFrame);  // the one in hand, and the last
  }

  TEST_CASE("an address that does not answer has two and a half seconds when there is another") {
    Rig rig;
    // Nobody accepts, and the one place in the queue is taken: a further connection waits for ever.
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

  TEST_CASE("a message beyond the limit is told, nothing is read until we close, then it is skipped") {
    Rig rig;
    rig.open_upgraded();
    rig.script.says.push_back(std::string("\x81\x01"
                                          "a") +
                              frame_head(100'001) + std::string(1000, 'x'));
    rig.readable();
    auto told = rig.told();
    REQUIRE(told.size() == 2);
    CHECK(told[0].event == SocketEvent::messages);
    CHECK(told[1].event == SocketEvent::oversized);
    CHECK(told[1].a == static_cast<uint8_t>(Oversize::message));
    rig.socket->proceed(rig.now);
    rig.script.says.push_back(std::string(60'000, 'x'));
    rig.readable();
    CHECK(rig.script.says.size() == 1);
    rig.socket->close(close_code::kTooBig, "too long", {}, rig.now);
    rig.script.says.push_back(std::string(39'001, 'x') + std::string("\x88\x02\x03\xf1", 4));
    rig.readable();
    told = rig.told();
    REQUIRE(told.size() == 1);
    CHECK(told[0].event == SocketEvent::ended);
    CHECK(told[0].a == static_cast<uint8_t>(SocketEnd::closed));
  }

  TEST_CASE("a message beyond what the account has left is told the same way; short ones always may come") {
    Rig rig;
    rig.account_bytes = 80'000;
    rig.open_upgraded();
    rig.script.says.push_back(frame_head(79'000) + std::string(1000, 'x'));
    rig.readable();
    CHECK(rig.told().empty());
    CHECK(rig.world.budgets.of("", rig.account_bytes)->held.load() == 79'000);
    rig.script.says.push_back(std::string(60'000, 'x'));
    rig.script.says.push_back(std::string(18'000, 'x'));
    rig.readable();
    rig.socket->check_time(rig.now);
    REQUIRE(rig.told().size() == 1);
    CHECK(rig.world.budgets.of("", rig.account_bytes)->held.load() == 79'000);  // until it is dealt with
    rig.socket->proceed(rig.now);
    CHECK(rig.world.budgets.of("", rig.account_bytes)->held.load() == 0);
    rig.script.says.push_back(std::string("\x81\x01"
                                          "a") +
                              frame_head(81'000) + std::string(1000, 'x'));
    rig.readable();
    const auto told = rig.told();
    REQUIRE(told.size() == 2);
    CHECK(told[0].event == SocketEvent::messages);
    CHECK(told[1].event == SocketEvent::oversized);
    CHECK(told[1].a == static_cast<uint8_t>(Oversize::account));
  }

  TEST_CASE("no address at all is an end in words") {
    Rig rig;
    rig.open({});
    const auto told = rig.told();
    REQUIRE(told.size() == 1);
    CHECK(told[0].a == static_cast<uint8_t>(SocketEnd::other));
    CHECK(told[0].payload == "no address to connect to");
  }
}

}  // namespace carillon
