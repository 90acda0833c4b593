// Packet index estimation and replay protection for one SSRC and key (RFC 3711 §3.3.1, §3.3.2 and appendix
// A).
#pragma once

#include <bitset>
#include <cstdint>

namespace carillon {

/// Received indices: the newest, and a bit mask of those before it.
class ReplayWindow {
 public:
  static constexpr uint64_t kSize = 128;

  /// Returns false if the index was received before or is older than the window.
  [[nodiscard]] bool fresh(uint64_t index) const {
    if (empty_ || index > newest_) return true;
    const uint64_t behind = newest_ - index;
    return behind < kSize && !seen_[behind];
  }

  /// Records an authenticated, fresh index. Indices older than the window are ignored.
  void add(uint64_t index) {
    if (empty_ || index > newest_) {
      const uint64_t ahead = empty_ ? kSize : index - newest_;
      seen_ = ahead >= kSize ? std::bitset<kSize>() : seen_ << ahead;
      newest_ = index;
      empty_ = false;
    }
    const uint64_t behind = newest_ - index;
    if (behind < kSize) seen_[behind] = true;
  }

  [[nodiscard]] bool empty() const { return empty_; }
  [[nodiscard]] uint64_t newest() const { return newest_; }

 private:
  std::bitset<kSize> seen_;
  uint64_t newest_ = 0;
  bool empty_ = true;
};

/// Returns the index nearest to the newest one whose low 16 bits equal the sequence number.
inline uint64_t srtp_index(const ReplayWindow& seen, uint16_t sequence) {
  constexpr int64_t kRound = 0x10000;
  if (seen.empty()) return sequence;
  const auto newest = static_cast<int64_t>(seen.newest());
  const auto step = static_cast<int16_t>(static_cast<uint16_t>(sequence - static_cast<uint16_t>(newest)));
  const int64_t index = newest + step;
  // A negative index would precede the first packet, so it belongs to the next cycle.
  return static_cast<uint64_t>(index < 0 ? index + kRound : index);
}

}  // namespace carillon
