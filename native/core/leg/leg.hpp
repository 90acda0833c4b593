// Leg: sends and receives one peer's RTP and connects its players, streams and taps. Visited every 20 ms.
#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <optional>

#include "core/base/events.hpp"
#include "core/dsp/mixdown.hpp"
#include "core/dsp/resampler.hpp"
#include "core/ice/ice_lite.hpp"
#include "core/jitter/arrival_reader.hpp"
#include "core/leg/digit_sender.hpp"
#include "core/leg/player.hpp"
#include "core/leg/receive_path.hpp"
#include "core/leg/relay_state.hpp"
#include "core/leg/roster.hpp"
#include "core/leg/send_path.hpp"
#include "core/leg/statistics.hpp"
#include "core/leg/tap.hpp"
#include "core/leg/tone_receiver.hpp"
#include "core/rtp/rtcp.hpp"
#include "core/stream/audio_stream.hpp"

namespace carillon {

struct LegConfig {
  LegHandle handle;
  /// Local RTP port. RTCP uses the next higher port.
  uint16_t local_port = 0;
  uint32_t ssrc = 0;
  uint16_t sequence = 0;
  uint32_t timestamp = 0;
  /// Media timeout. Default 0: disabled.
  Nanos media_timeout{};
  /// Keep-alive interval (RFC 6263). A silent leg sends one packet when it starts and one per interval. An
  /// interval of at most one frame means continuous silence packets.
  Nanos keep_alive = kFrameTime;
};

struct LegRemote {
  /// True if the peer wants VoIP metrics (RFC 3611 §5.1).
  bool voip_metrics = false;
  /// True if RTP and RTCP share a port (RFC 5761).
  bool rtcp_mux = false;
  /// Port of the peer's RTCP in the SDP (RFC 3605). Default: RTP port + 1.
  std::optional<uint16_t> rtcp_port;
  /// True if RTCP is sent only to the port from which the peer's reports arrive, never to the RTP port + 1.
  bool rtcp_learned = false;
  ReceiveConfig receive;
  SendConfig send;
};

/// Codec objects and buffers, created by the control thread and replaced when another codec is negotiated.
struct LegCodecs {
  static constexpr size_t kMaxStreams = 8;

  LegCodecs() = default;
  /// Creates the objects for a leg with `streams` streams. For null or empty members, the leg keeps its
  /// previous ones.
  LegCodecs(const CodecSpec& spec, size_t streams);
  /// Creates the objects that transcoding on arrival needs in both legs of a bridge.
  void add_transcoding(const CodecSpec& spec);

  std::unique_ptr<JitterBuffer> receive;
  std::unique_ptr<ReceivePath::Former> former;
  std::unique_ptr<ArrivalReader> arrivals;
  std::unique_ptr<Packetizer> send;
  /// Buffer for audio that waits for a complete packet.
  Packetizer::Room waiting;
  /// Buffer for 20 ms of received audio.
  std::vector<Sample> received;
  /// Buffer for RelayState::kJoinFrames frames.
  std::vector<Sample> joining;
  std::array<std::unique_ptr<AudioDecoder>, kMaxStreams> streams;
};

/// Audio source of a leg when no playback replaces it: the other leg of a bridge, or a room without the leg's
/// own audio.
class Leg;

class FarEnd {
 public:
  virtual ~FarEnd() = default;
  /// Returns the next frame at any rate, possibly stored in `out`, or nullopt if there is no audio.
  virtual std::optional<AudioView> far_audio(Frame& out, Nanos now) = 0;
  /// Returns false if there is no audio until the leg is woken.
  [[nodiscard]] virtual bool may_speak(Nanos /*now*/) const { return true; }
  /// Returns false if the audio from this leg's peer need not be decoded for it.
  [[nodiscard]] virtual bool listens() const { return true; }
  /// Returns true if the packets of the audio are passed to Leg::receive_far().
  [[nodiscard]] virtual bool passes_packets() const { return false; }
  /// Sample rate needed by the far end. Content above half of this rate is not used.
  [[nodiscard]] virtual SampleRate hears_at() const { return kHighestRate; }
  /// Writes the continuation of relayed audio at this rate. Returns false if it is unknown.
  virtual bool go_on_after_relay(SampleRate /*rate*/, std::span<Sample> /*out*/) { return false; }
  /// Called when listens() has become true.
  virtual void begin_to_listen() {}
  /// Time at which pass_held() has packets that waited for an earlier one, if any wait.
  [[nodiscard]] virtual std::optional<Nanos> held_until() const { return std::nullopt; }
  /// Transcodes waiting packets whose time has come.
  virtual void pass_held(Leg& /*to*/, Nanos /*now*/, PacketSink& /*sink*/) {}
};

class Leg {
 public:
  static constexpr size_t kMaxStreams = LegCodecs::kMaxStreams;
  static constexpr size_t kMaxPlayers = 8;
  static constexpr size_t kMaxTaps = 12;
  /// Time without packets after which no audio remains: covers the longest playout delay, the longest packet
  /// and concealment.
  static constexpr Nanos kSounds = 2 * kSecond;
  /// Frames between quality calculations (such as the MOS). Counters are updated with every frame.
  static constexpr uint32_t kFramesPerQuality = 16;

