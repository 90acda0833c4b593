// What the control thread knows of each leg's codec: from it, what a change of codec must bring along is made
// here, where memory may be taken.
#pragma once

#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "core/leg/leg.hpp"

namespace carillon {

class LegSessions {
 public:
  /// The leg's session has this codec from now on, and sends packets of so many milliseconds: what it needs
  /// for that; nothing: all goes on.
  std::optional<LegCodecs> change(LegHandle leg, const CodecSpec& spec, int packet_ms) {
    Session& session = sessions_[leg.value()];
    const CodecSpec before = std::exchange(session.spec, spec);
    const bool decoder_goes_on = same_decoder(before, spec);
    // Both laws of G.711 have one encoder too.
    const bool encoder_goes_on = spec == before || (decoder_goes_on && spec.coding != before.coding);
    const bool waits = packet_ms != kFrameMs && (!session.waits || !encoder_goes_on);
    session.waits = waits || (session.waits && encoder_goes_on);
    if (encoder_goes_on && !waits) return std::nullopt;
    LegCodecs codecs;
    if (!encoder_goes_on) codecs = LegCodecs(spec, decoder_goes_on ? 0 : session.streams.size());
    if (decoder_goes_on) codecs.receive.reset();
    if (waits) codecs.waiting = Packetizer::room(rates_of(spec).sample);
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
    /// It has room for audio that waits for a packet to be full.
    bool waits = false;
    std::unordered_set<uint32_t> streams;
  };
  /// Of legs that live: as many as the engine takes.
  std::unordered_map<uint32_t, Session> sessions_;
};

}  // namespace carillon
