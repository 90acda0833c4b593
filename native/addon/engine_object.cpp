#include "addon/engine_object.hpp"

#include "addon/arguments.hpp"

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
                         InstanceMethod<&EngineObject::record>("record"),
                         InstanceMethod<&EngineObject::pause_recording>("pauseRecording"),
                         InstanceMethod<&EngineObject::stop_recording>("stopRecording"),
                         InstanceMethod<&EngineObject::remove_recording>("removeRecording"),
                         InstanceMethod<&EngineObject::remove_tap>("removeTap"),
                         InstanceMethod<&EngineObject::detect_machine>("detectMachine"),
                         InstanceMethod<&EngineObject::wait_for_silence>("waitForSilence"),
                         InstanceMethod<&EngineObject::open_room>("openRoom"),
                         InstanceMethod<&EngineObject::close_room>("closeRoom"),
                         InstanceMethod<&EngineObject::join_room>("joinRoom"),
                         InstanceMethod<&EngineObject::set_member>("setMember"),
                         InstanceMethod<&EngineObject::leave_room>("leaveRoom"),
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
    wake_ = Napi::ThreadSafeFunction::New(info.Env(), info[2].As<Napi::Function>(), "carillon media events",
                                          0, 1);
    wake_.Unref(info.Env());  // an idle engine does not keep the process alive
    has_wake_ = true;
    wake = [function = wake_]() mutable { static_cast<void>(function.NonBlockingCall()); };
  }
  engine_ = std::make_unique<MediaEngine>(manual ? MediaEngine::Drive::manual : MediaEngine::Drive::thread,
                                          *local, std::move(wake));
  // After the wake-up call's own: they run in the opposite order.
  napi_add_env_cleanup_hook(info.Env(), &EngineObject::environment_ends, this);
}

EngineObject::~EngineObject() {
  if (!engine_) return;
  shut_down();
  napi_remove_env_cleanup_hook(Env(), &EngineObject::environment_ends, this);
}

void EngineObject::shut_down() {
  engine_->stop();
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

/// (leg, ip, port, law, payloadType, telephoneEvent or -1, packetMs, sending, receiving, signalling ip or
/// empty)
Napi::Value EngineObject::configure_leg(const Info& info) {
  LegRemote remote;
  // A host name is no place to send to; the peer's own packets will show where it is.
  const std::optional<Address> peer =
      parse_address(string_at(info, 1), static_cast<uint16_t>(u32_at(info, 2)));
  const int32_t telephone_event = i32_at(info, 5);
  ExpectedSource& source = remote.receive.source;
  source.signalled = peer.value_or(Address{});
  source.signalling = parse_address(string_at(info, 9), 0).value_or(Address{});
  remote.receive.law = remote.send.law = u32_at(info, 3) == 0 ? G711Law::mu : G711Law::a;
  remote.receive.payload_type = remote.send.payload_type = static_cast<uint8_t>(u32_at(info, 4));
  if (telephone_event >= 0) {
    remote.receive.telephone_event = remote.send.telephone_event = static_cast<uint8_t>(telephone_event);
  }
  remote.send.packet_ms = i32_at(info, 6);
  remote.send.sending = bool_at(info, 7);
  source.receiving = bool_at(info, 8);
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
  out.Set("sourceChanges", static_cast<double>(status.source_changes));
  out.Set("skippedTicks", static_cast<double>(status.skipped_ticks));
  out.Set("droppedEvents", static_cast<double>(engine_->dropped_events()));
  return out;
}

Napi::Value EngineObject::stop(const Info& info) {
  shut_down();
  return info.Env().Undefined();
}

}  // namespace carillon
