// EngineObject: legs and bridges.
#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "addon/arguments.hpp"
#include "addon/engine_object.hpp"
#include "addon/places.hpp"
#include "addon/protection.hpp"
#include "tls/srtp_ciphers.hpp"

namespace carillon {

namespace {

constexpr uint16_t kHighestRtpPort = 65'534;  // RTCP uses the next higher port
constexpr int64_t kMaxPayloadType = 127;

/// Parses an IP address. Absent or empty: no address. Host names are not supported.
Address address_of(Argument ip, uint16_t port) {
  const std::string text = ip.given() ? ip.text() : "";
  if (text.empty()) return {};
  const std::optional<Address> address = parse_address(text, port);
  if (!address) ip.wrong("an IP address");
  return address.value_or(Address{});
}

/// Parses a host from the peer's SDP, unchecked. A host name yields no address.
Address host_of(Argument text) {
  return text.given() ? parse_address(text.text(), 0).value_or(Address{}) : Address{};
}

uint8_t payload_type_of(Argument value) { return static_cast<uint8_t>(value.integer(0, kMaxPayloadType)); }

constexpr int64_t kHighestBitrate = 510'000;  // of Opus (RFC 6716 §2.1.1)

/// Positional arguments of configureLeg. The values of a MediaSession are passed positionally, because
/// reading them from objects takes ten times as long.
class SessionArguments {
 public:
  explicit SessionArguments(Arguments& args) : args_(args) {}
  /// Returns the next argument, in the order of SessionValues (src/edge/media/native-values.ts).
  [[nodiscard]] Argument next(const char* name) { return args_.at(at_++, name); }

