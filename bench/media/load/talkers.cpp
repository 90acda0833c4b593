// Both ends of many calls: each sends one packet every 20 ms and counts received packets. Callers have even
// numbers; the callee of a caller has the next number.
//   talkers <calls> <callers' packets> <callees' packets>
// The files contain RTP packets, each after its length in two bytes (big-endian), which are sent in a loop.
//
// Commands come as lines on stdin; each is answered by one line of JSON on stdout.
//   talk <port> <payload type> …   starts sending to these ports; the phases of the ends are spread over 20 ms
//   window                         resets the counters
//   heard                          counters since then
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "exchange.hpp"
#include "socket.hpp"

namespace phones {
namespace {

constexpr size_t kRtpHeader = 12;
/// Milliseconds in which every socket is read once; its buffer holds more.
constexpr size_t kListenTicks = 20;

using Packet = std::vector<uint8_t>;

uint32_t read_bytes(const uint8_t* from, size_t count) {
  uint32_t value = 0;
  for (size_t i = 0; i < count; ++i) value = value << 8 | from[i];
  return value;
}

void write_bytes(uint8_t* to, size_t count, uint32_t value) {
  for (size_t i = count; i-- > 0; value >>= 8) to[i] = static_cast<uint8_t>(value);
}

/// Reads at least two packets; otherwise the program ends.
std::vector<Packet> read_packets(const char* file) {
  std::ifstream in(file, std::ios::binary);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(in), {}};
  std::vector<Packet> packets;
  for (size_t at = 0; at + 2 <= bytes.size();) {
    const auto* const from = reinterpret_cast<const uint8_t*>(bytes.data()) + at;
    const size_t length = read_bytes(from, 2);
    if (length <= kRtpHeader || at + 2 + length > bytes.size()) break;
    packets.emplace_back(from + 2, from + 2 + length);
    at += 2 + length;
  }
  if (packets.size() >= 2) return packets;
  std::fprintf(stderr, "talkers: no packets in %s\n", file);
  std::exit(1);
}

class Talker {
 public:
  Talker(uint32_t ssrc, const std::vector<Packet>& speech)
      : ssrc_(ssrc),
        speech_(&speech),
        step_(read_bytes(&speech[1][4], 4) - read_bytes(&speech[0][4], 4)),
        // Ends start at different times, so that they do not send the same audio simultaneously.
        next_(ssrc * 17) {}

  [[nodiscard]] uint16_t port() const { return socket_.port(); }

  void talk_to(uint32_t port, uint32_t payload_type) {
    peer_port_ = static_cast<uint16_t>(port);
    payload_type_ = static_cast<uint8_t>(payload_type);
  }

  void send_frame() {
    Packet packet = (*speech_)[next_++ % speech_->size()];
    packet[1] = static_cast<uint8_t>((total_ == 0 ? 0x80 : 0) | payload_type_);
    write_bytes(&packet[2], 2, total_);
    write_bytes(&packet[4], 4, total_ * step_);
    write_bytes(&packet[8], 4, ssrc_);
    socket_.send(peer_port_, packet);
    ++total_;
    ++sent;
  }

  void listen() {
    socket_.receive([this](std::span<const uint8_t> packet, Nanos) {
      // RTCP has payload types from 64 to 95 where it shares the port (RFC 5761).
      if (packet.size() > kRtpHeader && ((packet[1] & 0x7f) < 64 || (packet[1] & 0x7f) > 95)) ++heard;
    });
  }

  size_t sent = 0;
  size_t heard = 0;

 private:
  Socket socket_;
  uint32_t ssrc_;
  const std::vector<Packet>* speech_;
  uint32_t step_;
  uint32_t next_;
  uint32_t total_ = 0;
  uint16_t peer_port_ = 0;
  uint8_t payload_type_ = 0;
};

class Exchange {
 public:
  Exchange(size_t calls, const std::vector<Packet>& callers, const std::vector<Packet>& callees) {
    talkers_.reserve(2 * calls);
    std::printf("[");
    for (size_t i = 0; i < 2 * calls; ++i) {
      talkers_.emplace_back(static_cast<uint32_t>(i + 1), i % 2 == 0 ? callers : callees);
      std::printf(i == 0 ? "%u" : ",%u", talkers_.back().port());
    }
    std::printf("]\n");
  }

  /// Runs until stdin is closed.
  void run() {
    const auto obeyed = [this](std::istringstream line) { obey(std::move(line)); };
    for (Nanos tick = monotonic_now(); lines_.read(obeyed); tick += kMillisecond) {
      std::fflush(stdout);
      sleep_until(tick);
      turns_.take(monotonic_now(), talkers_.size(), [this](size_t i) { talkers_[i].send_frame(); });
      const auto part = static_cast<size_t>(tick / kMillisecond) % kListenTicks;
      for (size_t i = part; i < talkers_.size(); i += kListenTicks) talkers_[i].listen();
    }
  }

 private:
  void obey(std::istringstream line) {
    std::string command;
    line >> command;
    if (command == "heard") return report();
    if (command == "talk") talk(line);
    if (command == "window") {
      for (Talker& talker : talkers_) {
        talker.listen();
        talker.sent = talker.heard = 0;
      }
    }
    std::printf("{}\n");
  }

  void talk(std::istringstream& peers) {
    for (Talker& talker : talkers_) {
      uint32_t port = 0, payload_type = 0;
      peers >> port >> payload_type;
      talker.talk_to(port, payload_type);
    }
    turns_.begin(monotonic_now());
  }

  void report() {
    size_t sent = 0, heard = 0, silent = 0;
    for (Talker& talker : talkers_) {
      talker.listen();
      sent += talker.sent;
      heard += talker.heard;
      silent += talker.heard == 0 ? 1 : 0;
    }
    std::printf("{\"sent\":%zu,\"received\":%zu,\"silent\":%zu}\n", sent, heard, silent);
  }

  std::vector<Talker> talkers_;
  CommandLines lines_;
  Turns turns_;
};

}  // namespace
}  // namespace phones

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  const auto callers = phones::read_packets(argv[2]);
  const auto callees = phones::read_packets(argv[3]);
  phones::Exchange exchange(static_cast<size_t>(std::clamp(std::atoi(argv[1]), 1, 1000)), callers, callees);
  exchange.run();
  return 0;
}
