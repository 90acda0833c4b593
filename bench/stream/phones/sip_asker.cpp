#include "sip_asker.hpp"

#include <charconv>
#include <cstdio>

namespace phones {

namespace {
/// Longer than any answer that would still be worth reporting; a request is sent once only.
constexpr Nanos kGiveUp = 2 * kSecond;
constexpr std::string_view kOk = "SIP/2.0 200 ";
constexpr std::string_view kCallId = "\r\nCall-ID: ask-";
}  // namespace

void SipAsker::start(uint16_t port, uint32_t count, Nanos interval, Nanos now) {
  port_ = port;
  count_ = count;
  interval_ = interval;
  due_ = now;
  running_ = true;
  sent_.clear();
  answered_.clear();
}

bool SipAsker::step(Nanos now) {
  if (!running_) return false;
  socket_.receive([this](std::span<const uint8_t> bytes, Nanos arrived) {
    take({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, arrived);
  });
  if (sent_.size() < count_ && now >= due_) ask(now);
  const bool all_asked = sent_.size() == count_;
  if (!all_asked || (answered_.size() < count_ && now - sent_.back() < kGiveUp)) return false;
  running_ = false;
  return true;
}

void SipAsker::ask(Nanos now) {
  std::array<char, 1024> text;
  const unsigned id = static_cast<unsigned>(sent_.size());
  const int length = std::snprintf(text.data(), text.size(),
                                   "OPTIONS sip:127.0.0.1:%u SIP/2.0\r\n"
                                   "Via: SIP/2.0/UDP 127.0.0.1:%u;rport;branch=z9hG4bKask%u\r\n"
                                   "Max-Forwards: 70\r\n"
                                   "From: <sip:asker@127.0.0.1>;tag=ask%u\r\n"
                                   "To: <sip:127.0.0.1>\r\n"
                                   "Call-ID: ask-%u\r\n"
                                   "CSeq: 1 OPTIONS\r\n"
                                   "Contact: <sip:asker@127.0.0.1:%u>\r\n"
                                   "Accept: application/sdp\r\n"
                                   "Content-Length: 0\r\n\r\n",
                                   port_, socket_.port(), id, id, id, socket_.port());
  sent_.push_back(monotonic_now());
  socket_.send(port_, {reinterpret_cast<const uint8_t*>(text.data()), static_cast<size_t>(length)});
  random_ = random_ * 1'664'525 + 1'013'904'223;
  // A random interval between 0.5 and 1.5 of the average.
  due_ = now + interval_ / 2 + interval_ * (random_ >> 16) / 65'536;
}

void SipAsker::take(std::string_view response, Nanos arrived) {
  if (!response.starts_with(kOk)) return;
  const size_t at = response.find(kCallId);
  if (at == std::string_view::npos) return;
  const std::string_view digits = response.substr(at + kCallId.size());
  uint32_t id = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), id);
  if (id < sent_.size()) answered_.push_back(arrived - sent_[id]);
}

}  // namespace phones
