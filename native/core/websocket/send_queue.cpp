#include "core/websocket/send_queue.hpp"

#include <algorithm>
#include <array>

#include "core/base/frame.hpp"

namespace carillon {

/// Returns true if the oldest media must be dropped for a new message.
bool SendQueue::full(Nanos now) const {
  if (media_ < limits_.media_messages) return false;
  if (media_ >= kBurst * limits_.media_messages) return true;
  const auto oldest = std::ranges::find_if(items_, &Item::is_media);
  return now - oldest->at >= static_cast<int64_t>(limits_.media_messages) * kFrameTime;
}

void SendQueue::put_media(Bytes message, Nanos now) {
  if (limits_.media_messages == 0) return;
  while (full(now)) drop_oldest_media();
  items_.push_back({Opcode::text, true, now, {message.begin(), message.end()}});
  ++media_;
}

bool SendQueue::put_control(Opcode opcode, Bytes payload) {
  if (opcode == Opcode::pong) drop_pong();
  if (control_bytes_ + cost(payload) > limits_.control_bytes) return false;
  items_.push_back({opcode, false, {}, {payload.begin(), payload.end()}});
  control_bytes_ += cost(payload);
  pong_waits_ = pong_waits_ || opcode == Opcode::pong;
  return true;
}

std::optional<SendQueue::Item> SendQueue::take(bool media_allowed) {
  if (items_.empty() || (items_.front().is_media && !media_allowed)) return std::nullopt;
  Item item = std::move(items_.front());
  items_.pop_front();
  if (item.is_media) {
    --media_;
  } else {
    control_bytes_ -= cost(item.payload);
    if (item.opcode == Opcode::pong) pong_waits_ = false;
  }
  if (items_.empty()) reported_percent_ = 0;
  return item;
}

void SendQueue::drop_media() {
  dropped_ += std::erase_if(items_, [](const Item& item) { return item.is_media; });
  media_ = 0;
}

void SendQueue::drop_oldest_media() {
  const auto oldest =
      std::find_if(items_.begin(), items_.end(), [](const Item& item) { return item.is_media; });
  if (oldest == items_.end()) return;
  items_.erase(oldest);
  --media_;
  ++dropped_;
}

void SendQueue::drop_pong() {
  if (!pong_waits_) return;
  pong_waits_ = false;
  const auto pong = std::find_if(items_.begin(), items_.end(),
                                 [](const Item& item) { return item.opcode == Opcode::pong; });
  if (pong == items_.end()) return;
  control_bytes_ -= cost(pong->payload);
  items_.erase(pong);
}

unsigned SendQueue::newly_degraded() {
  constexpr std::array<unsigned, 3> kLevels{90, 60, 30};
  const auto crossed = std::find_if(kLevels.begin(), kLevels.end(), [&](unsigned percent) {
    return media_ * 100 >= percent * limits_.media_messages;
  });
  if (crossed == kLevels.end() || *crossed <= reported_percent_) return 0;
  reported_percent_ = *crossed;
  return *crossed;
}

}  // namespace carillon
