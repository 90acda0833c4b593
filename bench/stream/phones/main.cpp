// The callers of the stream benchmark, which use little CPU so that they do not distort the result: one thread,
// one clock read per millisecond, kernel timestamps of arrivals.
//
//   phones <count> <watched>
//
// Commands come as lines on stdin; each is answered by one line of JSON on stdout. Times are milliseconds of
// CLOCK_MONOTONIC.
//   talk <port> …          every phone starts sending PCMU to its port; the phases are spread over 20 ms
//   window                 resets the recorded times
//   lateness               lateness of all packets since `window`, relative to the 20 ms grid of their phone
//   watched                frames that the watched phones sent and received since then
//   sip <port> <n> <us>    sends OPTIONS n times at this interval in microseconds; replies when done
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string>

#include "exchange.hpp"
#include "phone.hpp"
#include "sip_asker.hpp"

namespace phones {
namespace {

/// Ticks in which every phone's socket is read once; its buffer holds ten times as much.
constexpr size_t kListenTicks = 50;

double milliseconds(Nanos time) { return static_cast<double>(time) / kMillisecond; }

Nanos quantile(const std::vector<Nanos>& sorted, double part) {
  if (sorted.empty()) return 0;
  const auto at = static_cast<size_t>(static_cast<double>(sorted.size()) * part);
  return sorted[std::min(at, sorted.size() - 1)];
}

void print_list(const char* name, const std::vector<Nanos>& times) {
  std::printf("\"%s\":[", name);
  const char* comma = "";
  for (const Nanos time : times) {
    std::printf("%s%.3f", comma, milliseconds(time));
    comma = ",";
  }
  std::printf("]");
}

class Exchange {
 public:
  Exchange(size_t count, size_t watched) : watched_(std::min(watched, count)) {
    phones_.reserve(count);
    for (size_t i = 0; i < count; ++i) phones_.emplace_back(static_cast<uint32_t>(i + 1), i < watched_);
    std::printf("{\"ports\":[");
    for (size_t i = 0; i < count; ++i) std::printf(i == 0 ? "%u" : ",%u", phones_[i].port());
    std::printf("]}\n");
  }

  /// Runs until stdin is closed.
  void run() {
    const auto obeyed = [this](std::istringstream line) { obey(std::move(line)); };
    for (Nanos tick = monotonic_now(); lines_.read(obeyed); tick += kMillisecond) {
      std::fflush(stdout);
      sleep_until(tick);
      turns_.take(monotonic_now(), phones_.size(), [this](size_t i) { phones_[i].send_frame(); });
      listen(static_cast<size_t>(tick / kMillisecond));
      if (asker_.step(monotonic_now())) report_sip();
    }
  }

 private:
  void listen(size_t tick) {
    for (size_t i = tick % kListenTicks; i < phones_.size(); i += kListenTicks) phones_[i].listen();
  }

  void obey(std::istringstream line) {
    std::string command;
    line >> command;
    if (command == "sip") {
      uint32_t port = 0, count = 0, interval_us = 0;
      line >> port >> count >> interval_us;
      asker_.start(static_cast<uint16_t>(port), count, Nanos{interval_us} * 1000, monotonic_now());
      return;
    }
    if (command == "lateness") return report_lateness();
    if (command == "watched") return report_watched();
    if (command == "talk") talk(line);
    if (command == "window") {
      for (Phone& phone : phones_) phone.begin_window();
    }
    std::printf("{}\n");
  }

  void talk(std::istringstream& ports) {
    for (Phone& phone : phones_) {
      uint32_t port = 0;
      ports >> port;
      phone.talk_to(static_cast<uint16_t>(port));
    }
    turns_.begin(monotonic_now());
  }

  void report_lateness() {
    std::vector<Nanos> all;
    size_t lost = 0;
    size_t silent = 0;
    for (Phone& phone : phones_) {
      phone.listen();
      phone.add_lateness(all);
      lost += phone.lost();
      silent += phone.arrivals().empty() ? 1 : 0;
    }
    std::sort(all.begin(), all.end());
    std::printf("{\"packets\":%zu,\"lost\":%zu,\"silent\":%zu,\"p50\":%.3f,\"p99\":%.3f,\"p999\":%.3f}\n",
                all.size(), lost, silent, milliseconds(quantile(all, 0.5)), milliseconds(quantile(all, 0.99)),
                milliseconds(quantile(all, 0.999)));
  }

  void report_watched() {
    std::printf("{\"phones\":[");
    for (size_t i = 0; i < watched_; ++i) {
      Phone& phone = phones_[i];
      phone.listen();
      std::vector<Nanos> loud;
      for (const Arrival& arrival : phone.arrivals()) {
        if (arrival.loud) loud.push_back(arrival.at);
      }
      std::printf("%s{\"firstSent\":%u,", i == 0 ? "" : ",", phone.first_sent());
      print_list("sent", phone.sent());
      std::printf(",");
      print_list("loud", loud);
      std::printf("}");
    }
    std::printf("]}\n");
  }

  void report_sip() {
    std::printf("{");
    print_list("answered", asker_.answered());
    std::printf("}\n");
  }

  std::vector<Phone> phones_;
  size_t watched_;
  SipAsker asker_;
  CommandLines lines_;
  Turns turns_;
};

}  // namespace
}  // namespace phones

int main(int argc, char** argv) {
  const int count = argc > 1 ? std::atoi(argv[1]) : 1;
  const int watched = argc > 2 ? std::atoi(argv[2]) : 0;
  phones::Exchange exchange(static_cast<size_t>(std::clamp(count, 1, 2000)),
                            static_cast<size_t>(std::max(watched, 0)));
  exchange.run();
  return 0;
}
