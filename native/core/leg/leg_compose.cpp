// Composes the audio frame that a leg sends to its peer.
#include "core/leg/leg.hpp"

namespace carillon {

/// Sums of all sources and of those of this node.
class Leg::Sources {
 public:
  /// `own`: null if the sum of the own sources is not needed.
  Sources(Frame& out, Frame* own) : all_(out) {
    if (own != nullptr) own_.emplace(*own);
  }
  void add_far(AudioView audio) { all_.add(audio); }
  void add(AudioView audio) {
    all_.add(audio);
    if (!own_) return;
    own_->add(audio);
    has_own_ = true;
  }
  void finish(Limiter& limiter, Limiter& own_limiter) {
    all_.finish(limiter);
    if (has_own_) own_->finish(own_limiter);
  }
  [[nodiscard]] bool has_own() const { return has_own_; }

 private:
  Mixdown all_;
  std::optional<Mixdown> own_;
  bool has_own_ = false;
};

/// Mixes the frame for the peer: the latest player that replaces the far end, or the far end; the bots; and
/// all mixed-in players. Bot audio is consumed only if the frame is sent, because checkpoints confirm
/// playback.
Leg::OwnPart Leg::compose(Nanos now, Frame& out, Frame& own, Events& events) {
  const bool separate = has_taps_ && far_end_ != nullptr && far_end_->passes_packets();
  Sources mix(out, separate ? &own : nullptr);
  OwnPart part;
  const SampleRate rate = out.rate();
  Frame audio(rate);
  Frame scratch(rate);
  std::optional<PlayManner> instead;
  if (!players_.empty()) instead = play(audio, mix, events);
  if (instead) {
    mix.add(audio);
  }
  // For players and bots, the content's bandwidth is assumed to be that of the line rate. If no source is
  // active, the previous value is kept.
  std::optional<SampleRate> content;
  if (!players_.empty()) content = rate;
  relay_.composed_alone();
  if (!instead && far_end_ != nullptr) {
    const auto far = far_end_->far_audio(audio, now);
    if (far) mix.add_far(to_line_.convert(*far, rate, scratch));
    part.far_end_heard = true;
    if (far && !content) content = far->rate;
    relay_.composed(far.has_value());
  }
  const bool bots_wait = instead == PlayManner::alone || !carries_audio();
  for (const auto& stream : streams_.all()) {
    if (bots_wait) {
      stream->wait(now);
    } else if (const auto said = stream->play(now, rate, audio, scratch)) {
      mix.add(*said);
      content = rate;
    }
  }
  mix.finish(limiter_, own_limiter_);
  content_ = content.value_or(content_);
  if (mix.has_own()) part.audio = own;
  return part;
}

/// Runs all players. Writes the audio that replaces the far end to `instead`. Returns its manner, or nullopt
/// if no player replaces the far end.
std::optional<PlayManner> Leg::play(Frame& instead, Sources& mix, Events& events) {
  std::optional<PlayManner> manner;
  PlayerHandle latest;
  for (const auto& player : players_.all()) {
    if (player->finished()) continue;
    Frame rendered(instead.rate());
    Frame scratch(instead.rate());
    const AudioView audio = player->next(instead.rate(), rendered, scratch);
    if (player->finished()) events.playback_ended(player->handle());
    if (player->manner() == PlayManner::mixed) {
      mix.add(audio);
    } else if (player->handle() > latest) {
      latest = player->handle();
      manner = player->manner();
      instead = audio;
    }
  }
  return manner;
}

}  // namespace carillon
