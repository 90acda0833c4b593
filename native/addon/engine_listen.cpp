// EngineObject: taps of a leg or a room: recordings, machine detection and silence detection.
#include "addon/arguments.hpp"
#include "addon/engine_object.hpp"
#include "addon/places.hpp"
#include "core/leg/listeners.hpp"

namespace carillon {

/// ({ place, recording, path, side, stereo, rate, silenceEndMs, maxMs, suppressDigits }): errno, or 0 if the
/// recording was started.
Napi::Value EngineObject::record(const Info& info) {
  Arguments args(info, "record");
  Fields fields = args.fields(0);
  const auto place = fields["place"].handle<PlaceHandle>();
  const auto handle = fields["recording"].handle<TapHandle>();
  const std::string path = fields["path"].text();
  Recorder::Options options;
  using Side = Recorder::Side;
  options.side =
      fields["side"].choice<Side>({{"received", Side::received}, {"sent", Side::sent}, {"both", Side::both}});
  options.stereo = fields["stereo"].boolean();
  const SampleRate rate(fields["rate"].one_of({8000, 16000}));
  options.silence_end_ms = fields["silenceEndMs"].u32();
  options.max_ms = fields["maxMs"].milliseconds();
  const bool suppress_digits = fields["suppressDigits"].boolean();
  if (!fields.good()) return info.Env().Undefined();

  const WavFormat format{static_cast<uint32_t>(rate.hz()), Recorder(options, rate).channels()};
  std::shared_ptr<RecordingSink> sink = engine_->open_recording(handle, path, format);
  if (sink->state() == RecordingSink::State::failed) {
    const int error = sink->error_number();
    engine_->close_recording(handle);
    return Napi::Number::New(info.Env(), error);
  }
  using Source = RecordingTap::Source;
  auto tap = std::make_unique<RecordingTap>(handle, options, std::move(sink), suppress_digits,
                                            is_room(place) ? Source::frames : Source::packets);
  engine_->at_place(place, [tap = std::unique_ptr<LegTap>(), made = std::move(tap)](MediaLoop& loop,
                                                                                    PlaceHandle at) mutable {
    made->conclude_to(loop.concluding());
    tap = std::move(made);
    with_place(loop, at, [&](auto& where) { static_cast<void>(where.add(tap)); });
    // The place no longer exists or is full: end the recording as if its leg had ended.
    if (tap) tap->leg_ended(loop.core().events());
  });
  return Napi::Number::New(info.Env(), 0);
}

namespace {

template <typename Action>
auto for_recording(TapHandle recording, Action action) {
  return [recording, action](MediaLoop& loop, PlaceHandle at) {
    with_place(loop, at, [&](auto& where) {
      if (auto* const tap = dynamic_cast<RecordingTap*>(where.tap(recording))) action(*tap);
    });
  };
}

}  // namespace

Napi::Value EngineObject::pause_recording(const Info& info) {
  Arguments args(info, "pauseRecording");
  const auto place = args.at(0, "place").handle<PlaceHandle>();
  const auto recording = args.at(1, "recording").handle<TapHandle>();
  const bool paused = args.at(2, "paused").boolean();
  if (!args.good()) return info.Env().Undefined();
  engine_->at_place(place, for_recording(recording, [paused](RecordingTap& tap) { tap.pause(paused); }));
  return info.Env().Undefined();
}

Napi::Value EngineObject::leave_out_sent(const Info& info) {
  Arguments args(info, "leaveOutSent");
  const auto place = args.at(0, "place").handle<PlaceHandle>();
  const auto recording = args.at(1, "recording").handle<TapHandle>();
  const bool left_out = args.at(2, "leftOut").boolean();
  if (!args.good()) return info.Env().Undefined();
  engine_->at_place(
      place, for_recording(recording, [left_out](RecordingTap& tap) { tap.leave_out_sent(left_out); }));
  return info.Env().Undefined();
}

Napi::Value EngineObject::stop_recording(const Info& info) {
  Arguments args(info, "stopRecording");
  const auto place = args.at(0, "place").handle<PlaceHandle>();
  const auto recording = args.at(1, "recording").handle<TapHandle>();
  if (!args.good()) return info.Env().Undefined();
  engine_->at_place(place, for_recording(recording, [](RecordingTap& tap) { tap.stop(); }));
  return info.Env().Undefined();
}

void EngineObject::post_removal(PlaceHandle place, TapHandle tap) {
  engine_->at_place(place, remove_from_place<LegTap>([tap](auto& where) { return where.remove_tap(tap); }));
}

/// (place, recording): call after recordingEnded. Releases all resources; returns errno of a failure, or 0.
Napi::Value EngineObject::remove_recording(const Info& info) {
  Arguments args(info, "removeRecording");
  const auto place = args.at(0, "place").handle<PlaceHandle>();
  const auto recording = args.at(1, "recording").handle<TapHandle>();
  if (!args.good()) return info.Env().Undefined();
  post_removal(place, recording);
  return Napi::Number::New(info.Env(), engine_->close_recording(recording));
}

Napi::Value EngineObject::remove_tap(const Info& info) {
  Arguments args(info, "removeTap");
  const auto place = args.at(0, "place").handle<PlaceHandle>();
  const auto tap = args.at(1, "tap").handle<TapHandle>();
  if (!args.good()) return info.Env().Undefined();
  post_removal(place, tap);
  return info.Env().Undefined();
}

/// ({ leg, job, totalMs, initialSilenceMs, greetingMs, maximumWords, maximumWordMs, adaptive })
Napi::Value EngineObject::detect_machine(const Info& info) {
  Arguments args(info, "detectMachine");
  Fields fields = args.fields(0);
  const auto leg = fields["leg"].handle<LegHandle>();
  const auto job = fields["job"].handle<TapHandle>();
  MachineDetector::Options options;
  options.total_ms = fields["totalMs"].u32();
  options.initial_silence_ms = fields["initialSilenceMs"].u32();
  options.greeting_ms = fields["greetingMs"].u32();
  options.maximum_words = fields["maximumWords"].u32();
  options.maximum_word_ms = fields["maximumWordMs"].u32();
  options.adaptive = fields["adaptive"].boolean();
  if (!fields.good()) return info.Env().Undefined();
  std::unique_ptr<LegTap> tap = std::make_unique<MachineTap>(job, options);
  engine_->at_leg(leg, add_to_leg(std::move(tap)));
  return info.Env().Undefined();
}

/// ({ leg, job, silenceMs, limitMs })
Napi::Value EngineObject::wait_for_silence(const Info& info) {
  Arguments args(info, "waitForSilence");
  Fields fields = args.fields(0);
  const auto leg = fields["leg"].handle<LegHandle>();
  const auto job = fields["job"].handle<TapHandle>();
  const uint32_t silence_ms = fields["silenceMs"].u32();
  const uint32_t limit_ms = fields["limitMs"].u32();
  if (!fields.good()) return info.Env().Undefined();
  std::unique_ptr<LegTap> tap = std::make_unique<SilenceTap>(job, silence_ms, limit_ms);
  engine_->at_leg(leg, add_to_leg(std::move(tap)));
  return info.Env().Undefined();
}

}  // namespace carillon
