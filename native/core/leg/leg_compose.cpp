// Composes the audio frame that a leg sends to its peer.
#include "core/leg/leg.hpp"

namespace carillon {

/// Mixes the frame for the peer: the latest player that replaces the far end, or the far end; the bots; and
/// all mixed-in players. Bot audio is consumed only if the frame is sent, because checkpoints confirm
/// playback.
void Leg::compose(Nanos now, Frame& out, Events& events) {
  Mixdown mix(out);
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
    const auto far = far_end_->far_audio(audio);
    if (far) mix.add(to_line_.convert(*far, rate, scratch));
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
  mix.finish(limiter_);
  content_ = content.value_or(content_);
}

/// Runs all players. Writes the audio that replaces the far end to `instead`. Returns its manner, or nullopt
/// if no player replaces the far end.
std::optional<PlayManner> Leg::play(Frame& instead, Mixdown& mix, Events& events) {
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
