// State of a leg's relay: whether packets of the far end are relayed, until when, and the transition back to
// composed audio.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "core/base/frame.hpp"
#include "core/base/time.hpp"

namespace carillon {

class RelayState {
 public:
  /// Number of frames of extrapolated audio after relaying.
  static constexpr size_t kJoinFrames = 2;

  /// `joining`: buffer for kJoinFrames frames at the highest rate of the codec.
  explicit RelayState(std::vector<Sample> joining) : join_(std::move(joining)) {}

  /// Swaps the buffer when the codec changes.
  void use(std::vector<Sample>& joining) {
    join_.swap(joining);
    join_left_ = 0;
  }

  /// Returns true if packets of the far end are relayed instead of composed audio.
  [[nodiscard]] bool active() const { return active_; }
  /// Time at which relaying ends if no other packet is relayed.
  [[nodiscard]] Nanos until() const { return until_; }
  /// Returns true if relaying may start: the far end's coding and packet length are settled.
  [[nodiscard]] bool may_start(Nanos arrival) const { return arrival >= not_before_; }
  /// Returns true if the last composed frame contained the far end's audio.
  [[nodiscard]] bool far_heard() const { return far_ == Far::heard; }

  /// A packet was relayed. `in_dtx`: the sender pauses between its packets.
  void relayed(Nanos arrival, bool in_dtx);
  /// Comfort noise was relayed. The relay lasts for at least `pause` without another packet.
  void relayed_comfort(Nanos arrival, Nanos pause);
  /// A packet did not have the length of the packets sent. Returns true if this is the sender's usual length.
  [[nodiscard]] bool unfit() { return ++unfit_ > kUsual; }
  void fitted() { unfit_ = 0; }
  /// A packet could not be relayed. Audio is decoded until the sender has settled.
  void refused(Nanos arrival);
  /// Ends the relay with the next visit. It may start again immediately.
  void stop() { ends_ = ends_ || active_; }
  /// Ends the relay with the next visit, because the far end changes. `joins`: the continuation is known.
  void cut(bool joins) {
    stop();
    cut_ = true;
    cut_joins_ = joins;
  }
  /// Returns true if the next visit ends the relay.
  [[nodiscard]] bool ends() const { return ends_; }
  /// Returns whether the continuation is known, if cut() was called.
  [[nodiscard]] std::optional<bool> cut_joins() const {
    return cut_ ? std::optional(cut_joins_) : std::nullopt;
  }
  /// Ends relaying. Returns true if relayed audio was heard so recently that the next audio must be joined to
  /// it.
  bool end(Nanos now);

  /// A frame was composed without the far end.
  void composed_alone() { far_ = Far::unused; }
  /// A frame was composed with the far end. `heard`: its audio was decoded.
  void composed(bool heard) { far_ = heard ? Far::heard : Far::missing; }

  /// Buffer for the continuation of relayed audio.
  [[nodiscard]] std::span<Sample> continuation() { return join_; }
  /// Sets whether the next audio is joined to the continuation.
  void join_next(bool joins) { join_left_ = joins ? kJoinFrames : 0; }
  [[nodiscard]] bool joins() const { return join_left_ > 0; }
  /// Crossfades from relayed to composed audio. Extrapolated audio fills the frame, at most one, until the
  /// far end is decoded from its next visit.
  void join_on(Frame& sent);

 private:
  /// Consecutive packets of one length that show that it is the usual one.
  static constexpr int kUsual = 5;

  /// The far end in the last composed frame. `missing`: its audio was needed but not decoded.
  enum class Far : uint8_t { unused, heard, missing };

  bool active_ = false;
  bool ends_ = false;
  bool cut_ = false;
  bool cut_joins_ = false;
  Far far_ = Far::unused;
  int unfit_ = 0;
  Nanos relayed_at_{};
  Nanos until_{};
  Nanos not_before_{};
  /// Extrapolated continuation of relayed audio. The last `join_left_` frames remain.
  size_t join_left_ = 0;
  std::vector<Sample> join_;
};

}  // namespace carillon
