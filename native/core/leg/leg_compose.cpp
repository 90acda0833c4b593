// What a leg's peer hears in a frame.
#include "core/leg/leg.hpp"

namespace carillon {

/// What the peer hears: the latest player that takes the far end's place, or the far end; the bots; and
/// everything that is mixed in. Bots are asked only for what will leave: what a checkpoint confirms was on
/// the line.
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
  // Of a player or a bot only the line's own rate is known, which is then the codec's. Where nothing sounds,
  // what was stays.
  std::optional<SampleRate> content;
  if (!players_.empty()) content = rate;
  far_heard_ = far_missing_ = false;
  if (!instead && far_end_ != nullptr) {
    const auto far = far_end_->far_audio(audio);
    if (far) mix.add(to_line_.convert(*far, rate, scratch));
    if (far && !content) content = far->rate;
    far_heard_ = far.has_value();
    far_missing_ = !far_heard_;
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

/// Runs every player; what takes the far end's place is written to `instead`. How it is played; nothing:
/// nothing is.
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