  /// Creates a G.711 leg.
  explicit Leg(const LegConfig& config) : Leg(config, LegCodecs({}, 0)) {}
  Leg(const LegConfig& config, LegCodecs codecs);

  /// Current handle on its media thread.
  [[nodiscard]] LegHandle handle() const { return config_.handle; }
  /// Name used by the control thread and in events: the leg's first handle, which stays the same after moves.
  [[nodiscard]] LegHandle name() const { return name_; }
  /// Sets the handle after a move.
  void stand_at(LegHandle handle) { config_.handle = handle; }
  [[nodiscard]] uint16_t local_port() const { return config_.local_port; }
  /// Applies a negotiation. `codecs`: objects of a new codec; returns the replaced ones in it.
  void configure(const LegRemote& remote, Nanos now, LegCodecs* codecs = nullptr);
  /// Installs objects. Returns the replaced ones in `codecs`.
  void use(LegCodecs& codecs, Nanos now);

  /// Swaps the ICE agent that determines the peer's address. Null: use the description and received packets.
  void find_peer_by(std::unique_ptr<IceLite>& ice, Nanos now);
  [[nodiscard]] IceLite* ice() { return ice_.get(); }
  /// Updates the peer's address after ICE has selected another one.
  void follow_peer(Nanos now);
  /// Returns true if the RTP port also receives other protocols.
  [[nodiscard]] bool muxes() const { return rtcp_mux_ || ice_ != nullptr; }

  /// Swaps the packet protection and returns the previous one.
  void protect_with(std::unique_ptr<PacketProtection>& protection);

  /// Processes an RTP datagram. Unprotects it in place.
  ReceivePath::Outcome receive(std::span<uint8_t> datagram, const Address& source, Nanos arrival,
                               Events& events);
  /// Passes a packet that the far end's leg has received to the taps.
  void receive_far(const Leg& from, const ReceivePath::Outcome& outcome, Nanos arrival) {
    if (has_taps_ && outcome.counted) pass_to_taps(from, outcome, arrival);
  }
  /// Processes an RTCP datagram. Returns `ignored` for datagrams that were read normally.
  Received receive_rtcp(std::span<uint8_t> datagram, const Address& source, Nanos arrival);
  /// Processes one visit. Returns false if the leg receives media and needs the next visit. Otherwise check
  /// idle_until().
  bool frame(Nanos now, PacketSink& sink, Events& events);
  // Prefetch hints, called a few microseconds ahead. There are many legs and each is visited rarely, so its
  // memory is usually not cached. Each step follows pointers that the previous step has fetched, so the steps
  // must be spaced.
  static constexpr size_t kPacketSteps = 3;
  static constexpr size_t kFrameSteps = 4;
  /// Hint: receive() follows in `ahead` steps (kPacketSteps - 1 to 0).
  void expect_packet(size_t ahead) const;
  /// Hint: frame() follows in `ahead` steps (kFrameSteps - 1 to 0).
  void expect_frame(size_t ahead) const;
  /// Sends packets that are due 10 ms after frame(), for packet times that need it.
  void half_frame(PacketSink& sink);
  [[nodiscard]] bool needs_half_frames() const { return send_.needs_half_frames(); }
  /// Advances the RTP time past frames that were not processed, to keep the timestamps correct. The peer's
  /// audio of that time is not played.
  void skip_frames(uint32_t count) {
    send_.skip_frames(count);
    receive_.leave_out();
  }
  /// Returns the time until which visits have no effect, unless a datagram arrives or the leg changes.
  /// Returns nullopt if the next visit has an effect. Call after a visit.
  [[nodiscard]] std::optional<Nanos> idle_until(Nanos now) const;
  /// Accounts for visits that were skipped while the leg was idle.
  void idle_over(uint32_t visits) {
    send_.pause(visits);
    sent_silence();
    visits_until_quality_ -= std::min(visits, visits_until_quality_);
    receive_.leave_out();
  }
  /// Sends BYE to the peer and ends all taps.
  void end(Nanos now, PacketSink& sink, Events& events);

