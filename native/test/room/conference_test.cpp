// Conferences, and changes between packets on arrival and mixed audio, as a listener's peer receives them.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numbers>
#include <random>
#include <string>

#include "core/codec/g711.hpp"
#include "core/media_core.hpp"
#include "engine/event_ring.hpp"
#include "engine/udp_socket.hpp"
#include "test/support/narrow.hpp"
#include "test/support/rtp_sink.hpp"
#include "test/support/signal.hpp"

namespace carillon {

namespace {

constexpr size_t kLegs = 3;
constexpr RoomHandle kRoom{0x8000'0001U};
/// Not a whole number of periods per frame.
constexpr double kHz = 437;
constexpr double kAmplitude = 8000;
constexpr CodecSpec kPcmu{};
constexpr CodecSpec kPcma{.coding = Coding::pcma};
constexpr CodecSpec kL16{.coding = Coding::l16, .sample_rate = SampleRate(16'000)};

constexpr LegHandle handle_of(size_t leg) {
  return LegHandle(MediaCore::kMaxLegs + 1 + static_cast<uint32_t>(leg));
}

struct Sent {
  Nanos at{};
  uint16_t sequence = 0;
  uint32_t timestamp = 0;
  std::vector<Sample> audio;
};

/// Legs of which peer 0 sends a tone from `tone_from` on, and silence before. Records what peer 1 receives.
struct Call : RtpSink {
  explicit Call(const CodecSpec& listener = kPcmu, Nanos phase = {}) : core(*this, events), spec(listener) {
    for (size_t leg = 0; leg < kLegs; ++leg) {
      LegConfig config;
      config.handle = handle_of(leg);
      config.ssrc = static_cast<uint32_t>(leg) + 1;
      config.sequence = 65'530;
      config.timestamp = 0xffff'f000;
      const CodecSpec& own = leg == 1 ? listener : kPcmu;
      LegCodecs codecs(own, 0);
      codecs.add_transcoding(own);
      core.add_leg(std::make_unique<Leg>(config, std::move(codecs)));
      LegRemote remote;
      remote.receive.source.signalled = peer_of(leg);
      remote.receive.source.receiving = remote.send.sending = true;
      remote.receive.coding = remote.send.coding = own.coding;
      remote.receive.payload_type = remote.send.payload_type = 96;
      core.leg(handle_of(leg))->configure(remote, now);
      due[leg] = now + phase * static_cast<int64_t>(leg + 1) + kTick;
    }
  }

  static Address peer_of(size_t leg) {
    return *parse_address("192.0.2.1", static_cast<uint16_t>(4000 + 2 * leg));
  }

  void send(LegHandle leg, const Address&, Bytes packet) override {
    if (leg != handle_of(1)) return;
    const auto head = parse_rtp(packet);
    REQUIRE(head);
    Sent one{now, head->sequence, head->timestamp.value(), {}};
    if (spec.coding == Coding::l16) {
      for (size_t i = 0; i < head->payload.size(); i += 2) {
        one.audio.push_back(static_cast<Sample>(read_u16(head->payload, i)));
      }
    } else {
      one.audio.resize(head->payload.size());
      g711_decode(spec.coding == Coding::pcma ? G711Law::a : G711Law::mu, head->payload, one.audio);
    }
    sent.push_back(std::move(one));
  }

  void speak(size_t leg) {
    const bool wide = leg == 1 && spec.coding == Coding::l16;
    const size_t samples = wide ? 2 * size_t{kFrameSamples} : size_t{kFrameSamples};
    std::vector<uint8_t> packet(kRtpHeaderBytes + samples * (wide ? 2 : 1), wide ? 0 : 0xd5);
    const auto ticks = static_cast<uint32_t>(samples);
    const uint32_t time = packets[leg] + (leg == 0 ? pauses : 0);
    write_rtp_header({false, 96, static_cast<uint16_t>(packets[leg]), RtpTimestamp(time * ticks), 9}, packet);
    for (size_t i = 0; leg == 0 && i < samples; ++i) {
      const double t = static_cast<double>(packets[0] * kFrameSamples + i) / kLineRate;
      const double loud = now >= tone_from ? kAmplitude : 0;
      packet[kRtpHeaderBytes + i] =
          g711_encode(G711Law::mu, static_cast<Sample>(loud * std::sin(2 * std::numbers::pi * kHz * t)));
    }
    ++packets[leg];
    if (leg == 0 && now >= tone_from && !tone_at) tone_at = now;
    core.receive(handle_of(leg), packet, peer_of(leg), now);
  }
  /// Sends comfort noise of peer 0 for a pause of `frames` frames.
  void comfort(uint32_t frames) {
    std::array<uint8_t, kRtpHeaderBytes + 1> packet{};
    packet.back() = 60;
    const RtpTimestamp time((packets[0] + pauses) * static_cast<uint32_t>(kFrameSamples));
    write_rtp_header({false, kComfortNoise, static_cast<uint16_t>(packets[0]++), time, 9}, packet);
    pauses += frames - 1;
    core.receive(handle_of(0), packet, peer_of(0), now);
  }
  void run(int ms) {
    for (; ms > 0; --ms) {
      now += kTick;
      for (size_t leg = 0; leg < kLegs; ++leg) {
        if (now < due[leg] || !speaks[leg]) continue;
        due[leg] += kFrameTime;
        if (leg == 0 && lost(packets[0])) {
          ++packets[0];
          continue;
        }
        speak(leg);
      }
      core.tick(now);
    }
  }
  void join(size_t leg) {
    if (core.room(kRoom) == nullptr) {
      auto room = std::make_unique<Room>(kRoom);
      REQUIRE(core.add_room(room));
    }
    auto member = std::make_unique<RoomMember>(MemberHandle(++members), MemberFlags{});
    REQUIRE(core.join(kRoom, handle_of(leg), member));
  }
  void play(PlayerHandle name, PlayManner manner) {
    const auto clip = std::make_shared<const Clip>(Clip{SampleRate(8000), std::vector<Sample>(8000)});
    Player::Options options{.handle = name, .times = 0, .manner = manner};
    auto player = std::make_unique<Player>(options, clip);
    core.leg(handle_of(1))->add(player);
  }
  void stop(PlayerHandle name) { core.leg(handle_of(1))->remove_player(name); }
  [[nodiscard]] int rate() const { return spec.sample_rate.hz(); }

  RecordRing records{EventRing::kCapacity};
  EventRing events{records};
  MediaCore core;
  CodecSpec spec;
  Nanos now{};
  Nanos tone_from{};
  std::optional<Nanos> tone_at;
  std::array<Nanos, kLegs> due;
  std::array<bool, kLegs> speaks{true, true, true};
  std::array<uint32_t, kLegs> packets{};
  /// Frames of peer 0's pauses beyond its comfort noise packets.
  uint32_t pauses = 0;
  uint32_t members = 0;
  /// Returns true if the network loses the packet of peer 0 with this number.
  std::function<bool(uint32_t)> lost = [](uint32_t) { return false; };
  std::vector<Sent> sent;
};

/// Returns the time from the arrival of the tone's first packet until the listener's peer can play it.
double delay_ms(const Call& call) {
  for (const Sent& packet : call.sent) {
    for (size_t i = 0; i < packet.audio.size(); ++i) {
      if (packet.audio[i] < kAmplitude / 2) continue;
      return in_milliseconds(packet.at - *call.tone_at) + 1e3 * static_cast<double>(i) / call.rate();
    }
  }
  return 1e9;
}

}  // namespace

TEST_SUITE("conference") {
  TEST_CASE("delays a member's audio by at most 35 ms without jitter, and by less than 30 ms on average") {
    double sum = 0;
    for (int phase = 0; phase < 20; ++phase) {
      Call call(kPcmu, phase * kMillisecond);
      call.tone_from = 8 * kSecond;
      for (size_t leg = 0; leg < kLegs; ++leg) {
        call.join(leg);
        call.run(7);
      }
      call.run(10'000);
      const double delay = delay_ms(call);
      CHECK(delay <= 35);
      sum += delay;
    }
    CHECK(sum / 20 < 30);
  }

  TEST_CASE("a member's stream has no gap in time when the member follows the slot of its room") {
    for (int phase = 0; phase < 20; phase += 3) {
      Call call(kPcmu, phase * kMillisecond);
      call.run(400);
      call.join(0);
      call.run(300);
      call.join(1);
      call.run(400);
      for (size_t i = 1; i < call.sent.size(); ++i)
        CHECK(call.sent[i].at - call.sent[i - 1].at <= kFrameTime);
    }
  }
}

namespace {

struct Change {
  const char* name;
  std::function<void(Call&)> begin;
  std::function<void(Call&)> change;
  bool silences = false;  // the tone ends or begins
};

const std::array kChanges{
    Change{"a prompt is mixed into a bridge",
           [](Call& call) { call.core.bridge(handle_of(0), handle_of(1)); },
           [](Call& call) { call.play(PlayerHandle(1), PlayManner::mixed); }},
    Change{"a mixed prompt ends",
           [](Call& call) {
             call.core.bridge(handle_of(0), handle_of(1));
             call.play(PlayerHandle(1), PlayManner::mixed);
           },
           [](Call& call) { call.stop(PlayerHandle(1)); }},
    Change{"hold begins", [](Call& call) { call.core.bridge(handle_of(0), handle_of(1)); },
           [](Call& call) { call.play(PlayerHandle(1), PlayManner::alone); }, true},
    Change{"hold ends",
           [](Call& call) {
             call.core.bridge(handle_of(0), handle_of(1));
             call.play(PlayerHandle(1), PlayManner::alone);
           },
           [](Call& call) { call.stop(PlayerHandle(1)); }, true},
    Change{"a bridge becomes a conference", [](Call& call) { call.core.bridge(handle_of(0), handle_of(1)); },
           [](Call& call) {
             call.join(0);
             call.join(1);
           }},
    Change{"a conference becomes a bridge",
           [](Call& call) {
             call.join(0);
             call.join(1);
           },
           [](Call& call) { call.core.bridge(handle_of(0), handle_of(1)); }},
    Change{"another member joins",
           [](Call& call) {
             call.join(1);
             call.join(0);
           },
           [](Call& call) { call.join(2); }},
    Change{"another member leaves",
           [](Call& call) {
             call.join(2);
             call.join(1);
             call.join(0);
           },
           [](Call& call) { call.core.remove_leg(handle_of(2), call.now); }},
};

/// Longest run of 5 ms windows below half level, in ms.
double longest_gap_ms(const std::vector<Sample>& audio, int rate) {
  const auto window = static_cast<size_t>(rate / 200);
  double longest = 0;
  double gap = 0;
  for (size_t at = 0; at + window <= audio.size(); at += window) {
    double energy = 0;
    for (size_t i = at; i < at + window; ++i) energy += static_cast<double>(audio[i]) * audio[i];
    const bool low = std::sqrt(energy / static_cast<double>(window)) < kAmplitude / std::numbers::sqrt2 / 2;
    gap = low ? gap + 5 : 0;
    longest = std::max(longest, gap);
  }
  return longest;
}

void check_change(const Change& change, const CodecSpec& listener, int phase) {
  const std::string name = change.name;
  CAPTURE(name);
  CAPTURE(phase);
  CAPTURE(listener.sample_rate.hz());
  Call call(listener, phase * kMillisecond);
  change.begin(call);
  call.run(3000);
  const size_t before = call.sent.size();
  call.run(phase);
  change.change(call);
  call.run(2000);
  std::vector<Sample> audio;
  int widest = 0;
  const double step_limit = 1.5 * kAmplitude * 2 * std::numbers::pi * kHz / call.rate();
  for (size_t i = before - 50; i < call.sent.size(); ++i) {
    const Sent& last = call.sent[i - 1];
    const Sent& next = call.sent[i];
    CHECK(static_cast<uint16_t>(next.sequence - last.sequence) == 1);
    CHECK(next.timestamp - last.timestamp == last.audio.size());
    CHECK(next.at - last.at <= 2 * kFrameTime);
    audio.insert(audio.end(), next.audio.begin(), next.audio.end());
  }
  for (size_t i = 1; i < audio.size(); ++i) widest = std::max(widest, std::abs(audio[i] - audio[i - 1]));
  if (!change.silences) CHECK(longest_gap_ms(audio, call.rate()) <= 20);
  CHECK(widest <= step_limit);
}

}  // namespace

namespace {

/// Ground truth: the E-model for what the network has really done.
struct Truth {
  uint32_t sent = 0;
  uint32_t lost = 0;
  uint32_t runs = 0;
  bool was_lost = false;
  void add(bool is_lost) {
    ++sent;
    lost += is_lost ? 1 : 0;
    runs += is_lost && !was_lost ? 1 : 0;
    was_lost = is_lost;
  }
  [[nodiscard]] double loss() const { return static_cast<double>(lost) / sent; }
  [[nodiscard]] double mos(double delay_ms) const {
    const double percent = 100 * loss();
    const double burst = std::max(1.0, static_cast<double>(lost) / std::max(1U, runs) * (1 - loss()));
    const double late = delay_ms > 177.3 ? 0.11 * (delay_ms - 177.3) : 0;
    const double r = 93.2 - 0.024 * delay_ms - late - 95 * percent / (percent / burst + 25.1);
    return 1 + 0.035 * r + r * (r - 60) * (100 - r) * 7e-6;
  }
};

using Connect = std::function<void(Call&)>;

/// Returns the speaking leg's reported quality after a minute, and compares it with the truth.
void check_quality(const char* path, const CodecSpec& listener, const Connect& connect, double loss,
                   double stays) {
  const std::string name = path;
  CAPTURE(name);
  CAPTURE(loss);
  Call call(listener);
  Truth truth;
  std::mt19937 random(3);
  bool is_lost = false;
  call.lost = [&](uint32_t) {
    // Gilbert model: losses end with the probability 1 - stays.
    const double limit = is_lost ? stays : loss * (1 - stays) / (1 - loss);
    is_lost = std::uniform_real_distribution<double>(0, 1)(random) < limit;
    truth.add(is_lost);
    return is_lost;
  };
  connect(call);
  call.run(60'000);
  const LegStatistics seen = call.core.peek(handle_of(0))->statistics()->read();
  CHECK(std::abs(seen.loss_fraction - truth.loss()) <= 0.002);
  CHECK(seen.mos > 0);
  CHECK(std::abs(seen.mos - truth.mos(seen.playout_delay_ms + kFrameMs)) <= 0.1);
  CHECK(seen.playout_delay_ms <= 60);
}

}  // namespace

TEST_SUITE("conference") {
  TEST_CASE(
      "reports the loss and the MOS of the real network while relaying, transcoding and in a conference") {
    const Connect bridge = [](Call& call) { call.core.bridge(handle_of(0), handle_of(1)); };
    const Connect room = [](Call& call) {
      for (size_t leg = 0; leg < kLegs; ++leg) call.join(leg);
    };
    for (const auto& [loss, stays] : {std::pair{0.0, 0.0}, {0.02, 0.0}, {0.05, 0.5}}) {
      check_quality("relay", kPcmu, bridge, loss, stays);
      check_quality("transcoding", kL16, bridge, loss, stays);
      check_quality("conference", kPcmu, room, loss, stays);
    }
  }

  TEST_CASE("pauses of a member with comfort noise (RFC 3389) are silence, no loss and no gap") {
    for (const CodecSpec& listener : {kPcmu, kL16}) {
      Call call(listener);
      for (size_t leg = 0; leg < kLegs; ++leg) call.join(leg);
      call.tone_from = 3600 * kSecond;
      call.run(1000);
      for (int i = 0; i < 5; ++i) {
        call.speaks[0] = false;
        // The pause takes the sequence number of one packet, but the time of 20.
        call.comfort(20);
        call.run(400);
        call.speaks[0] = true;
        call.due[0] = call.now + kTick;
        call.run(400);
      }
      CHECK(call.core.peek(handle_of(0))->statistics()->read().packets_lost == 0);
      REQUIRE(call.sent.size() > 200);
      for (size_t i = 1; i < call.sent.size(); ++i) {
        const Sent& one = call.sent[i];
        CHECK(static_cast<uint16_t>(one.sequence - call.sent[i - 1].sequence) == 1);
        CHECK(one.timestamp - call.sent[i - 1].timestamp == one.audio.size());
        CHECK(one.at - call.sent[i - 1].at <= 2 * kFrameTime);
        // After the beginning, the other member sends a constant level.
        if (i >= 50) CHECK(std::ranges::max(one.audio) - std::ranges::min(one.audio) < 20);
      }
    }
  }

  TEST_CASE("changes of the mode cause no click, no gap over 20 ms, and no jump of timestamps") {
    for (const Change& change : kChanges) {
      for (const CodecSpec& listener : {kPcmu, kPcma, kL16}) {
        for (int phase = 0; phase < 20; phase += 7) check_change(change, listener, phase);
      }
    }
  }
}

}  // namespace carillon
