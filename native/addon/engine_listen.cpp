// EngineObject: what listens to a leg or a room: recordings, machine detection, silence.
#include "addon/arguments.hpp"
#include "addon/engine_object.hpp"
#include "addon/places.hpp"
#include "core/leg/listeners.hpp"

namespace carillon {

/// (place, recording, path, side 0 received 1 sent 2 both, stereo, silenceEndMs, maxMs, suppressDigits):
/// errno, 0 when it runs.
Napi::Value EngineObject::record(const Info& info) {
  Recorder::Options options;
  const uint32_t side = u32_at(info, 3);
  options.side = side == 0   ? Recorder::Side::received
                 : side == 1 ? Recorder::Side::sent
                             : Recorder::Side::both;
  options.stereo = bool_at(info, 4);
  options.silence_end_ms = u32_at(info, 5);
  options.max_ms = static_cast<uint64_t>(number_at(info, 6));
  const uint32_t handle = u32_at(info, 1);
  const uint16_t channels = Recorder(options).channels();
  std::shared_ptr<RecordingSink> sink = engine_->open_recording(handle, string_at(info, 2), channels);
  if (sink->state() == RecordingSink::State::failed) {
    const int error = sink->error_number();
    engine_->close_recording(handle);
    return Napi::Number::New(info.Env(), error);
  }
  std::unique_ptr<LegTap> tap = std::make_unique<RecordingTap>(handle, options, std::move(sink),
                                                               engine_->concluding(), bool_at(info, 7));
  engine_->post([place = u32_at(info, 0), tap = std::move(tap)](MediaLoop& loop) mutable {
    with_place(loop, place, [&](auto& where) { static_cast<void>(where.add(tap)); });
    // No place for it any more: it ends as a recording of a leg that has gone.
    if (tap) tap->leg_ended(loop.core().events());
  });
  return Napi::Number::New(info.Env(), 0);
}

namespace {

template <typename Action>
auto for_recording(uint32_t place, uint32_t recording, Action action) {
  return [place, recording, action](MediaLoop& loop) {
    with_place(loop, place, [&](auto& where) {
      if (auto* const tap = dynamic_cast<RecordingTap*>(where.tap(recording))) action(*tap);
    });
  };
}

}  // namespace

Napi::Value EngineObject::pause_recording(const Info& info) {
  engine_->post(for_recording(u32_at(info, 0), u32_at(info, 1),
                              [paused = bool_at(info, 2)](RecordingTap& tap) { tap.pause(paused); }));
  return info.Env().Undefined();
}

Napi::Value EngineObject::stop_recording(const Info& info) {
  engine_->post(for_recording(u32_at(info, 0), u32_at(info, 1), [](RecordingTap& tap) { tap.stop(); }));
  return info.Env().Undefined();
}

/// After recordingEnded: gives everything back; errno of a failure, or 0.
Napi::Value EngineObject::remove_recording(const Info& info) {
  remove_tap(info);
  return Napi::Number::New(info.Env(), engine_->close_recording(u32_at(info, 1)));
}

Napi::Value EngineObject::remove_tap(const Info& info) {
  engine_->post([place = u32_at(info, 0), tap = u32_at(info, 1),
                 removed = std::unique_ptr<LegTap>()](MediaLoop& loop) mutable {
    with_place(loop, place, [&](auto& where) { removed = where.remove_tap(tap); });
  });
  return info.Env().Undefined();
}

/// (leg, job, totalMs, initialSilenceMs, greetingMs, maximumWords, maximumWordMs)
Napi::Value EngineObject::detect_machine(const Info& info) {
  MachineDetector::Options options;
  options.total_ms = u32_at(info, 2);
  options.initial_silence_ms = u32_at(info, 3);
  options.greeting_ms = u32_at(info, 4);
  options.maximum_words = u32_at(info, 5);
  options.maximum_word_ms = u32_at(info, 6);
  std::unique_ptr<LegTap> tap = std::make_unique<MachineTap>(u32_at(info, 1), options);
  engine_->post(add_to_leg(u32_at(info, 0), std::move(tap)));
  return info.Env().Undefined();
}

/// (leg, job, silenceMs, limitMs)
Napi::Value EngineObject::wait_for_silence(const Info& info) {
  std::unique_ptr<LegTap> tap =
      std::make_unique<SilenceTap>(u32_at(info, 1), u32_at(info, 2), u32_at(info, 3));
  engine_->post(add_to_leg(u32_at(info, 0), std::move(tap)));
  return info.Env().Undefined();
}

}  // namespace carillon