  // Add an object. They return false, and leave the object with the caller, if the leg is full.
  bool add(std::unique_ptr<AudioStream>& stream) { return streams_.put(stream); }
  bool add(std::unique_ptr<Player>& player) { return players_.put(player); }
  bool add(std::unique_ptr<LegTap>& tap) {
    const bool added = taps_.put(tap);
    find_frame_taps();
    return added;
  }
  bool add(std::unique_ptr<DigitJob>& job) { return digits_.add(job); }
  // Remove an object and return it, so that the caller destroys it outside the media thread.
  std::unique_ptr<AudioStream> remove_stream(StreamHandle handle) { return streams_.take(handle); }
  std::unique_ptr<Player> remove_player(PlayerHandle handle) { return players_.take(handle); }
  std::unique_ptr<LegTap> remove_tap(TapHandle handle) {
    std::unique_ptr<LegTap> tap = taps_.take(handle);
    find_frame_taps();
    return tap;
  }
  std::unique_ptr<DigitJob> remove_job(JobHandle handle);
  AudioStream* stream(StreamHandle handle) { return streams_.find(handle); }
  Player* player(PlayerHandle handle) { return players_.find(handle); }
  LegTap* tap(TapHandle handle) { return taps_.find(handle); }
  [[nodiscard]] std::span<const std::unique_ptr<LegTap>> taps() const { return taps_.all(); }

  /// Enables DTMF tone detection, or disables it with null, and returns the previous detector. Default:
  /// disabled. Detection costs about a tenth of a leg's processing time.
  void want_tones(std::unique_ptr<DtmfDetector>& detector) { tones_.want(detector); }

  void set_far_end(FarEnd* far_end);
  [[nodiscard]] FarEnd* far_end() const { return far_end_; }

  /// Sends a packet received by the far end immediately, if no other audio is played. With the same packet
  /// length and compatible codings, it is relayed without decoding, otherwise transcoded if `from` has a
  /// reader.
  void relay(Leg& from, const ReceivePath::Outcome& received, Nanos arrival, PacketSink& sink);
  /// Transcodes the packets of the far end that are ready. `before`: audio at the rate of the last composed
  /// frame, from which the first piece is crossfaded.
  void pass_on(Leg& from, Nanos now, PacketSink& sink, std::span<const Sample> before = {});
  /// Returns true if packets from the far end are relayed or transcoded instead of composed audio.
  [[nodiscard]] bool relays() const { return relay_.active(); }
  /// Returns true if the relay needs a visit: it ends, or packets wait for an earlier one.
  [[nodiscard]] bool relay_wants_visit() const {
    return relays() && (relay_.ends() || (transcodes_ && far_end_ != nullptr && far_end_->held_until()));
  }
  /// Time at which packets from this leg's peer that wait for an earlier one are transcoded.
  [[nodiscard]] std::optional<Nanos> held_until() const {
    return arrivals_ ? arrivals_->due() : std::nullopt;
  }
  /// Returns true if the far end's audio must be decoded for this leg.
  [[nodiscard]] bool needs_far_audio() const { return !relays() || !needs_no_frames(); }
  bool go_on_after_relay(SampleRate rate, std::span<Sample> out);

