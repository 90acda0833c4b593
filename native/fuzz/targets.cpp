#include "fuzz/targets.hpp"

#include <array>
#include <cstdlib>
#include <fstream>
#include <string>

#include "core/dtls/record_filter.hpp"
#include "core/leg/receive_path.hpp"
#include "core/rtp/rtcp.hpp"
#include "core/srtp/srtp_protection.hpp"
#include "test/support/processor_keys.hpp"

namespace carillon::fuzz {

namespace {

/// Sequence of datagrams in an input. Each has a delay in ms since the previous one (one octet), a length
/// (two octets) and its octets.
struct Course {
  Bytes rest;
  Nanos now = kSecond;

  /// Reads the next datagram. Returns false at the end. A truncated datagram is delivered as is.
  bool next(std::vector<uint8_t>& datagram) {
    if (rest.size() < 3) return false;
    now += int64_t{rest[0]} * kMillisecond;
    const size_t length = std::min<size_t>(read_u16(rest, 1), rest.size() - 3);
    datagram.assign(rest.begin() + 3, rest.begin() + 3 + static_cast<std::ptrdiff_t>(length));
    rest = rest.subspan(3 + length);
    return true;
  }
};

Address peer() {
  Address out;
  out.family = Address::Family::ipv4;
  out.ip = {192, 0, 2, 7};
  out.port = 40'000;
  return out;
}

/// Feeds everything that a leg receives: RTP, codec payloads, telephone-events and comfort noise.
void receive(const CodecSpec& spec, uint8_t payload_type, Bytes input) {
  ReceivePath path(std::make_unique<JitterBuffer>(make_decoder(spec)));
  path.configure({{peer(), {}, true, {}, false}, spec.coding, payload_type, uint8_t{101}}, Nanos{});
  std::vector<Sample> frame(frame_samples(path.rate()));
  std::vector<uint8_t> datagram;
  Course course{input};
  Nanos frame_at = course.now;
  while (course.next(datagram)) {
    path.receive(datagram, peer(), course.now);
    for (; frame_at <= course.now; frame_at += kFrameTime) path.pop(frame_at, frame);
  }
  for (int i = 0; i < 10; ++i) path.pop(frame_at += kFrameTime, frame);
  static_cast<void>(path.quality(20.0));
}

void rtp(Bytes input) { receive({}, 0, input); }
void telephone_event(Bytes input) { receive({}, 0, input); }
void opus(Bytes input) {
  constexpr std::array rates{SampleRate(8000), SampleRate(16'000), SampleRate(24'000), SampleRate(48'000)};
  CodecSpec spec{.coding = Coding::opus};
  spec.sample_rate = rates[input.size() % rates.size()];
  receive(spec, 96, input);
}
void g722(Bytes input) { receive({.coding = Coding::g722, .sample_rate = SampleRate(16'000)}, 9, input); }

void rtcp(Bytes input) {
  NoProtection none;
  RtcpSession session(none, 0x11223344);
  std::vector<uint8_t> datagram;
  Course course{input};
  while (course.next(datagram)) {
    session.receive(datagram, course.now);
    RtcpSession::Facts facts;
    facts.peer_ssrc = sender_of_rtcp(datagram);
    facts.metrics = session.metrics_about_us();
    static_cast<void>(session.report(facts, course.now));
  }
}

/// Treats every other datagram as RTCP. The first octet selects the suite and whether SRTP is used.
void srtp(Bytes input) {
  if (input.empty()) return;
  constexpr std::array suites{SrtpSuite::aes128_sha80, SrtpSuite::aes128_sha32, SrtpSuite::aes128_gcm};
  SrtpKeys keys;
  keys.suite = suites[input[0] % suites.size()];
  keys.mki_bytes = input[0] >> 6;
  SrtpProtection protection(keys, keys, (input[0] & 0x20) != 0 ? test::underived : test::numbers);
  std::vector<uint8_t> datagram;
  Course course{input.subspan(1)};
  for (bool is_rtcp = false; course.next(datagram); is_rtcp = !is_rtcp) {
    const size_t size = datagram.size();
    static_cast<void>(is_rtcp ? protection.unprotect_rtcp(datagram) : protection.unprotect_rtp(datagram));
    // Also protect the datagram as an outgoing packet.
    datagram.resize(size + PacketProtection::kMaxTail);
    if (is_rtcp && size >= 8) static_cast<void>(protection.protect_rtcp(datagram, size));
    if (!is_rtcp && size >= kRtpHeaderBytes && (datagram[0] & 0x1f) == 0) {
      static_cast<void>(protection.protect_rtp(datagram, size));
    }
  }
}

/// The first octet selects the side and the number of datagrams until the handshake is complete.
void dtls(Bytes input) {
  if (input.empty()) return;
  RecordFilter filter((input[0] & 1) != 0);
  int left = input[0] >> 1;
  std::vector<uint8_t> datagram;
  Course course{input.subspan(1)};
  while (course.next(datagram)) {
    const std::vector<uint8_t> passed = filter.accepted(datagram);
    if (passed.size() > datagram.size()) std::abort();
    if (--left == 0) filter.secured();
  }
}

constexpr std::array kTargets{Target{"rtp", rtp},   Target{"telephone-event", telephone_event},
                              Target{"opus", opus}, Target{"g722", g722},
                              Target{"rtcp", rtcp}, Target{"srtp", srtp},
                              Target{"dtls", dtls}};

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

}  // namespace

std::span<const Target> targets() { return kTargets; }

std::vector<Input> corpus_of(std::string_view target) {
  std::ifstream file(std::string(CARILLON_FUZZ_CORPUS) + "/" + std::string(target) + ".hex");
  std::vector<Input> out;
  for (std::string line; std::getline(file, line);) {
    Input input;
    for (size_t i = 0; i + 1 < line.size() && hex_digit(line[i]) >= 0; i += 2) {
      input.push_back(static_cast<uint8_t>(hex_digit(line[i]) * 16 + hex_digit(line[i + 1])));
    }
    out.push_back(std::move(input));
  }
  return out;
}

}  // namespace carillon::fuzz