 private:
  Arguments& args_;
  size_t at_ = 1;  // after the leg
};

CodecSpec codec_of(SessionArguments& session) {
  std::vector<std::pair<std::string_view, Coding>> names;
  for (const CodecProperties& codec : all_codecs()) names.emplace_back(codec.name, codec.coding);
  CodecSpec spec;
  spec.coding = session.next("codec.name").choice<Coding>(names);
  const CodecProperties& codec = properties_of(spec.coding);
  Argument clock = session.next("codec.clockRate");
  Argument sample = session.next("codec.sampleRate");
  static_cast<void>(session.next("codec.channels").one_of({1}));
  Argument opus = session.next("codec.opus");
  spec.sample_rate = SampleRate(sample.one_of(codec.sample_rates));
  static_cast<void>(clock.one_of({codec.clock_rate == 0 ? spec.sample_rate.hz() : codec.clock_rate}));
  if (codec.has_sending) {
    Fields fields = opus.fields();
    spec.bitrate = static_cast<int>(fields["bitrate"].integer(0, kHighestBitrate));
    spec.fec = fields["fec"].boolean();
    spec.dtx = fields["dtx"].boolean();
  }
  return spec;
}

struct Session {
  LegRemote remote;
  CodecSpec codec;
  Protection protection;
  /// ICE agent. Null: the peer's address follows from its description and packets.
  std::unique_ptr<IceLite> ice;
};

std::unique_ptr<IceLite> ice_of(Argument value) {
  if (!value.given()) return nullptr;
  Fields fields = value.fields();
  IceCredentials credentials;
  credentials.local_ufrag = fields["localUfrag"].text();
  credentials.local_password = fields["localPassword"].text();
  credentials.remote_ufrag = fields["remoteUfrag"].text();
  return std::make_unique<IceLite>(std::move(credentials), openssl_hmac_sha1);
}

Session session_of(SessionArguments session) {
  LegRemote remote;
  ExpectedSource& source = remote.receive.source;
  Argument address = session.next("address");
  source.signalled = address_of(address, session.next("port").u16());
  source.signalling = address_of(session.next("signallingAddress"), 0);
  const CodecSpec codec = codec_of(session);
  remote.receive.coding = remote.send.coding = codec.coding;
  remote.send.payload_type = payload_type_of(session.next("payloadType.send"));
  remote.receive.payload_type = payload_type_of(session.next("payloadType.receive"));
  Argument event_send = session.next("telephoneEvent.send");
  Argument event_receive = session.next("telephoneEvent.receive");
  Argument event_clock = session.next("telephoneEvent.clockRate");
  if (event_send.given()) {
    remote.send.telephone_event = payload_type_of(event_send);
    remote.receive.telephone_event = payload_type_of(event_receive);
    remote.send.event_clock = remote.receive.event_clock =
        RtpClockRate(event_clock.one_of({8000, 16000, 48000}));
  }
  remote.send.packet_ms = session.next("ptimeMs").one_of({10, 20, 30, 40, 50, 60});
  struct Direction {
    bool send;
    bool receive;
  };
  const auto direction = session.next("direction")
                             .choice<Direction>({{"sendrecv", {true, true}},
                                                 {"sendonly", {true, false}},
                                                 {"recvonly", {false, true}},
                                                 {"inactive", {false, false}}});
  remote.send.sending = direction.send;
  source.receiving = direction.receive;
  if (Argument mux = session.next("rtcpMux"); mux.given()) remote.rtcp_mux = mux.boolean();
  if (Argument port = session.next("rtcpPort"); port.given()) remote.rtcp_port = port.u16();
  if (Argument learned = session.next("rtcpLearned"); learned.given()) {
    remote.rtcp_learned = learned.boolean();
  }
  Argument comfort_send = session.next("comfortNoise.send");
  Argument comfort_receive = session.next("comfortNoise.receive");
  if (comfort_send.given()) {
    remote.send.comfort_noise = payload_type_of(comfort_send);
    remote.receive.comfort_noise = payload_type_of(comfort_receive);
  }
  if (Argument metrics = session.next("voipMetrics"); metrics.given()) {
    remote.voip_metrics = metrics.boolean();
  }
  Argument protection = session.next("protection");
  std::unique_ptr<IceLite> ice = ice_of(session.next("ice"));
  source.described = host_of(session.next("describedAddress"));
  if (Argument others = session.next("acceptOtherSources"); others.given()) {
    source.accepts_others = others.boolean();
  }
  return {remote, codec, protection_of(protection), std::move(ice)};
}

/// Number of values, in the order of readStatistics (src/edge/media/native-values.ts).
constexpr size_t kStatistics = 21;

/// Writes the statistics. Returns false and writes nothing if there are none.
bool write_statistics(const std::optional<LegStatistics>& found, std::span<double> out) {
  if (!found) return false;
  const LegStatistics& statistics = *found;
  const std::array<double, kStatistics> figures = {
      static_cast<double>(statistics.packets_received),
      static_cast<double>(statistics.packets_sent),
      static_cast<double>(statistics.packets_lost),
      static_cast<double>(statistics.packets_late),
      static_cast<double>(statistics.unknown_sources),
      static_cast<double>(statistics.malformed),
      static_cast<double>(statistics.unauthentic),
      static_cast<double>(statistics.not_negotiated),
      statistics.jitter_ms,
      statistics.loss_fraction,
      statistics.mos,
      statistics.round_trip_ms,
      statistics.discard_fraction,
      statistics.burst_density,
      statistics.burst_ms,
      statistics.gap_ms,
      statistics.rating,
      statistics.playout_delay_ms,
      statistics.peer_loss_fraction,
      statistics.peer_jitter_ms,
      statistics.peer_mos,
  };
  std::ranges::copy(figures, out.begin());
  return true;
}

}  // namespace

/// (port, ssrc, sequence, timestamp, mediaTimeoutMs, keepAliveMs, near?): handle of the leg; 0: too many
/// legs; negative: negated errno of the sockets (EBUSY: the media threads are overloaded).
Napi::Value EngineObject::open_leg(const Info& info) {
  Arguments args(info, "openLeg");
  const auto port = static_cast<uint16_t>(args.at(0, "port").integer(1, kHighestRtpPort));
  LegConfig config;
  config.ssrc = args.at(1, "ssrc").u32();
  config.sequence = args.at(2, "sequence").u16();
  config.timestamp = args.at(3, "timestamp").u32();
  config.media_timeout = static_cast<int64_t>(args.at(4, "mediaTimeoutMs").milliseconds()) * kMillisecond;
  config.keep_alive = static_cast<int64_t>(args.at(5, "keepAliveMs").milliseconds()) * kMillisecond;
  Argument given = args.at(6, "near");
  const LegHandle near = given.given() ? given.handle<LegHandle>() : LegHandle();
  if (!args.good()) return info.Env().Undefined();
  const MediaEngine::Opened opened = engine_->open_leg(port, config, near);
  if (opened.error != 0) return Napi::Number::New(info.Env(), -opened.error);
  sessions_.begin(opened.handle);
  return Napi::Number::New(info.Env(), opened.handle.value());
}

/// (leg, …SessionValues)
Napi::Value EngineObject::configure_leg(const Info& info) {
  Arguments args(info, "configureLeg");
  const auto handle = args.at(0, "leg").handle<LegHandle>();
  Session session = session_of(SessionArguments(args));
  // A closed leg must not get state that only close_leg() removes.
  if (!args.good() || !sessions_.knows(handle)) return info.Env().Undefined();
  const std::optional<DtlsTerms> terms = session.protection.dtls;
  const auto known = exchanging_.find(handle);
  const bool goes_on = terms && known != exchanging_.end() && known->second == terms;
  if (terms && !goes_on) session.protection.packets = std::make_unique<AwaitedProtection>();
  if (terms || session.ice || known != exchanging_.end()) exchanging_[handle] = terms;
  if (session.ice) dtls_->expect(handle, session.ice->credentials().local_ufrag);
  std::optional<LegCodecs> codecs = sessions_.change(handle, session.codec, session.remote.send.packet_ms);
  engine_->at_leg(handle, [session = std::move(session), codecs = std::move(codecs)](MediaLoop& loop,
                                                                                     LegHandle at) mutable {
    with_leg(loop, at, [&](Leg& leg) {
      leg.find_peer_by(session.ice, loop.now());
      leg.configure(session.remote, loop.now(), codecs ? &*codecs : nullptr);
      if (session.protection.packets) leg.protect_with(session.protection.packets);
    });
  });
  // The other leg of a bridge may now need objects for transcoding.
  if (const auto partner = sessions_.partner(handle)) equip(*partner);
  if (terms && !goes_on) dtls_->begin(handle, *terms);
  return info.Env().Undefined();
}

/// (leg, wanted)
Napi::Value EngineObject::hear_tones(const Info& info) {
  Arguments args(info, "hearTones");
  const auto handle = args.at(0, "leg").handle<LegHandle>();
  const bool wanted = args.at(1, "wanted").boolean();
  if (!args.good()) return info.Env().Undefined();
  auto detector = wanted ? std::make_unique<DtmfDetector>() : nullptr;
  engine_->at_leg(handle, [detector = std::move(detector)](MediaLoop& loop, LegHandle at) mutable {
    with_leg(loop, at, [&](Leg& leg) { leg.want_tones(detector); });
  });
  return info.Env().Undefined();
}

/// (port): opens the UDP and TCP port for all legs with ICE. Returns the port, or a negated errno.
Napi::Value EngineObject::share_ice_port(const Info& info) {
  Arguments args(info, "shareIcePort");
  const auto port = static_cast<uint16_t>(args.at(0, "port").integer(0, UINT16_MAX));
  if (!args.good()) return info.Env().Undefined();
  Address local = engine_->local();
  local.port = port;
  const int error = dtls_->share_port(local);
  return Napi::Number::New(info.Env(), error == 0 ? dtls_->shared_port() : -error);
}

/// (certificate, key), both PEM: sets our DTLS certificate.
Napi::Value EngineObject::use_identity(const Info& info) {
  Arguments args(info, "useIdentity");
  Argument certificate = args.at(0, "certificate");
  std::shared_ptr<DtlsIdentity> identity = DtlsIdentity::read(certificate.text(), args.at(1, "key").text());
  if (!identity) certificate.wrong("a PEM certificate followed by its matching key");
  if (!args.good()) return info.Env().Undefined();
  dtls_->use(std::move(identity));
  return info.Env().Undefined();
}

/// (leg, statistics: Float64Array): false, without writing, if the leg does not exist
Napi::Value EngineObject::statistics(const Info& info) {
  Arguments args(info, "statistics");
  const auto leg = args.at(0, "leg").handle<LegHandle>();
  const std::span<double> out = args.at(1, "statistics").numbers(kStatistics);
  if (!args.good()) return info.Env().Undefined();
  return Napi::Boolean::New(info.Env(), write_statistics(engine_->statistics(leg), out));
}

/// (leg, statistics: Float64Array): closes the leg and writes its final statistics
Napi::Value EngineObject::close_leg(const Info& info) {
  Arguments args(info, "closeLeg");
  const auto leg = args.at(0, "leg").handle<LegHandle>();
  const std::span<double> out = args.at(1, "statistics").numbers(kStatistics);
  if (!args.good()) return info.Env().Undefined();
  if (const auto found = exchanging_.find(leg); found != exchanging_.end()) {
    dtls_->end(leg);
    exchanging_.erase(found);
  }
  sessions_.forget(leg);
  return Napi::Boolean::New(info.Env(), write_statistics(engine_->close_leg(leg), out));
}

/// Gives a leg the objects that it lacks for its bridge.
void EngineObject::equip(LegHandle leg) {
  std::optional<LegCodecs> codecs = sessions_.equip(leg);
  if (!codecs) return;
  engine_->at_leg(leg, [codecs = std::move(*codecs)](MediaLoop& loop, LegHandle at) mutable {
    with_leg(loop, at, [&](Leg& found) { found.use(codecs, loop.now()); });
  });
}

Napi::Value EngineObject::bridge(const Info& info) {
  Arguments args(info, "bridge");
  const auto a = args.at(0, "a").handle<LegHandle>();
  const auto b = args.at(1, "b").handle<LegHandle>();
  if (!args.good()) return info.Env().Undefined();
  sessions_.bridge(a, b);
  for (const LegHandle leg : {a, b}) equip(leg);
  engine_->bridge(a, b);
  return info.Env().Undefined();
}

Napi::Value EngineObject::unbridge(const Info& info) {
  Arguments args(info, "unbridge");
  const auto a = args.at(0, "a").handle<LegHandle>();
  const auto b = args.at(1, "b").handle<LegHandle>();
  if (!args.good()) return info.Env().Undefined();
  if (sessions_.partner(a) == b) sessions_.part(a);
  engine_->unbridge(a, b);
  return info.Env().Undefined();
}

}  // namespace carillon
