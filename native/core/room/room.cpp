#include "core/room/room.hpp"

#include <algorithm>
#include <cmath>

#include "core/dsp/fade.hpp"

namespace carillon {

namespace {

template <typename Slots, typename Item>
bool put(Slots& slots, std::unique_ptr<Item>& item) {
  for (auto& slot : slots) {
    if (slot) continue;
    slot = std::move(item);
    return true;
  }
  return false;
}

template <typename Slots>
auto* find(Slots& slots, auto handle) {
  for (auto& slot : slots) {
    if (slot && slot->handle() == handle) return &slot;
  }
  return static_cast<decltype(&slots[0])>(nullptr);
}

}  // namespace

std::optional<AudioView> RoomMember::far_audio(Frame& out, Nanos /*now*/) {
  if (flags_.deaf || flags_.held || room_ == nullptr || !hears_) return std::nullopt;
  const bool in_mix = spoke_ && !flags_.whispers;
  room_->mixer_.mix_without(in_mix ? std::span<const Sample>(spoken_.samples()) : std::span<const Sample>(),
                            limiter_, out);
  if (flags_.coached) room_->add_whispers(out);
  return out;
}

/// Attenuates members who are not speaking, because a room adds up the line noise of all members. Audio above
/// kNoiseBelowDbov is never attenuated.
void RoomMember::gate() {
  constexpr double kNoiseBelowDbov = -45.0;
  constexpr float kClosed = 0.1F;  // -20 dB
  const float target = voice_.speaking() || voice_.frame_dbov() > kNoiseBelowDbov ? 1.0F : kClosed;
  if (gain_ == 1.0F && target == 1.0F) return;
  // Apply the change within 4 ms, so that the beginning of a word is audible.
  const auto ramp = static_cast<float>(fade_samples(spoken_.rate()));
  const float step = (target - gain_) / ramp;
  for (size_t i = 0; i < spoken_.size(); ++i) {
    const float gain = static_cast<float>(i) < ramp ? gain_ + step * static_cast<float>(i + 1) : target;
    spoken_[i] = static_cast<Sample>(std::lrintf(static_cast<float>(spoken_[i]) * gain));
  }
  gain_ = target;
}

bool Room::empty() const {
  return std::ranges::none_of(members_, [](const auto& member) { return member->leg_ != nullptr; });
}

bool Room::join(std::unique_ptr<RoomMember>& member, Leg& leg) {
  if (members_.size() == kMaxMembers) return false;
  member->room_ = this;
  member->leg_ = &leg;
  leg.set_far_end(member.get());
  members_.push_back(std::move(member));
  return true;
}

void Room::release(RoomMember& member) {
  if (member.leg_ != nullptr && member.leg_->far_end() == &member) member.leg_->set_far_end(nullptr);
  member.leg_ = nullptr;
  member.spoke_ = member.hears_ = false;
}

std::unique_ptr<RoomMember> Room::leave(MemberHandle handle, Events& events) {
  auto* const found = find(members_, handle);
  if (found == nullptr) return nullptr;
  std::unique_ptr<RoomMember> member = std::move(*found);
  std::erase(members_, nullptr);
  release(*member);
  member->room_ = nullptr;
  if (floor_.forget(handle.value())) announce_floor(events);
  return member;
}

RoomMember* Room::member(MemberHandle handle) {
  auto* const found = find(members_, handle);
  return found == nullptr ? nullptr : found->get();
}

void Room::forget(const Leg& leg, Events& events) {
  for (auto& member : members_) {
    if (member->leg_ != &leg) continue;
    release(*member);
    if (floor_.forget(member->handle().value())) announce_floor(events);
  }
}

void Room::close(Events& events) {
  for (auto& member : members_) release(*member);
  for (auto& tap : taps_) {
    if (tap) tap->leg_ended(events);
  }
}

bool Room::add(std::unique_ptr<Player>& player) { return put(players_, player); }
bool Room::add(std::unique_ptr<LegTap>& tap) { return put(taps_, tap); }

Player* Room::player(PlayerHandle handle) {
  auto* const found = find(players_, handle);
  return found == nullptr ? nullptr : found->get();
}

std::unique_ptr<Player> Room::remove_player(PlayerHandle handle) {
  auto* const found = find(players_, handle);
  return found == nullptr ? nullptr : std::move(*found);
}

LegTap* Room::tap(TapHandle handle) {
  auto* const found = find(taps_, handle);
  return found == nullptr ? nullptr : found->get();
}

std::unique_ptr<LegTap> Room::remove_tap(TapHandle handle) {
  auto* const found = find(taps_, handle);
  return found == nullptr ? nullptr : std::move(*found);
}

void Room::announce_floor(Events& events) const {
  events.floor_changed(handle_, MemberHandle(floor_.holder().value_or(0)));
}

void Room::add_whispers(Frame& out) const {
  if (!whispered_) return;
  const auto added = whisper_.samples();
  const auto heard = out.samples();
  for (size_t i = 0; i < heard.size() && i < added.size(); ++i) {
    heard[i] = static_cast<Sample>(std::clamp(heard[i] + added[i], -32768, 32767));
  }
}

/// Mixes the audio of all members that may be recorded, and of the players.
void Room::mix_for_taps(Frame& out) {
  const auto left_out = [](const auto& member) {
    return member->spoke_ && member->flags_.unrecorded && !member->flags_.whispers;
  };
  if (std::ranges::none_of(members_, left_out)) {
    mixer_.mix_without({}, taps_limiter_, out);
    return;
  }
  Mixer recorded = mixer_;
  for (const auto& member : members_) {
    if (left_out(member)) recorded.remove(member->spoken_.samples());
  }
  recorded.mix_without({}, taps_limiter_, out);
}

SampleRate Room::highest_rate() const {
  SampleRate highest = kLineRates.front();
  for (const auto& member : members_) {
    if (member->leg_ != nullptr && member->leg_->rate() > highest) highest = member->leg_->rate();
  }
  return highest;
}

void Room::frame(Nanos now, Events& events) {
  const SampleRate rate = highest_rate();
  mixer_.begin(rate);
  whispers_.begin(rate);
  whispered_ = false;
  floor_.begin();
  for (auto& member : members_) {
    member->hears_ = member->leg_ != nullptr;
    member->spoke_ = member->leg_ != nullptr && !member->flags_.muted && !member->flags_.held;
    if (!member->spoke_) continue;
    member->leg_->hear_ahead(now);
    Frame scratch(rate);
    member->spoken_ = member->to_room_.convert(member->leg_->received(), rate, scratch);
    if (member->flags_.whispers) {
      whispers_.add(member->spoken_.samples());
      whispered_ = true;
      continue;
    }
    const bool speaking = member->voice_.feed(member->spoken_);
    member->gate();
    mixer_.add(member->spoken_.samples());
    floor_.add(member->handle().value(), speaking, member->voice_.frame_dbov());
  }
  if (whispered_) {
    whisper_ = Frame(rate);
    whispers_.mix_without({}, whispers_limiter_, whisper_);
  }
  for (auto& player : players_) {
    if (!player || player->finished()) continue;
    Frame audio(rate);
    Frame scratch(rate);
    mixer_.add(player->next(rate, audio, scratch).samples);
    if (player->finished()) events.playback_ended(player->handle());
  }
  if (floor_.decide()) announce_floor(events);

  if (std::all_of(taps_.begin(), taps_.end(), [](const auto& tap) { return !tap; })) return;
  Frame all(rate);
  Frame nothing(rate);
  mix_for_taps(all);
  nothing.fill(0);
  for (auto& tap : taps_) {
    if (tap) tap->frame({all, nothing, nothing, false}, now, events);
  }
}

}  // namespace carillon