  /// Returns true if any packet was received from the peer.
  [[nodiscard]] bool heard() const { return receive_.ssrc().has_value(); }
  /// Returns true if a packet was received within kSounds before `now`, or comfort noise is due.
  [[nodiscard]] bool hears(Nanos now) const {
    return heard() && (now - receive_.last_arrival() < kSounds || receive_.comforted());
  }
  /// Reads the next received frame for the far end, so that its audio does not wait for this leg's visit. The
  /// visit then uses the same frame. Call every 20 ms.
  void hear_ahead(Nanos now) {
    hear(now);
    heard_ahead_ = true;
  }
  /// Last frame received from the peer.
  [[nodiscard]] AudioView received() const {
    return {rate(), std::span(received_).first(frame_samples(rate()))};
  }
  /// Returns false while the audio is not decoded. received() is then outdated.
  [[nodiscard]] bool decodes() const { return decodes_; }
  /// Sample rate of the received audio: the codec's, or a lower one that suffices for all listeners.
  [[nodiscard]] SampleRate rate() const { return receive_.rate(); }
  /// Sample rate of the negotiated codec.
  [[nodiscard]] SampleRate full_rate() const { return full_rate_; }
  [[nodiscard]] const std::shared_ptr<LegFigures>& statistics() const { return figures_; }
  [[nodiscard]] const ReceivePath& receive_path() const { return receive_; }

 private:
  void count_malformed(bool opened);
  void exchange_audio(Nanos now, PacketSink& sink, Events& events);
  void expect_head() const;
  void hear(Nanos now);
  void sent_silence() {
    last_sent_ = 0;
    steps_ = false;
  }
  void receive_frame(Nanos now, Events& events);
  void follow_listeners();
  [[nodiscard]] SampleRate heard_rate() const;
  [[nodiscard]] SampleRate needed_line_rate() const;
  [[nodiscard]] bool listened_to() const;
  [[nodiscard]] bool only_relays(Nanos now) const {
    return relays() && relay_goes_on(now) && !listened_to() && needs_no_frames() && taps_.empty();
  }
  [[nodiscard]] bool needs_no_frames() const { return !taps_need_frames_ && streams_.empty(); }
  void find_frame_taps() {
    has_taps_ = !taps_.empty();
    taps_need_frames_ = std::ranges::any_of(taps_.all(), [](const auto& tap) { return tap->needs_frames(); });
  }
  void pass_to_taps(const Leg& from, const ReceivePath::Outcome& outcome, Nanos arrival);
  [[nodiscard]] ReceivedPacket recorded(const ReceivePath::Outcome& outcome, Nanos arrival) const;
  [[nodiscard]] bool silent_itself() const;
  [[nodiscard]] bool carries(const Leg& from, const ReceivePath::Outcome& received) const;
  void relay_pause(Leg& from, const ReceivePath::Outcome& received, Nanos arrival, PacketSink& sink);
  [[nodiscard]] Bytes carry(Leg& from, const ReceivePath::Outcome& received, RtpTicks duration,
                            Nanos arrival);
  void transcode(Leg& from, const ReceivePath::Outcome& received, Nanos arrival, PacketSink& sink);
  void send_arrived(AudioView audio, SampleRate content, bool lost, PacketSink& sink);
  void send_pause(Nanos length, PacketSink& sink);
  [[nodiscard]] bool relay_goes_on(Nanos now) const;
  void end_relay(Nanos now);
  bool continue_relayed();
  std::span<Sample> catch_up_to_newest(RtpTicks duration, std::span<Sample> room);
  [[nodiscard]] bool quiet(Nanos now) const;
  [[nodiscard]] bool pauses(Nanos now) const;
  [[nodiscard]] bool reports_silence(Nanos now) const;
  void send_comfort(PacketSink& sink);
  /// Part of a frame that this node adds to the far end's audio.
  struct OwnPart {
    std::optional<AudioView> audio;
    bool far_end_heard = false;
  };
  OwnPart compose(Nanos now, Frame& out, Frame& own, Events& events);
  class Sources;
  std::optional<PlayManner> play(Frame& instead, Sources& mix, Events& events);
  [[nodiscard]] EventLine event_line() const;
  [[nodiscard]] bool carries_audio() const;
  [[nodiscard]] bool can_send() const;
  enum class FrameContent : uint8_t { audio, tone, event };
  FrameContent send_digits(bool can_send, Frame& audio, PacketSink& sink, Events& events);
  FrameContent send_frame(Frame& audio, PacketSink& sink, Events& events);
  void check_media_timeout(Nanos now, Events& events);
  void report_latch(Nanos now, PacketSink& sink);
  [[nodiscard]] uint16_t expected_rtcp_port() const;
  void send_report(Nanos now, bool bye, PacketSink& sink);
  void publish_statistics();
  void estimate_quality_now();
  [[nodiscard]] VoipMetrics voip_metrics() const;

