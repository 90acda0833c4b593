#include "addon/clip.hpp"

#include <cstring>

#include "addon/arguments.hpp"
#include "core/dsp/resampler.hpp"

namespace carillon {

namespace {
constexpr napi_type_tag kClipTag{0x6361726c6f6e636cULL, 0x69702d6f662d6175ULL};
}

Napi::Value make_clip(const Napi::CallbackInfo& info) {
  Arguments args(info, "makeClip");
  const std::span<const uint8_t> bytes = args.at(0, "samples").bytes();
  const int rate = args.at(1, "rate").one_of({8000, 16000, 24000, 44100, 48000});
  const int line_rate = args.at(2, "lineRate").one_of({8000, 16000, 24000, 48000});
  if (!args.good()) return info.Env().Undefined();
  std::vector<Sample> samples(bytes.size() / sizeof(Sample));
  if (!samples.empty()) std::memcpy(samples.data(), bytes.data(), samples.size() * sizeof(Sample));
  if (rate != line_rate) samples = resample_whole(samples, rate, line_rate);
  auto* const clip =
      new AudioClip(std::make_shared<const Clip>(Clip{SampleRate(line_rate), std::move(samples)}));
  auto external =
      Napi::External<AudioClip>::New(info.Env(), clip, [](Napi::Env, AudioClip* owned) { delete owned; });
  external.TypeTag(&kClipTag);
  return external;
}

AudioClip clip_of(const Napi::Value& value) {
  if (!value.IsExternal()) return nullptr;
  const auto external = value.As<Napi::External<AudioClip>>();
  if (!external.CheckTypeTag(&kClipTag)) return nullptr;
  return *external.Data();
}

}  // namespace carillon
