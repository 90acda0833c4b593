#include "core/leg/player.hpp"

#include <algorithm>

#include "core/dsp/fade.hpp"

namespace carillon {

Player::Player(const Options& options, const ToneSpec& tone)
    : options_(options), source_(ToneSource{tone, ToneGenerator(kLineRate)}) {
  std::get<ToneSource>(source_).generator.start(tone);
}

/// One pass is over: true when another begins.
bool Player::again() {
  ++played_;
  return options_.times == 0 || played_ < options_.times;
}

size_t Player::render(ClipSource& source, std::span<Sample> out) {
  const std::vector<Sample>& clip = *source.clip;
  if (source.at == clip.size()) {
    if (clip.empty() || !again()) return 0;
    source.at = 0;
  }
  const size_t count = std::min(out.size(), clip.size() - source.at);
  std::copy_n(clip.begin() + static_cast<std::ptrdiff_t>(source.at), count, out.begin());
  source.at += count;
  return count;
}

size_t Player::render(ToneSource& source, std::span<Sample> out) {
  if (!source.generator.active()) {
    if (!again()) return 0;
    source.generator.start(source.spec);
  }
  return source.generator.render(out);
}

void Player::next(Frame& out) {
  std::span<Sample> rest(out);
  // A pass may end inside the frame; two empty passes in a row are the end, whatever `times` says.
  int empty_passes = 0;
  while (!rest.empty() && !finished_ && empty_passes < 2) {
    const size_t count = std::visit([&](auto& source) { return render(source, rest); }, source_);
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
    fade_out(out);
    finished_ = true;
  }
}

}  // namespace carillon