  // Members that every visit uses come first; rarely used members come last.
  LegConfig config_;
  LegHandle name_;
  bool configured_ = false;
  bool receiving_ = false;
  bool rtcp_mux_ = false;
  bool rtcp_learned_ = false;
  bool voip_metrics_ = false;
  bool timed_out_ = false;
  bool has_mos_ = false;
  /// True if the last received frame was decoded.
  bool decodes_ = true;
  /// True if a part of the last received frame was concealed.
  bool concealed_ = false;
  /// True if the far end has read the frame of the next visit.
  bool heard_ahead_ = false;
  bool has_taps_ = false;
  /// True if a tap needs the received and sent audio.
  bool taps_need_frames_ = false;
  /// True if the relay transcodes.
  bool transcodes_ = false;
  /// True if the far end has changed since the last composed frame, whose last sample is `last_sent_`.
  bool steps_ = false;
  Sample last_sent_ = 0;
  /// True if the last packet sent was comfort noise.
  bool comforts_ = false;
  /// Bandwidth of the last composed audio, as twice its highest frequency.
  SampleRate content_ = kHighestRate;
  Limiter limiter_;
  Limiter own_limiter_;
  uint32_t visits_until_quality_ = 0;
  uint32_t visits_too_narrow_ = 0;
  Nanos expecting_since_{};
  RelayState relay_;
  FarEnd* far_end_ = nullptr;
  uint64_t malformed_ = 0;
  uint64_t unauthentic_ = 0;
  uint64_t packets_at_report_ = 0;
  uint64_t packets_at_visit_ = 0;
  std::optional<Nanos> sent_at_;       // time of the last packet sent, as seen by a visit
  std::optional<Address> latched_;     // only address from which the socket receives
  std::optional<uint16_t> rtcp_port_;  // source port of the peer's reports
  std::optional<uint16_t> described_rtcp_port_;
  std::unique_ptr<PacketProtection> protection_;
  size_t protection_bytes_ = protection_->hot_bytes();
  std::unique_ptr<IceLite> ice_;
  /// Result of the consent check in the last frame.
  bool has_consent_ = true;
  std::shared_ptr<LegFigures> figures_;
  SendPath send_;
  std::vector<Sample> received_;
  SampleRate full_rate_{8000};
  ReceivePath receive_;
  FrameConverter to_line_;                   // converts the far end's audio
  std::unique_ptr<ArrivalReader> arrivals_;  // null: packets from this peer are not transcoded
  DigitSender digits_;
  Roster<AudioStream, kMaxStreams> streams_;
  Roster<Player, kMaxPlayers> players_;
  Roster<LegTap, kMaxTaps> taps_;
  RtcpSession rtcp_;
  std::array<std::unique_ptr<DigitJob>, DigitSender::kMaxJobs> spent_jobs_;
  ToneReceiver tones_;
};

}  // namespace carillon
