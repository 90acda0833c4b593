// Codec state of each leg on the control thread. Creates the objects that a codec change needs, because a
// media thread must not allocate.
#pragma once

#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "core/leg/leg.hpp"

namespace carillon {

class LegSessions {
 public:
  /// Records the leg's new codec. Returns the objects that the leg needs for it, or nullopt if none are
  /// needed.
  std::optional<LegCodecs> change(LegHandle leg, const CodecSpec& spec) {
    Session& session = sessions_[leg.value()];
    const CodecSpec before = std::exchange(session.spec, spec);
    const bool decoder_goes_on = same_decoder(before, spec);
    // Both G.711 laws also share one encoder.
    const bool encoder_goes_on = spec == before || (decoder_goes_on && spec.coding != before.coding);
    if (encoder_goes_on) return std::nullopt;
    LegCodecs codecs(spec, decoder_goes_on ? 0 : session.streams.size());
    if (decoder_goes_on) codecs.receive.reset();
    return codecs;
  }

  [[nodiscard]] CodecSpec spec(LegHandle leg) const {
    const auto found = sessions_.find(leg.value());
    return found == sessions_.end() ? CodecSpec{} : found->second.spec;
  }
  [[nodiscard]] SampleRate rate(LegHandle leg) const { return rates_of(spec(leg)).sample; }

  void opened(LegHandle leg, StreamHandle stream) { sessions_[leg.value()].streams.insert(stream.value()); }
  void closed(LegHandle leg, StreamHandle stream) {
    if (const auto found = sessions_.find(leg.value()); found != sessions_.end()) {
      found->second.streams.erase(stream.value());
    }
  }
  void forget(LegHandle leg) { sessions_.erase(leg.value()); }

 private:
  struct Session {
    CodecSpec spec;
    std::unordered_set<uint32_t> streams;
  };
  /// Sessions of live legs, bounded by the engine's maximum number of legs.
  std::unordered_map<uint32_t, Session> sessions_;
};

}  // namespace carillon
