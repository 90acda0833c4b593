// EngineObject: legs and what joins two of them.
#include "addon/arguments.hpp"
#include "addon/engine_object.hpp"
#include "addon/places.hpp"
#include "addon/protection.hpp"
#include "tls/srtp_ciphers.hpp"

namespace carillon {

namespace {

constexpr uint16_t kHighestRtpPort = 65'534;  // RTCP has the one above
constexpr int64_t kMaxPayloadType = 127;

/// An IP address; absent or empty: none. A host name is no place to send to.
Address address_of(Argument ip, uint16_t port) {
  const std::string text = ip.given() ? ip.text() : "";
  if (text.empty()) return {};
  const std::optional<Address> address = parse_address(text, port);
  if (!address) ip.wrong("an IP address");
  return address.value_or(Address{});
}

uint8_t payload_type_of(Argument value) { return static_cast<uint8_t>(value.integer(0, kMaxPayloadType)); }

struct PayloadTypes {
  uint8_t send;
  uint8_t receive;
};

PayloadTypes payload_types_of(Fields types) {
  const uint8_t send = payload_type_of(types["send"]);
  return {send, payload_type_of(types["receive"])};
}

struct EventTypes {
  uint8_t send;
  uint8_t receive;
  RtpClockRate clock;
};

EventTypes event_types_of(Fields types) {
  const uint8_t send = payload_type_of(types["send"]);
  const uint8_t receive = payload_type_of(types["receive"]);
  return {send, receive, RtpClockRate(types["clockRate"].one_of({8000, 16000, 48000}))};
}

constexpr int64_t kHighestBitrate = 510'000;  // of Opus (RFC 6716 §2.1.1)

CodecSpec codec_of(Fields codec) {
  CodecSpec spec;
  spec.coding = codec["name"].choice<Coding>({{"PCMU", Coding::pcmu},
                                              {"PCMA", Coding::pcma},
                                              {"G722", Coding::g722},
                                              {"L16", Coding::l16},
                                              {"OPUS", Coding::opus}});
  Argument clock = codec["clockRate"];
  Argument sample = codec["sampleRate"];
  switch (spec.coding) {
    case Coding::l16:
      spec.sample_rate = SampleRate(sample.one_of({8000, 16000}));
      static_cast<void>(clock.one_of({spec.sample_rate.hz()}));
      break;
    case Coding::opus: {
      spec.sample_rate = SampleRate(sample.one_of({8000, 16000, 24000, 48000}));
      static_cast<void>(clock.one_of({48000}));
      Fields opus = codec["opus"].fields();
      spec.bitrate = static_cast<int>(opus["bitrate"].integer(0, kHighestBitrate));
      spec.fec = opus["fec"].boolean();
      spec.dtx = opus["dtx"].boolean();
      break;
    }
    default:
      spec.sample_rate = SampleRate(sample.one_of({spec.coding == Coding::g722 ? 16000 : 8000}));
      static_cast<void>(clock.one_of({8000}));
  }
  static_cast<void>(codec["channels"].one_of({1}));
  return spec;
}

struct Session {
  LegRemote remote;
  CodecSpec codec;
  Protection protection;
  /// None: the peer is where its description and its packets say.
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

/// A MediaSession of src/edge/media/native.ts.
Session session_of(Fields session) {
  LegRemote remote;
  ExpectedSource& source = remote.receive.source;
  const uint16_t port = session["port"].u16();
  source.signalled = address_of(session["address"], port);
  source.signalling = address_of(session["signallingAddress"], 0);
  const CodecSpec codec = codec_of(session["codec"].fields());
  remote.receive.coding = remote.send.coding = codec.coding;
  const PayloadTypes audio = payload_types_of(session["payloadType"].fields());
  remote.send.payload_type = audio.send;
  remote.receive.payload_type = audio.receive;
  if (Argument events = session["telephoneEvent"]; events.given()) {
    const EventTypes types = event_types_of(events.fields());
    remote.send.telephone_event = types.send;
    remote.receive.telephone_event = types.receive;
    remote.send.event_clock = remote.receive.event_clock = types.clock;
  }
  remote.send.packet_ms = session["ptimeMs"].one_of({10, 20, 30, 40, 50, 60});
  struct Direction {
    bool send;
    bool receive;
  };
  const auto direction = session["direction"].choice<Direction>({{"sendrecv", {true, true}},
                                                                 {"sendonly", {true, false}},
                                                                 {"recvonly", {false, true}},
                                                                 {"inactive", {false, false}}});
  remote.send.sending = direction.send;
  source.receiving = direction.receive;
  if (Argument mux = session["rtcpMux"]; mux.given()) remote.rtcp_mux = mux.boolean();
  if (Argument learned = session["rtcpLearned"]; learned.given()) remote.rtcp_learned = learned.boolean();
  if (Argument comfort = session["comfortNoise"]; comfort.given()) {
    remote.send.comfort_noise = comfort.boolean();
  }
  if (Argument metrics = session["voipMetrics"]; metrics.given()) remote.voip_metrics = metrics.boolean();
  return {remote, codec, protection_of(session["protection"]), ice_of(session["ice"])};
}

}  // namespace

/// ({ port, ssrc, sequence, timestamp, mediaTimeoutMs, keepAliveMs, near? }): the leg's handle; 0: too many
/// legs; below 0: the errno that opening it met, negated (EBUSY: the media threads have no time for it).
Napi::Value EngineObject::open_leg(const Info& info) {
  Arguments args(info, "openLeg");
  Fields fields = args.fields(0);
  const auto port = static_cast<uint16_t>(fields["port"].integer(1, kHighestRtpPort));
  LegConfig config;
  config.ssrc = fields["ssrc"].u32();
  config.sequence = fields["sequence"].u16();
  config.timestamp = fields["timestamp"].u32();
  config.media_timeout = static_cast<int64_t>(fields["mediaTimeoutMs"].milliseconds()) * kMillisecond;
  config.keep_alive = static_cast<int64_t>(fields["keepAliveMs"].milliseconds()) * kMillisecond;
  Argument given = fields["near"];
  const LegHandle near = given.given() ? given.handle<LegHandle>() : LegHandle();
  if (!fields.good()) return info.Env().Undefined();
  const MediaEngine::Opened opened = engine_->open_leg(port, config, near);
  if (opened.error != 0) return Napi::Number::New(info.Env(), -opened.error);
  return Napi::Number::New(info.Env(), opened.handle.value());
}

/// (leg, session)
Napi::Value EngineObject::configure_leg(const Info& info) {
  Arguments args(info, "configureLeg");
  const auto handle = args.at(0, "leg").handle<LegHandle>();
  Session session = session_of(args.fields(1));
  if (!args.good()) return info.Env().Undefined();
  const bool goes_on = session.protection.dtls && exchanging_[handle] == session.protection.dtls;
  if (session.protection.dtls && !goes_on) session.protection.packets = std::make_unique<AwaitedProtection>();
  exchanging_[handle] = session.protection.dtls;
  if (session.ice) dtls_->expect(handle, session.ice->credentials().local_ufrag);
  std::optional<LegCodecs> codecs = sessions_.change(handle, session.codec);
  engine_->at_leg(handle, [session = std::move(session), codecs = std::move(codecs)](MediaLoop& loop,
                                                                                     LegHandle at) mutable {
    with_leg(loop, at, [&](Leg& leg) {
      leg.find_peer_by(session.ice, loop.now());
      leg.configure(session.remote, loop.now(), codecs ? &*codecs : nullptr);
      if (session.protection.packets) leg.protect_with(session.protection.packets);
    });
  });
  if (const std::optional<DtlsTerms>& terms = exchanging_[handle]; terms && !goes_on)
    dtls_->begin(handle, *terms);
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

/// (port): UDP and TCP, for all legs with ICE. The port, or below 0 the errno that opening it met, negated.
Napi::Value EngineObject::share_ice_port(const Info& info) {
  Arguments args(info, "shareIcePort");
  const auto port = static_cast<uint16_t>(args.at(0, "port").integer(0, UINT16_MAX));
  if (!args.good()) return info.Env().Undefined();
  Address local = engine_->local();
  local.port = port;
  const int error = dtls_->share_port(local);
  return Napi::Number::New(info.Env(), error == 0 ? dtls_->shared_port() : -error);
}

/// (certificate, key), both PEM: who we are in exchanges of keys (DTLS).
Napi::Value EngineObject::use_identity(const Info& info) {
  Arguments args(info, "useIdentity");
  Argument certificate = args.at(0, "certificate");
  std::shared_ptr<DtlsIdentity> identity = DtlsIdentity::read(certificate.text(), args.at(1, "key").text());
  if (!identity) certificate.wrong("a certificate as PEM, with its key behind it");
  if (!args.good()) return info.Env().Undefined();
  dtls_->use(std::move(identity));
  return info.Env().Undefined();
}

Napi::Value EngineObject::statistics_object(Napi::Env env, const std::optional<LegStatistics>& statistics) {
  if (!statistics) return env.Undefined();
  Napi::Object out = Napi::Object::New(env);
  out.Set("packetsReceived", static_cast<double>(statistics->packets_received));
  out.Set("packetsSent", static_cast<double>(statistics->packets_sent));
  out.Set("packetsLost", static_cast<double>(statistics->packets_lost));
  out.Set("packetsLate", static_cast<double>(statistics->packets_late));
  out.Set("unknownSources", static_cast<double>(statistics->unknown_sources));
  out.Set("malformed", static_cast<double>(statistics->malformed));
  out.Set("unauthentic", static_cast<double>(statistics->unauthentic));
  out.Set("notNegotiated", static_cast<double>(statistics->not_negotiated));
  out.Set("jitterMs", statistics->jitter_ms);
  out.Set("lossFraction", statistics->loss_fraction);
  out.Set("mos", statistics->mos);
  out.Set("roundTripMs", statistics->round_trip_ms);
  out.Set("discardFraction", statistics->discard_fraction);
  out.Set("burstDensity", statistics->burst_density);
  out.Set("burstMs", statistics->burst_ms);
  out.Set("gapMs", statistics->gap_ms);
  out.Set("rating", statistics->rating);
  out.Set("playoutDelayMs", statistics->playout_delay_ms);
  out.Set("peerLossFraction", statistics->peer_loss_fraction);
  out.Set("peerJitterMs", statistics->peer_jitter_ms);
  out.Set("peerMos", statistics->peer_mos);
  return out;
}

Napi::Value EngineObject::statistics(const Info& info) {
  Arguments args(info, "statistics");
  const auto leg = args.at(0, "leg").handle<LegHandle>();
  if (!args.good()) return info.Env().Undefined();
  return statistics_object(info.Env(), engine_->statistics(leg));
}

Napi::Value EngineObject::close_leg(const Info& info) {
  Arguments args(info, "closeLeg");
  const auto leg = args.at(0, "leg").handle<LegHandle>();
  if (!args.good()) return info.Env().Undefined();
  if (const auto found = exchanging_.find(leg); found != exchanging_.end()) {
    if (found->second || dtls_->shared_port() != 0) dtls_->end(leg);
    exchanging_.erase(found);
  }
  sessions_.forget(leg);
  return statistics_object(info.Env(), engine_->close_leg(leg));
}

Napi::Value EngineObject::bridge(const Info& info) {
  Arguments args(info, "bridge");
  const auto a = args.at(0, "a").handle<LegHandle>();
  const auto b = args.at(1, "b").handle<LegHandle>();
  if (!args.good()) return info.Env().Undefined();
  engine_->bridge(a, b);
  return info.Env().Undefined();
}

Napi::Value EngineObject::unbridge(const Info& info) {
  Arguments args(info, "unbridge");
  const auto a = args.at(0, "a").handle<LegHandle>();
  const auto b = args.at(1, "b").handle<LegHandle>();
  if (!args.good()) return info.Env().Undefined();
  engine_->unbridge(a, b);
  return info.Env().Undefined();
}

}  // namespace carillon
