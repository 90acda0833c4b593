#include "fuzz/targets.hpp"

#include <array>
#include <cstdlib>
#include <fstream>
#include <string>

#include "core/dtls/record_filter.hpp"
#include "core/leg/receive_path.hpp"
#include "core/media_core.hpp"
#include "core/record/recording_timeline.hpp"
#include "core/rtp/rtcp.hpp"
#include "core/srtp/srtp_protection.hpp"
#include "test/support/no_events.hpp"
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
  ReceiveConfig config{{peer(), {}, true, {}, false}, spec.coding, payload_type, uint8_t{101}};
  config.comfort_noise = uint8_t{98};
  path.configure(config, Nanos{});
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

constexpr int kProtectedDatagrams = 8;

/// Treats every other datagram as RTCP. The first octet selects the suite and whether SRTP is used. After
/// kProtectedDatagrams, the session changes to plain RTP.
void srtp(Bytes input) {
  if (input.empty()) return;
  constexpr std::array suites{SrtpSuite::aes128_sha80, SrtpSuite::aes128_sha32, SrtpSuite::aes128_gcm};
  SrtpKeys keys;
  keys.suite = suites[input[0] % suites.size()];
  keys.mki_bytes = input[0] >> 6;
  SrtpProtection protection(keys, keys, (input[0] & 0x20) != 0 ? test::underived : test::numbers);
  PlainProtection plain;
  PacketProtection* current = &protection;
  std::vector<uint8_t> datagram;
  Course course{input.subspan(1)};
  int left = kProtectedDatagrams;
  for (bool is_rtcp = false; course.next(datagram); is_rtcp = !is_rtcp) {
    const size_t size = datagram.size();
    if (left-- == 0) {
      plain.follow(protection);
      current = &plain;
    }
    static_cast<void>(is_rtcp ? current->unprotect_rtcp(datagram) : current->unprotect_rtp(datagram));
    if (current == &plain) continue;
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

/// Records both sides from packets.
class Recording final : public LegTap {
 public:
  Recording() : LegTap(TapHandle(1)), timeline_(SampleRate(16'000), true, true) {}
  void frame(const TapFrame& audio, Nanos now, Events&) override {
    for (int missed = timeline_.missed(now); missed > 0; --missed)
      timeline_.add({SampleRate(16'000), {}}, false, now);
    timeline_.add(audio.own, audio.far_end_heard, now);
    read(false);
  }
  void packet(const ReceivedPacket& packet) override {
    timeline_.take(RecordingTimeline::Side::received, packet);
  }
  void far_packet(const ReceivedPacket& packet) override {
    timeline_.take(RecordingTimeline::Side::far_end, packet);
  }
  [[nodiscard]] bool needs_frames() const override { return false; }
  void leg_ended(Events&) override { read(true); }

 private:
  void read(bool ends) {
    while (timeline_.next(ends) != nullptr) {
    }
  }
  RecordingTimeline timeline_;
};

/// Two legs of any codecs and packet times, in a bridge or a conference, the first of them recorded.
class Pair final : public PacketSink {
 public:
  explicit Pair(uint8_t manner, uint8_t times) : core_(*this, events_) {
    constexpr std::array specs{
        CodecSpec{}, CodecSpec{.coding = Coding::g722, .sample_rate = SampleRate(16'000)},
        CodecSpec{.coding = Coding::opus, .sample_rate = SampleRate(24'000), .fec = true},
        CodecSpec{.coding = Coding::l16, .sample_rate = SampleRate(16'000)}};
    for (uint32_t i = 0; i < 2; ++i) {
      const CodecSpec& spec = specs[(manner >> (2 * i)) & 3];
      LegConfig config;
      config.handle = handle(i);
      LegCodecs codecs(spec, 0);
      codecs.add_transcoding(spec);
      core_.add_leg(std::make_unique<Leg>(config, std::move(codecs)));
      LegRemote remote;
      remote.receive.source.signalled = peer();
      remote.receive.source.receiving = remote.send.sending = true;
      remote.receive.coding = remote.send.coding = spec.coding;
      remote.receive.payload_type = remote.send.payload_type = 96;
      remote.receive.telephone_event = 101;
      if ((manner & 0x40) != 0) remote.send.comfort_noise = remote.receive.comfort_noise = uint8_t{98};
      remote.send.packet_ms = 10 * (1 + ((times >> (4 * i)) & 0xf) % 6);
      core_.leg(handle(i))->configure(remote, now_);
    }
    std::unique_ptr<LegTap> recording = std::make_unique<Recording>();
    core_.leg(handle(0))->add(recording);
    if ((manner & 0x80) == 0) {
      core_.bridge(handle(0), handle(1));
      return;
    }
    auto room = std::make_unique<Room>(RoomHandle(1));
    core_.add_room(room);
    for (uint32_t i = 0; i < 2; ++i) {
      auto member = std::make_unique<RoomMember>(MemberHandle(i + 1), MemberFlags{});
      core_.join(RoomHandle(1), handle(i), member);
    }
  }
  ~Pair() override {
    for (uint32_t i = 0; i < 2; ++i) core_.remove_leg(handle(i), now_);
  }
  Pair(const Pair&) = delete;
  Pair& operator=(const Pair&) = delete;

  void receive(uint32_t leg, std::vector<uint8_t>& datagram, Nanos at) {
    while (now_ < at) core_.tick(now_ += kTick);
    core_.receive(handle(leg), datagram, peer(), now_);
    ++received_;
  }
  void send(LegHandle, const Address&, Bytes) override {
    // At most a packet of 10 ms in each direction, and 120 ms for each received packet.
    const auto limit = 2 * static_cast<size_t>(now_ / (10 * kMillisecond)) + 24 * received_ + 100;
    if (++sent_ > limit) std::abort();
  }
  void send_rtcp(LegHandle, const Address&, Bytes) override {}
  void latched(LegHandle, const std::optional<Address>&) override {}

 private:
  static LegHandle handle(uint32_t leg) { return LegHandle(MediaCore::kMaxLegs + 1 + leg); }

  NoEvents events_;
  MediaCore core_;
  Nanos now_{};
  size_t received_ = 0;
  size_t sent_ = 0;
};

/// Transcoding on arrival, regrouping, recording from packets and conferences. The first two octets select
/// the codecs, the path and the packet times. Datagrams with an odd delay go to the second leg.
void bridge(Bytes input) {
  if (input.size() < 2) return;
  Pair pair(input[0], input[1]);
  std::vector<uint8_t> datagram;
  Course course{input.subspan(2), Nanos{}};
  while (course.rest.size() >= 3) {
    const uint32_t leg = course.rest[0] & 1;
    if (!course.next(datagram)) return;
    pair.receive(leg, datagram, course.now);
  }
}

constexpr std::array kTargets{Target{"rtp", rtp},   Target{"telephone-event", telephone_event},
                              Target{"opus", opus}, Target{"g722", g722},
                              Target{"rtcp", rtcp}, Target{"srtp", srtp},
                              Target{"dtls", dtls}, Target{"bridge", bridge}};

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
