// Tests the stream socket thread against a server on loopback.
#include "net/stream_thread.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <future>
#include <random>
#include <string>
#include <system_error>
#include <thread>

#include "core/base/base64.hpp"
#include "engine/udp_socket.hpp"
#include "test/support/narrow.hpp"
#include "test/support/no_threads.hpp"
#include "test/support/web_socket_server.hpp"

namespace carillon {

namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kPatience = WebSocketServer::kPatience;
constexpr uint32_t kSocket = 7;
constexpr std::string_view kUpgrade = "HTTP/1.1 101 Switching Protocols\r\n\r\n";

struct Reported {
  SocketEvent event;
  uint8_t a;
  uint16_t b;
  std::string payload;
};

/// Thread with one socket, and its events.
struct Rig {
  StreamThread thread{[] {}};
  std::shared_ptr<SocketMailbox> mailbox = std::make_shared<SocketMailbox>();
  std::shared_ptr<PlaybackQueue> queue = std::make_shared<PlaybackQueue>(kNarrowband, 80'000);
  std::vector<Reported> reported;
  /// If true, each message is marked as processed when it is reported.
  bool proceeds = false;

  void open(const std::vector<std::string>& addresses, uint16_t port) {
    SocketOptions options;
    for (const std::string& address : addresses) options.addresses.push_back(*parse_address(address, port));
    constexpr std::string_view kRequest = "GET / HTTP/1.1\r\n\r\n";
    options.request.assign(kRequest.begin(), kRequest.end());
    options.max_message_bytes = 100'000;
    options.send_queue = {50, 10'000};
    options.flood = {{1000, 6000}, {2e6, 32e6}, 30 * kSecond};
    thread.post([options, mailbox = mailbox](SocketLoop& loop) mutable {
      loop.open(kSocket, std::move(options), std::move(mailbox));
    });
  }

  template <typename Action>
  void with_socket(Action action) {
    thread.post([action](SocketLoop& loop) mutable {
      if (StreamSocket* const socket = loop.find(kSocket)) action(*socket, loop);
    });
  }

  void say(const std::string& text) {
    with_socket([bytes = std::vector<uint8_t>(text.begin(), text.end())](
                    StreamSocket& socket, SocketLoop&) mutable { socket.send(bytes, false); });
  }

  void attach() {
    with_socket([queue = queue](StreamSocket& socket, SocketLoop&) {
      socket.attach(std::make_unique<StreamInput>("s", StreamFormat{}, queue));
    });
  }

  void proceed() {
    with_socket([](StreamSocket& socket, SocketLoop& loop) { socket.proceed(loop.now()); });
  }

  /// Waits for the next event of this kind and skips others.
  Reported next(SocketEvent event) {
    const auto deadline = Clock::now() + kPatience;
    std::vector<uint8_t> batch(100'000);
    while (Clock::now() < deadline) {
      for (size_t i = 0; i < reported.size(); ++i) {
        if (reported[i].event != event) continue;
        const Reported found = reported[i];
        reported.erase(reported.begin(), reported.begin() + static_cast<std::ptrdiff_t>(i + 1));
        return found;
      }
      const size_t bytes = thread.take_events(batch);
      for_each_record(std::span(batch).first(bytes), [&](const Record& record, std::span<uint8_t> payload) {
        reported.push_back({static_cast<SocketEvent>(record.type), record.a, record.b,
                            std::string(payload.begin(), payload.end())});
        if (proceeds && reported.back().event == SocketEvent::messages) proceed();
      });
      if (bytes == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    FAIL("the event never came");
    return {};
  }

  void open_to(WebSocketServer& server) {
    open({"127.0.0.1"}, server.port());
    server.accept();
    server.read_until([](const std::string& bytes) { return bytes.ends_with("\r\n\r\n"); });
    server.forget_request();
    server.write(kUpgrade);
    CHECK(next(SocketEvent::upgrade_answered).payload == "HTTP/1.1 101 Switching Protocols");
    with_socket([](StreamSocket& socket, SocketLoop& loop) { socket.accept(loop.now()); });
  }

  std::string message() {
    next(SocketEvent::messages);
    std::string joined;
    for (const auto& message : mailbox->messages) {
      joined.append(joined.empty() ? "" : "|").append(message.begin(), message.end());
    }
    return joined;
  }
};

std::string text_frame(std::string_view text) {
  std::string frame("\x81", 1);
  if (text.size() < 126) {
    frame.push_back(static_cast<char>(text.size()));
  } else {
    frame.push_back(126);
    frame.push_back(static_cast<char>(text.size() >> 8));
    frame.push_back(static_cast<char>(text.size()));
  }
  return frame.append(text);
}

/// Returns a playAudio with `samples` samples of L16 at 8 kHz.
std::string play_frame(size_t samples) {
  const std::vector<uint8_t> audio(2 * samples, 1);
  std::vector<uint8_t> payload(base64_length(audio.size()));
  base64_encode(audio, payload);
  return text_frame(R"({"event":"playAudio","media":{"payload":")" +
                    std::string(payload.begin(), payload.end()) + "\"}}");
}

const std::string kBlank = R"({"sequenceNumber":          ,"event":"x"})";

std::string numbered(int number) {
  std::string text = kBlank;
  const std::string digits = std::to_string(number);
  text.replace(28 - digits.size(), digits.size(), digits);
  return text;
}

}  // namespace

TEST_SUITE("stream socket thread") {
  TEST_CASE("a lack of threads is reported when it is created, not in a call") {
    const NoThreads none;
    CHECK_THROWS_AS(StreamThread([] {}), std::system_error);
  }

  TEST_CASE("numbers messages of the control thread and of a media thread in one sequence") {
    WebSocketServer server;
    Rig rig;
    rig.open_to(server);
    auto feed = std::make_shared<SocketFeed>();
    rig.thread.post([feed](SocketLoop& loop) { loop.add_feed(feed); });
    rig.say(kBlank);
    CHECK(server.frames(1) == std::vector<std::string>{numbered(0)});
    for (int i = 0; i < 10; ++i) {
      feed->media(SocketHandle(kSocket), {reinterpret_cast<const uint8_t*>(kBlank.data()), kBlank.size()});
    }
    std::vector<std::string> expected;
    for (int i = 0; i < 11; ++i) expected.push_back(numbered(i));
    CHECK(server.frames(11) == expected);
    rig.say(kBlank);
    expected.push_back(numbered(11));
    CHECK(server.frames(12) == expected);
    CHECK(rig.thread.counters().media_sent == 10);
  }

  TEST_CASE("processes a bot's messages in order: audio waits for the message before it") {
    WebSocketServer server;
    Rig rig;
    rig.open_to(server);
    rig.attach();
    rig.say(kBlank);
    server.frames(1);
    server.write(play_frame(800) + text_frame(R"({"event":"checkpoint","name":"a"})") + play_frame(160) +
                 text_frame(R"({"event":"clearAudio"})") + play_frame(320));
    CHECK(rig.message() == R"({"event":"checkpoint","name":"a"})");
    CHECK(rig.queue->available() == 800);
    rig.proceed();
    CHECK(rig.message() == R"({"event":"clearAudio"})");
    // The queue is cleared when the message is read, before the control thread processes it.
    Frame frame(kNarrowband);
    CHECK(rig.queue->read(frame).cleared);
    CHECK(rig.queue->available() == 0);
    rig.proceed();
    server.write(text_frame("after"));
    CHECK(rig.message() == "after");
    CHECK(rig.queue->available() == 320);
  }

  TEST_CASE("passes control messages on together, up to the next audio, and before an end") {
    WebSocketServer server;
    Rig rig;
    rig.open_to(server);
    rig.attach();
    rig.say(kBlank);
    server.frames(1);
    server.write(text_frame("a") + text_frame("b") + play_frame(160) + text_frame("c") +
                 std::string("\x88\x02\x03\xe8", 4));
    CHECK(rig.message() == "a|b");
    CHECK(rig.queue->available() == 0);
    rig.proceed();
    CHECK(rig.message() == "c");
    CHECK(rig.next(SocketEvent::ended).b == 1000);
  }

  TEST_CASE("reports a refused playAudio and accepts the next one") {
    WebSocketServer server;
    Rig rig;
    rig.open_to(server);
    rig.attach();
    rig.say(kBlank);
    server.frames(1);
    server.write(text_frame(R"({"event":"playAudio","media":{"payload":"%%"}})") + play_frame(160) +
                 text_frame("end"));
    CHECK(rig.next(SocketEvent::fault).a == static_cast<uint8_t>(PlayResult::bad_payload));
    CHECK(rig.message() == "end");
    CHECK(rig.queue->available() == 160);
  }

  TEST_CASE("tries the next address if one refuses") {
    WebSocketServer server;
    Rig rig;
    rig.open({"127.0.0.2", "127.0.0.1"}, server.port());
    server.accept();
    CHECK(server.read_until([](const std::string& bytes) { return bytes.ends_with("\r\n\r\n"); })
              .starts_with("GET"));
  }

  TEST_CASE("reports the last error if all addresses refuse") {
    uint16_t port = 0;
    {
      const WebSocketServer gone;
      port = gone.port();
    }
    Rig rig;
    rig.open({"127.0.0.2", "127.0.0.1"}, port);
    const Reported end = rig.next(SocketEvent::ended);
    CHECK(end.a == static_cast<uint8_t>(SocketEnd::system));
    CHECK(end.payload[0] == ECONNREFUSED);
  }

  TEST_CASE("closes with the last message, the close frame, and an end after the peer's response") {
    WebSocketServer server;
    Rig rig;
    rig.open_to(server);
    rig.with_socket([last = kBlank](StreamSocket& socket, SocketLoop& loop) mutable {
      socket.close(1000, "done", {reinterpret_cast<uint8_t*>(last.data()), last.size()}, loop.now());
    });
    CHECK(server.frames(2) == std::vector<std::string>{numbered(0), "close"});
    server.write(std::string("\x88\x02\x03\xe8", 4));
    const Reported end = rig.next(SocketEvent::ended);
    CHECK(end.a == static_cast<uint8_t>(SocketEnd::closed));
    CHECK(end.b == 1000);
  }

  TEST_CASE("responds to the peer's close and reports its code and reason") {
    WebSocketServer server;
    Rig rig;
    rig.open_to(server);
    server.write(std::string("\x88\x05\x03\xf3", 4) + "bye");
    const Reported end = rig.next(SocketEvent::ended);
    CHECK(end.b == 1011);
    CHECK(end.payload == "bye");
    CHECK(server.frames(1) == std::vector<std::string>{"close"});
  }

  TEST_CASE("reports once that a peer vanished") {
    WebSocketServer server;
    Rig rig;
    rig.open_to(server);
    server.hang_up();
    CHECK(rig.next(SocketEvent::ended).a == static_cast<uint8_t>(SocketEnd::broken));
  }

  TEST_CASE("sends outstanding messages before it stops") {
    WebSocketServer server;
    {
      Rig rig;
      rig.open_to(server);
      for (int i = 0; i < 20; ++i) rig.say(kBlank);
      rig.thread.stop();
    }
    CHECK(server.frames(20).size() == 20);
  }

  TEST_CASE("refuses TLS without trusted certificates") {
    WebSocketServer server;
    Rig rig;
    SocketOptions options;
    options.addresses.push_back(*parse_address("127.0.0.1", server.port()));
    options.secure_host = "localhost";
    rig.thread.post([options, mailbox = rig.mailbox](SocketLoop& loop) mutable {
      loop.open(kSocket, std::move(options), std::move(mailbox));
    });
    CHECK(rig.next(SocketEvent::ended).payload == "TLS is not available");
  }

  TEST_CASE("reports exactly one end for any bytes from a server") {
    std::mt19937 random(11);
    for (int round = 0; round < 30; ++round) {
      WebSocketServer server;
      Rig rig;
      rig.open_to(server);
      rig.attach();
      std::string bytes;
      for (int part = 0; part < 20; ++part) {
        switch (random() % 4) {
          case 0:
            bytes += play_frame(random() % 300);
            break;
          case 1:
            bytes += text_frame(std::string(random() % 200, 'x'));
            break;
          case 2:
            bytes += std::string("\x89\x01x", 3);
            break;
          default:
            bytes.push_back(static_cast<char>(random()));
        }
      }
      for (size_t at = 0; at < bytes.size();) {
        const size_t count = std::min<size_t>(1 + random() % 400, bytes.size() - at);
        server.write(std::string_view(bytes).substr(at, count));
        at += count;
        rig.proceed();
      }
      server.hang_up();
      rig.proceeds = true;
      rig.proceed();
      rig.next(SocketEvent::ended);
      for (const Reported& more : rig.reported) CHECK(more.event != SocketEvent::ended);
    }
  }

  TEST_CASE("spreads TLS handshakes over turns, so that they delay no audio") {
    // Each handshake takes a millisecond or more. They never end here.
    class Handshake final : public Transport {
     public:
      explicit Handshake(int& steps) : steps_(steps) {}
      IoResult handshake() override {
        ++steps_;
        return {IoResult::Kind::wants_read, 0};
      }
      IoResult read(std::span<uint8_t>) override { return {}; }
      IoResult write(Bytes) override { return {}; }
      [[nodiscard]] TransportFailure failure() const override { return {}; }

     private:
      int& steps_;
    };
    constexpr uint32_t kSockets = 8;
    WebSocketServer server;
    int steps = 0;
    SocketLoop loop(std::make_shared<MessageBudgets>());
    CommandQueue<SocketLoop> commands;
    loop.secure_by([&steps](int, const std::string&) { return std::make_unique<Handshake>(steps); });
    for (uint32_t handle = 1; handle <= kSockets; ++handle) {
      SocketOptions options;
      options.addresses.push_back(*parse_address("127.0.0.1", server.port()));
      options.secure_host = "bot.example";
      loop.open(handle, std::move(options), std::make_shared<SocketMailbox>());
    }
    Nanos now = kSecond;
    const auto deadline = Clock::now() + kPatience;
    int most = 0;
    while (steps < static_cast<int>(kSockets) && Clock::now() < deadline) {
      const int before = steps;
      loop.turn(now += kMillisecond, commands);
      most = std::max(most, steps - before);
    }
    CHECK(steps == static_cast<int>(kSockets));
    CHECK(most <= static_cast<int>(SocketLoop::kHandshakesATurn));
  }

  TEST_CASE("runs commands that exceed the queue although there is no socket") {
    StreamThread thread([] {});
    std::promise<void> release;
    thread.post([released = release.get_future().share()](SocketLoop&) { released.wait(); });
    constexpr size_t kCommands = CommandQueue<SocketLoop>::kCapacity + 1000;
    std::atomic<size_t> count{0};
    for (size_t i = 0; i < kCommands; ++i) thread.post([&count](SocketLoop&) { ++count; });
    release.set_value();
    std::vector<uint8_t> batch(1000);
    const auto deadline = Clock::now() + kPatience;
    while (count < kCommands && Clock::now() < deadline) {
      thread.take_events(batch);
      std::this_thread::yield();
    }
    CHECK(count == kCommands);
  }
}

}  // namespace carillon
