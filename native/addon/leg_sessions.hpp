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
  void begin(LegHandle leg) { sessions_[leg.value()]; }
  /// Returns true from begin() to forget(). Other legs never get an entry.
  [[nodiscard]] bool knows(LegHandle leg) const { return sessions_.contains(leg.value()); }

  /// Records the leg's new codec and packet time in ms. Returns the objects that the leg needs for it, or
  /// nullopt if none are needed.
  std::optional<LegCodecs> change(LegHandle leg, const CodecSpec& spec, int packet_ms) {
    const auto found = sessions_.find(leg.value());
    if (found == sessions_.end()) return std::nullopt;
    Session& session = found->second;
    const CodecSpec before = std::exchange(session.spec, spec);
    session.packet_ms = packet_ms;
    const bool decoder_goes_on = same_decoder(before, spec);
    // Both G.711 laws also share one encoder.
    const bool encoder_goes_on = spec == before || (decoder_goes_on && spec.coding != before.coding);
    LegCodecs codecs;
    if (!encoder_goes_on) codecs = LegCodecs(spec, decoder_goes_on ? 0 : session.streams.size());
    if (decoder_goes_on) codecs.receive.reset();
    session.waits = session.waits && encoder_goes_on;
    session.reads = session.reads && decoder_goes_on;
    if (!add_bridge_objects(session, codecs) && encoder_goes_on) return std::nullopt;
    return codecs;
  }

  /// Records a bridge of two legs; equip() returns what they need for it.
  void bridge(LegHandle a, LegHandle b) {
    for (const LegHandle leg : {a, b}) part(leg);
    const auto first = sessions_.find(a.value());
    const auto second = sessions_.find(b.value());
    if (first == sessions_.end() || second == sessions_.end()) return;
    first->second.partner = b.value();
    second->second.partner = a.value();
  }
  /// Records that the leg has left its bridge.
  void part(LegHandle leg) {
    const auto found = sessions_.find(leg.value());
    if (found == sessions_.end() || !found->second.partner) return;
    const auto other = sessions_.find(*found->second.partner);
    if (other != sessions_.end()) other->second.partner.reset();
    found->second.partner.reset();
  }
  [[nodiscard]] std::optional<LegHandle> partner(LegHandle leg) const {
    const auto found = sessions_.find(leg.value());
    if (found == sessions_.end() || !found->second.partner) return std::nullopt;
    return LegHandle(*found->second.partner);
  }
  /// Returns the objects that the leg lacks for its bridge, or nullopt.
  std::optional<LegCodecs> equip(LegHandle leg) {
    const auto found = sessions_.find(leg.value());
    LegCodecs codecs;
    if (found == sessions_.end() || !add_bridge_objects(found->second, codecs)) return std::nullopt;
    return codecs;
  }

  [[nodiscard]] CodecSpec spec(LegHandle leg) const {
    const auto found = sessions_.find(leg.value());
    return found == sessions_.end() ? CodecSpec{} : found->second.spec;
  }
  [[nodiscard]] SampleRate rate(LegHandle leg) const { return rates_of(spec(leg)).sample; }

  void opened(LegHandle leg, StreamHandle stream) {
    if (const auto found = sessions_.find(leg.value()); found != sessions_.end()) {
      found->second.streams.insert(stream.value());
    }
  }
  void closed(LegHandle leg, StreamHandle stream) {
    if (const auto found = sessions_.find(leg.value()); found != sessions_.end()) {
      found->second.streams.erase(stream.value());
    }
  }
  void forget(LegHandle leg) {
    part(leg);
    sessions_.erase(leg.value());
  }

 private:
  struct Session {
    CodecSpec spec;
    int packet_ms = kFrameMs;
    /// True if the leg has a buffer for audio that waits for a complete packet.
    bool waits = false;
    /// True if the leg has a reader for transcoding.
    bool reads = false;
    /// Other leg of the bridge.
    std::optional<uint32_t> partner;
    std::unordered_set<uint32_t> streams;
  };
  /// Returns true if packets between the leg and its partner must be transcoded. Legs of which both send
  /// packets of the usual length are assumed to receive them too.
  [[nodiscard]] bool transcodes(const Session& session) const {
    if (!session.partner) return false;
    const auto other = sessions_.find(*session.partner);
    if (other == sessions_.end()) return false;
    const Session& partner = other->second;
    const bool relays = carries_over(session.spec.coding, partner.spec.coding) &&
                        rates_of(session.spec).clock == rates_of(partner.spec).clock;
    return !relays || session.packet_ms != kFrameMs || partner.packet_ms != kFrameMs;
  }

  [[nodiscard]] bool partner_reads(const Session& session) const {
    if (!session.partner) return false;
    const auto other = sessions_.find(*session.partner);
    return other != sessions_.end() && other->second.reads;
  }

  /// Adds the objects that the leg lacks. Returns true if there are any.
  bool add_bridge_objects(Session& session, LegCodecs& codecs) const {
    const bool transcoding = transcodes(session);
    LegCodecs needed;
    if (transcoding && !session.reads) {
      needed.add_transcoding(session.spec);
      codecs.arrivals = std::move(needed.arrivals);
      session.reads = true;
    }
    // The partner's reader may get packets of any length.
    const bool waits =
        (transcoding || partner_reads(session) || session.packet_ms != kFrameMs) && !session.waits;
    if (waits) codecs.waiting = Packetizer::room(rates_of(session.spec).sample);
    session.waits = session.waits || waits;
    return codecs.arrivals != nullptr || waits;
  }

  /// Sessions of live legs, bounded by the engine's maximum number of legs.
  std::unordered_map<uint32_t, Session> sessions_;
};

}  // namespace carillon
