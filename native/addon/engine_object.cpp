#include "addon/engine_object.hpp"

#include <algorithm>

#include "addon/arguments.hpp"
#include "addon/clip.hpp"
#include "addon/stream_object.hpp"

namespace carillon {

Napi::Function EngineObject::define(Napi::Env env) {
  return DefineClass(env, "Engine",
                     {
                         InstanceMethod<&EngineObject::open_leg>("openLeg"),
                         InstanceMethod<&EngineObject::configure_leg>("configureLeg"),
                         InstanceMethod<&EngineObject::figures>("figures"),
                         InstanceMethod<&EngineObject::close_leg>("closeLeg"),
                         InstanceMethod<&EngineObject::bridge>("bridge"),
                         InstanceMethod<&EngineObject::unbridge>("unbridge"),
                         InstanceMethod<&EngineObject::play_clip>("playClip"),
                         InstanceMethod<&EngineObject::play_tone>("playTone"),
                         InstanceMethod<&EngineObject::stop_player>("stopPlayer"),
                         InstanceMethod<&EngineObject::remove_player>("removePlayer"),
                         InstanceMethod<&EngineObject::send_digits>("sendDigits"),
                         InstanceMethod<&EngineObject::remove_digits>("removeDigits"),
                         InstanceMethod<&EngineObject::open_stream>("openStream"),
                         InstanceMethod<&EngineObject::pause_stream>("pauseStream"),
                         InstanceMethod<&EngineObject::close_stream>("closeStream"),
                         InstanceMethod<&EngineObject::take_events>("takeEvents"),
                         InstanceMethod<&EngineObject::now_ms>("nowMs"),
                         InstanceMethod<&EngineObject::status>("status"),
                         InstanceMethod<&EngineObject::stop>("stop"),
                         InstanceMethod<&EngineObject::inject>("inject"),
                         InstanceMethod<&EngineObject::advance>("advance"),
                         InstanceMethod<&EngineObject::drain>("drain"),
                     });
}

EngineObject::EngineObject(const Info& info) : Napi::ObjectWrap<EngineObject>(info) {
  const bool manual = bool_at(info, 0);
  const std::optional<Address> local = parse_address(string_at(info, 1), 0);
  if (!local) {
    Napi::TypeError::New(info.Env(), "rtpHost is not an IP address").ThrowAsJavaScriptException();
    return;
  }
  std::function<void()> wake = [] {};
  if (!manual && info.Length() > 2 && info[2].IsFunction()) {
    wake_ = Napi::ThreadSafeFunction::New(info.Env(), info[2].As<Napi::Function>(), "carillon media events", 0, 1);
    wake_.Unref(info.Env());  // an idle engine does not keep the process alive
    has_wake_ = true;
    wake = [function = wake_]() mutable { static_cast<void>(function.NonBlockingCall()); };
  }
  engine_ = std::make_unique<MediaEngine>(manual ? MediaEngine::Drive::manual : MediaEngine::Drive::thread, *local,
                                          std::move(wake));
}

EngineObject::~EngineObject() {
  if (engine_) engine_->stop();
  release_wake();
}

void EngineObject::release_wake() {
  if (has_wake_) wake_.Release();
  has_wake_ = false;
}

// ---------------------------------------------------------------- legs

Napi::Value EngineObject::open_leg(const Info& info) {
  LegConfig config;
  config.ssrc = u32_at(info, 1);
  config.sequence = static_cast<uint16_t>(u32_at(info, 2));
  config.timestamp = u32_at(info, 3);
  config.media_timeout = static_cast<Nanos>(number_at(info, 4)) * kMillisecond;
  const MediaEngine::Opened opened = engine_->open_leg(static_cast<uint16_t>(u32_at(info, 0)), config);
  if (!opened.failure) return Napi::Number::New(info.Env(), opened.handle);
  const bool taken = *opened.failure == MediaEngine::OpenFailure::port_taken;
  return Napi::Number::New(info.Env(), taken ? 0 : -1);
}

/// (leg, ip, port, law, payloadType, telephoneEvent or -1, packetMs, sending, receiving)
Napi::Value EngineObject::configure_leg(const Info& info) {
  LegRemote remote;
  // A host name is no place to send to; the peer's own packets will show where it is.
  const std::optional<Address> peer = parse_address(string_at(info, 1), static_cast<uint16_t>(u32_at(info, 2)));
  const int32_t telephone_event = i32_at(info, 5);
  remote.receive.peer = peer.value_or(Address{});
  remote.receive.law = remote.send.law = u32_at(info, 3) == 0 ? G711Law::mu : G711Law::a;
  remote.receive.payload_type = remote.send.payload_type = static_cast<uint8_t>(u32_at(info, 4));
  if (telephone_event >= 0) {
    remote.receive.telephone_event = remote.send.telephone_event = static_cast<uint8_t>(telephone_event);
  }
  remote.send.packet_ms = i32_at(info, 6);
  remote.send.sending = bool_at(info, 7);
  remote.receiving = bool_at(info, 8);
  engine_->post([handle = u32_at(info, 0), remote](MediaLoop& loop) {
    if (Leg* const leg = loop.core().leg(handle)) leg->configure(remote, loop.now());
  });
  return info.Env().Undefined();
}

Napi::Value EngineObject::figures_object(Napi::Env env, const std::optional<LegFigures>& figures) {
  if (!figures) return env.Undefined();
  Napi::Object out = Napi::Object::New(env);
  out.Set("packetsReceived", static_cast<double>(figures->packets_received));
  out.Set("packetsSent", static_cast<double>(figures->packets_sent));
  out.Set("packetsLost", static_cast<double>(figures->packets_lost));
  out.Set("packetsLate", static_cast<double>(figures->packets_late));
  out.Set("strangers", static_cast<double>(figures->strangers));
  out.Set("jitterMs", figures->jitter_ms);
  out.Set("lossFraction", figures->loss_fraction);
  out.Set("mos", figures->mos);
  out.Set("roundTripMs", figures->round_trip_ms);
  return out;
}

Napi::Value EngineObject::figures(const Info& info) {
  return figures_object(info.Env(), engine_->figures(u32_at(info, 0)));
}

Napi::Value EngineObject::close_leg(const Info& info) {
  return figures_object(info.Env(), engine_->close_leg(u32_at(info, 0)));
}

Napi::Value EngineObject::bridge(const Info& info) {
  engine_->post([a = u32_at(info, 0), b = u32_at(info, 1)](MediaLoop& loop) { loop.core().bridge(a, b); });
  return info.Env().Undefined();
}

Napi::Value EngineObject::unbridge(const Info& info) {
  engine_->post([a = u32_at(info, 0), b = u32_at(info, 1)](MediaLoop& loop) { loop.core().unbridge(a, b); });
  return info.Env().Undefined();
}

// ---------------------------------------------------------------- playing

namespace {

/// Puts an object into a leg; when leg or place is missing it stays in the command and goes home with it.
template <typename Item>
auto add_to_leg(uint32_t handle, std::unique_ptr<Item> item) {
  return [handle, item = std::move(item)](MediaLoop& loop) mutable {
    if (Leg* const leg = loop.core().leg(handle)) static_cast<void>(leg->add(item));
  };
}

/// A tone as JavaScript describes it; what exceeds the limits of a ToneSpec is left out.
ToneSpec tone_of(const Napi::Object& object) {
  ToneSpec tone;
  tone.loop = Napi::Value(object.Get("loop")).ToBoolean();
  tone.level_dbm0 = Napi::Value(object.Get("levelDbm0")).ToNumber().DoubleValue();
  const Napi::Value steps = object.Get("steps");
  if (!steps.IsArray()) return tone;
  for (uint32_t i = 0; i < steps.As<Napi::Array>().Length(); ++i) {
    const Napi::Value item = steps.As<Napi::Array>().Get(i);
    if (!item.IsObject()) continue;
    const auto step = item.As<Napi::Object>();
    const Napi::Value list = step.Get("frequenciesHz");
    std::vector<double> frequencies;
    for (uint32_t k = 0; list.IsArray() && k < list.As<Napi::Array>().Length(); ++k) {
      frequencies.push_back(Napi::Value(list.As<Napi::Array>().Get(k)).ToNumber().DoubleValue());
    }
    const auto milliseconds = [&](const char* key) { return Napi::Value(step.Get(key)).ToNumber().Uint32Value(); };
    static_cast<void>(tone.add(frequencies, milliseconds("onMs"), milliseconds("offMs")));
  }
  return tone;
}

}  // namespace

/// (leg, player, clip, times, mix)
Napi::Value EngineObject::play_clip(const Info& info) {
  const AudioClip clip = info.Length() > 2 ? clip_of(info[2]) : nullptr;
  if (!clip) return info.Env().Undefined();
  auto player = std::make_unique<Player>(Player::Options{u32_at(info, 1), u32_at(info, 3), bool_at(info, 4)}, clip);
  engine_->post(add_to_leg(u32_at(info, 0), std::move(player)));
  return info.Env().Undefined();
}

/// (leg, player, tone, times, mix), tone as in needs.ts
Napi::Value EngineObject::play_tone(const Info& info) {
  if (info.Length() < 3 || !info[2].IsObject()) return info.Env().Undefined();
  const ToneSpec tone = tone_of(info[2].As<Napi::Object>());
  auto player = std::make_unique<Player>(Player::Options{u32_at(info, 1), u32_at(info, 3), bool_at(info, 4)}, tone);
  engine_->post(add_to_leg(u32_at(info, 0), std::move(player)));
  return info.Env().Undefined();
}

Napi::Value EngineObject::stop_player(const Info& info) {
  engine_->post([handle = u32_at(info, 0), player = u32_at(info, 1)](MediaLoop& loop) {
    Leg* const leg = loop.core().leg(handle);
    Player* const found = leg == nullptr ? nullptr : leg->player(player);
    if (found != nullptr) found->stop();
  });
  return info.Env().Undefined();
}

Napi::Value EngineObject::remove_player(const Info& info) {
  engine_->post([handle = u32_at(info, 0), player = u32_at(info, 1),
                 removed = std::unique_ptr<Player>()](MediaLoop& loop) mutable {
    if (Leg* const leg = loop.core().leg(handle)) removed = leg->remove_player(player);
  });
  return info.Env().Undefined();
}

/// (leg, job, steps as Uint16Array-like list of digit code, on frames, off frames; inband)
Napi::Value EngineObject::send_digits(const Info& info) {
  auto job = std::make_unique<DigitJob>();
  job->handle = u32_at(info, 1);
  job->inband = bool_at(info, 3);
  if (info.Length() > 2 && info[2].IsArray()) {
    const auto steps = info[2].As<Napi::Array>();
    for (uint32_t i = 0; i + 2 < steps.Length(); i += 3) {
      const auto value = [&](uint32_t at) { return Napi::Value(steps.Get(at)).ToNumber().Uint32Value(); };
      job->steps.push_back({static_cast<char>(value(i)), static_cast<uint16_t>(value(i + 1)),
                            static_cast<uint16_t>(value(i + 2))});
    }
  }
  engine_->post(add_to_leg(u32_at(info, 0), std::move(job)));
  return info.Env().Undefined();
}

Napi::Value EngineObject::remove_digits(const Info& info) {
  engine_->post([handle = u32_at(info, 0), job = u32_at(info, 1),
                 removed = std::unique_ptr<DigitJob>()](MediaLoop& loop) mutable {
    if (Leg* const leg = loop.core().leg(handle)) removed = leg->remove_job(job);
  });
  return info.Env().Undefined();
}

// ---------------------------------------------------------------- streams

/// (leg, stream, streamId, encoding, rate, inbound, outbound, bidirectional, extraHeadersJson, queueMs, epochMs)
Napi::Value EngineObject::open_stream(const Info& info) {
  AudioStreamConfig config;
  config.handle = u32_at(info, 1);
  config.stream_id = string_at(info, 2);
  config.format.encoding = u32_at(info, 3) == 0 ? StreamEncoding::l16 : StreamEncoding::mulaw;
  config.format.rate = i32_at(info, 4);
  config.inbound = bool_at(info, 5);
  config.outbound = bool_at(info, 6);
  const bool bidirectional = bool_at(info, 7);
  config.extra_headers_json = string_at(info, 8);
  config.epoch_ms = static_cast<int64_t>(number_at(info, 10));
  config.opened = engine_->now();

  const size_t queue_samples = bidirectional ? size_t{u32_at(info, 9)} * kSamplesPerMs : 0;
  auto queue = std::make_shared<PlaybackQueue>(queue_samples);
  auto input = std::make_unique<StreamInput>(config.stream_id, config.format, queue);
  auto stream = std::make_unique<AudioStream>(config, bidirectional ? queue : nullptr);
  engine_->post(add_to_leg(u32_at(info, 0), std::move(stream)));
  return StreamObject::create(info.Env(), std::move(input));
}

Napi::Value EngineObject::pause_stream(const Info& info) {
  engine_->post([handle = u32_at(info, 0), stream = u32_at(info, 1), paused = bool_at(info, 2)](MediaLoop& loop) {
    Leg* const leg = loop.core().leg(handle);
    AudioStream* const found = leg == nullptr ? nullptr : leg->stream(stream);
    if (found != nullptr) found->pause(paused);
  });
  return info.Env().Undefined();
}

Napi::Value EngineObject::close_stream(const Info& info) {
  engine_->post([handle = u32_at(info, 0), stream = u32_at(info, 1),
                 removed = std::unique_ptr<AudioStream>()](MediaLoop& loop) mutable {
    if (Leg* const leg = loop.core().leg(handle)) removed = leg->remove_stream(stream);
  });
  return info.Env().Undefined();
}

// ---------------------------------------------------------------- events and state

Napi::Value EngineObject::take_events(const Info& info) {
  return Napi::Number::New(info.Env(), static_cast<double>(engine_->take_events(bytes_at(info, 0))));
}

Napi::Value EngineObject::now_ms(const Info& info) {
  return Napi::Number::New(info.Env(), static_cast<double>(engine_->now()) / kMillisecond);
}

Napi::Value EngineObject::status(const Info& info) {
  const MediaThread::Status status = engine_->status();
  Napi::Object out = Napi::Object::New(info.Env());
  out.Set("running", status.running);
  out.Set("legs", static_cast<double>(engine_->leg_count()));
  out.Set("tickLateP99Us", status.late_p99_us);
  out.Set("busy", status.busy);
  out.Set("scheduling", status.scheduling);
  out.Set("packetsReceived", static_cast<double>(status.packets_received));
  out.Set("packetsSent", static_cast<double>(status.packets_sent));
  out.Set("strangers", static_cast<double>(status.strangers));
  out.Set("malformed", static_cast<double>(status.malformed));
  out.Set("skippedTicks", static_cast<double>(status.skipped_ticks));
  out.Set("droppedEvents", static_cast<double>(engine_->dropped_events()));
  return out;
}

Napi::Value EngineObject::stop(const Info& info) {
  engine_->stop();
  release_wake();
  return info.Env().Undefined();
}

// ---------------------------------------------------------------- manual mode

/// (localPort, ip, port, bytes, atMs)
Napi::Value EngineObject::inject(const Info& info) {
  const std::optional<Address> from = parse_address(string_at(info, 1), static_cast<uint16_t>(u32_at(info, 2)));
  const auto at = static_cast<Nanos>(number_at(info, 4) * kMillisecond);
  engine_->inject(static_cast<uint16_t>(u32_at(info, 0)), from.value_or(Address{}), bytes_at(info, 3), at);
  return info.Env().Undefined();
}

Napi::Value EngineObject::advance(const Info& info) {
  engine_->advance(static_cast<Nanos>(number_at(info, 0) * kMillisecond));
  return info.Env().Undefined();
}

Napi::Value EngineObject::drain(const Info& info) {
  const Napi::Env env = info.Env();
  const std::vector<SentPacket> packets = engine_->take_sent();
  Napi::Array out = Napi::Array::New(env, packets.size());
  for (uint32_t i = 0; i < packets.size(); ++i) {
    const SentPacket& packet = packets[i];
    Napi::Object item = Napi::Object::New(env);
    item.Set("localPort", engine_->port_of(packet.leg));
    item.Set("address", format_ip(packet.to));
    item.Set("port", packet.to.port);
    item.Set("atMs", static_cast<double>(packet.at) / kMillisecond);
    item.Set("bytes", Napi::Buffer<uint8_t>::Copy(env, packet.bytes.data(), packet.bytes.size()));
    out.Set(i, item);
  }
  return out;
}

}  // namespace carillon
