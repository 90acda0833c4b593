#include "core/leg/player.hpp"

#include <algorithm>

#include "core/dsp/fade.hpp"

namespace carillon {

Player::Player(const Options& options, const ToneSpec& tone)
    : options_(options), source_(ToneSource{tone, ToneGenerator()}) {
  std::get<ToneSource>(source_).generator.start(tone);
}

/// Counts a completed pass. Returns true if another pass follows.
bool Player::again() {
  ++played_;
  return options_.times == 0 || played_ < options_.times;
}

size_t Player::render(ClipSource& source, SampleRate /*rate*/, std::span<Sample> out) {
  const std::vector<Sample>& clip = source.clip->samples;
  if (source.at == clip.size()) {
    if (clip.empty() || !again()) return 0;
    source.at = 0;
  }
  const size_t count = std::min(out.size(), clip.size() - source.at);
  std::copy_n(clip.begin() + static_cast<std::ptrdiff_t>(source.at), count, out.begin());
  source.at += count;
  return count;
}

size_t Player::render(ToneSource& source, SampleRate rate, std::span<Sample> out) {
  if (!source.generator.active()) {
    if (!again()) return 0;
    source.generator.start(source.spec);
  }
  return source.generator.render(rate, out);
}

AudioView Player::next(SampleRate rate, Frame& out, Frame& scratch) {
  // Tones are generated at the listener's rate. A clip has its own rate, usually the same.
  const auto* const clip = std::get_if<ClipSource>(&source_);
  out.set_rate(clip != nullptr ? clip->clip->rate : rate);
  std::span<Sample> rest = out.samples();
  // A pass may end inside the frame. Two consecutive empty passes end playback regardless of `times`.
  int empty_passes = 0;
  while (!rest.empty() && !finished_ && empty_passes < 2) {
    const size_t count = std::visit([&](auto& source) { return render(source, out.rate(), rest); }, source_);
    if (count == 0) {
      const bool endless = options_.times == 0;
      ++empty_passes;
      finished_ = !endless || empty_passes == 2;
      continue;
    }
    empty_passes = 0;
    rest = rest.subspan(count);
  }
  std::fill(rest.begin(), rest.end(), Sample{0});
  if (stopping_ && !finished_) {
    fade_out(out.samples(), fade_samples(out.rate()));
    finished_ = true;
  }
  return converter_.convert(out, rate, scratch);
}

}  // namespace carillon
