#include "addon/engine_object.hpp"

#include <system_error>

#include "addon/arguments.hpp"
#include "addon/system_error.hpp"

namespace carillon {

Napi::Function EngineObject::define(Napi::Env env) {
  return DefineClass(env, "Engine",
                     {
                         InstanceMethod<&EngineObject::open_leg>("openLeg"),
                         InstanceMethod<&EngineObject::configure_leg>("configureLeg"),
                         InstanceMethod<&EngineObject::use_identity>("useIdentity"),
                         InstanceMethod<&EngineObject::share_ice_port>("shareIcePort"),
                         InstanceMethod<&EngineObject::hear_tones>("hearTones"),
                         InstanceMethod<&EngineObject::statistics>("statistics"),
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
                         InstanceMethod<&EngineObject::leave_out_sent>("leaveOutSent"),
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
                         InstanceMethod<&EngineObject::cleared_at>("clearedAt"),
                         InstanceMethod<&EngineObject::take_events>("takeEvents"),
                         InstanceMethod<&EngineObject::now_ms>("nowMs"),
                         InstanceMethod<&EngineObject::busy>("busy"),
                         InstanceMethod<&EngineObject::status>("status"),
                         InstanceMethod<&EngineObject::stop>("stop"),
                         InstanceMethod<&EngineObject::inject>("inject"),
                         InstanceMethod<&EngineObject::advance>("advance"),
                         InstanceMethod<&EngineObject::drain>("drain"),
                     });
}

EngineObject::EngineObject(const Info& info) : Napi::ObjectWrap<EngineObject>(info) {
  Arguments args(info, "Engine");
  const bool manual = args.at(0, "manual").boolean();
  Argument host = args.at(1, "rtpHost");
  const std::optional<Address> local = parse_address(host.text(), 0);
  if (!local) host.wrong("an IP address");
  const auto threads = static_cast<size_t>(args.at(3, "threads").integer(1, MediaEngine::kMaxThreads));
  const bool ring = args.at(4, "ioUring").boolean();
  // A host name has no address here; the peer's first packet shows the own address then.
  std::vector<Address> announced;
  for (size_t i = 5; i < info.Length(); ++i) {
    if (const auto own = parse_address(args.at(i, "announced").text(), 0)) announced.push_back(*own);
  }
  if (!args.good()) return;
  std::function<void()> wake = [] {};
  if (!manual && info.Length() > 2 && info[2].IsFunction()) {
    wake_ = Napi::ThreadSafeFunction::New(info.Env(), info[2].As<Napi::Function>(), "carillon media events",
                                          0, 1);
    wake_.Unref(info.Env());  // an idle engine does not keep the process alive
    has_wake_ = true;
    wake = [function = wake_]() mutable { static_cast<void>(function.NonBlockingCall()); };
  }
  MediaEngine::Options options{.threads = threads, .ring = ring, .announced = announced};
  // Distribute legs over all threads, so that tests cover legs on different threads.
  if (manual) options.little = 0;
  const auto drive = manual ? MediaEngine::Drive::manual : MediaEngine::Drive::thread;
  try {
    auto engine = std::make_unique<MediaEngine>(drive, *local, std::move(wake), options);
    dtls_ = std::make_unique<DtlsThread>(*engine, drive);
    engine_ = std::move(engine);
  } catch (const std::system_error& failure) {
    if (has_wake_) wake_.Release();
    const std::string what = std::string("the media engine cannot start: ") + failure.what();
    throw_system_error(info.Env(), failure.code().value(), what);
    return;
  }
  engine_->exchange_keys_by(*dtls_);
  // Register after the wake-up callback's own hook, because cleanup hooks run in reverse order.
  napi_add_env_cleanup_hook(info.Env(), &EngineObject::environment_ends, this);
}

EngineObject::~EngineObject() {
  if (!engine_) return;
  shut_down();
  napi_remove_env_cleanup_hook(Env(), &EngineObject::environment_ends, this);
}

void EngineObject::shut_down() {
  dtls_->stop();
  engine_->stop();
  dtls_->close_port();
  if (has_wake_) wake_.Release();
  has_wake_ = false;
}

// ---------------------------------------------------------------- events and state

Napi::Value EngineObject::take_events(const Info& info) {
  Arguments args(info, "takeEvents");
  const std::span<uint8_t> batch = args.at(0, "batch").bytes();
  if (!args.good()) return info.Env().Undefined();
  return Napi::Number::New(info.Env(), static_cast<double>(engine_->take_events(batch)));
}

Napi::Value EngineObject::now_ms(const Info& info) {
  return Napi::Number::New(info.Env(), in_milliseconds(engine_->now()));
}

Napi::Value EngineObject::busy(const Info& info) { return Napi::Number::New(info.Env(), engine_->busy()); }

Napi::Value EngineObject::status(const Info& info) {
  const Napi::Env env = info.Env();
  Napi::Array threads = Napi::Array::New(env, engine_->thread_count());
  for (uint32_t i = 0; i < engine_->thread_count(); ++i) threads.Set(i, thread_status(env, i));
  // Messages to sockets do not pass the events.
  uint64_t dropped = engine_->dropped_events();
  for (const auto& [thread, feed] : feeds_) dropped += feed->ring().dropped();
  Napi::Object out = Napi::Object::New(env);
  out.Set("legs", static_cast<double>(engine_->leg_count()));
  out.Set("droppedEvents", static_cast<double>(dropped));
  out.Set("threads", threads);
  return out;
}

Napi::Object EngineObject::thread_status(Napi::Env env, size_t thread) const {
  const MediaThread::Status status = engine_->status(thread);
  Napi::Object out = Napi::Object::New(env);
  out.Set("running", status.running);
  out.Set("legs", static_cast<double>(engine_->leg_count(thread)));
  out.Set("tickLateP99Us", status.late_p99_us);
  out.Set("busy", status.load.busy);
  out.Set("scheduling", status.scheduling);
  out.Set("ioUring", status.ring);
  out.Set("packetsReceived", static_cast<double>(status.packets_received));
  out.Set("packetsSent", static_cast<double>(status.packets_sent));
  out.Set("unknownSources", static_cast<double>(status.unknown_sources));
  out.Set("malformed", static_cast<double>(status.malformed));
  out.Set("sourceChanges", static_cast<double>(status.source_changes));
  out.Set("unknownHandles", static_cast<double>(status.unknown_handles));
  out.Set("skippedTicks", static_cast<double>(status.skipped_ticks));
  return out;
}

Napi::Value EngineObject::stop(const Info& info) {
  shut_down();
  return info.Env().Undefined();
}

}  // namespace carillon
