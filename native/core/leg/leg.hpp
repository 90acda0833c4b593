// One leg: a peer's RTP in and out, and everything that hears or speaks on it. Visited once every 20 ms.
#pragma once

#include <array>
#include <memory>
#include <optional>

#include "core/base/events.hpp"
#include "core/dsp/dtmf_detector.hpp"
#include "core/dsp/mixdown.hpp"
#include "core/dsp/resampler.hpp"
#include "core/ice/ice_lite.hpp"
#include "core/leg/digit_sender.hpp"
#include "core/leg/player.hpp"
#include "core/leg/receive_path.hpp"
#include "core/leg/roster.hpp"
#include "core/leg/send_path.hpp"
#include "core/leg/statistics.hpp"
#include "core/leg/tap.hpp"
#include "core/rtp/rtcp.hpp"
#include "core/stream/audio_stream.hpp"

namespace carillon {

struct LegConfig {
  LegHandle handle;
  /// RTP; RTCP is the one above it.
  uint16_t local_port = 0;
  uint32_t ssrc = 0;
  uint16_t sequence = 0;
  uint32_t timestamp = 0;
  /// 0: no media timeout.
  Nanos media_timeout{};
  /// A leg that neither hears nor says anything sends one packet when it begins and one after each such time
  /// (RFC 6263): silence without pause when it is not longer than a frame.
  Nanos keep_alive = kFrameTime;
};

struct LegRemote {
  /// The peer wants VoIP metrics (RFC 3611 §5.1).
  bool voip_metrics = false;
  /// RTP and RTCP share a port (RFC 5761).
  bool rtcp_mux = false;
  /// Nothing goes to the port above the one of RTP: only to where the peer's reports come from.
  bool rtcp_learned = false;
  ReceiveConfig receive;
  SendConfig send;
};

/// What is replaced when another codec is negotiated, made by the control thread.
struct LegCodecs {
  static constexpr size_t kMaxStreams = 8;

  LegCodecs() = default;
  /// For a leg with so many streams. Of what is left null or empty, the one before goes on.
  LegCodecs(const CodecSpec& spec, size_t streams);

  std::unique_ptr<JitterBuffer> receive;
  std::unique_ptr<ReceivePath::Former> former;
  std::unique_ptr<Packetizer> send;
  /// For packets of another length than a frame's.
  Packetizer::Room waiting;
  /// 20 ms.
  std::vector<Sample> received;
  /// Leg::kJoinFrames of them.
  std::vector<Sample> joining;
  std::array<std::unique_ptr<AudioDecoder>, kMaxStreams> streams;
};

/// What a leg hears when nothing is played to it: the other leg of a bridge, or a room without the leg's own
/// voice.
class FarEnd {
 public:
  virtual ~FarEnd() = default;
  /// At whatever rate it has, perhaps within `out`; nothing: there is nothing to hear.
  virtual std::optional<AudioView> far_audio(Frame& out) = 0;
  /// False: there is nothing to hear until the leg is told to look again.
  [[nodiscard]] virtual bool may_speak(Nanos /*now*/) const { return true; }
  /// False: what this leg hears from its peer need not be decoded for it.
  [[nodiscard]] virtual bool listens() const { return true; }
  /// Nothing above half of this rate is heard there.
  [[nodiscard]] virtual SampleRate hears_at() const { return kHighestRate; }
  /// What may follow the audio that was relayed from there, at this rate. False: that is not known.
  virtual bool go_on_after_relay(SampleRate /*rate*/, std::span<Sample> /*out*/) { return false; }
  /// listens() has become true.
  virtual void begin_to_listen() {}
};

class Leg {
 public:
  static constexpr size_t kMaxStreams = LegCodecs::kMaxStreams;
  static constexpr size_t kMaxPlayers = 8;
  static constexpr size_t kMaxTaps = 12;
  static constexpr size_t kJoinFrames = 2;
  /// The longest playout delay, the longest packet and what codecs make up behind it.
  static constexpr Nanos kSounds = 2 * kSecond;
  /// The counts are of the last frame; the opinion score and what goes with it are worked out once in so
  /// many.
  static constexpr uint32_t kFramesPerQuality = 16;

  /// Begins as one of G.711.
  explicit Leg(const LegConfig& config) : Leg(config, LegCodecs({}, 0)) {}
  Leg(const LegConfig& config, LegCodecs codecs);

  /// Where it stands on its media thread.
  [[nodiscard]] LegHandle handle() const { return config_.handle; }
  /// The control thread's name for it, and that of its events: its first handle, wherever it has moved since.
  [[nodiscard]] LegHandle name() const { return name_; }
  /// It has moved.
  void stand_at(LegHandle handle) { config_.handle = handle; }
  [[nodiscard]] uint16_t local_port() const { return config_.local_port; }
  /// `codecs`: the session has another codec than before; what is not needed any more is given back in it.
  void configure(const LegRemote& remote, Nanos now, LegCodecs* codecs = nullptr);

  /// Takes over how the peer's address is found, and gives back how it was; none: by the description and its
  /// packets.
  void find_peer_by(std::unique_ptr<IceLite>& ice, Nanos now);
  [[nodiscard]] IceLite* ice() { return ice_.get(); }
  /// ICE has found the peer elsewhere.
  void follow_peer(Nanos now);
  /// More than RTP comes to the RTP port.
  [[nodiscard]] bool muxes() const { return rtcp_mux_ || ice_ != nullptr; }

  /// Takes over how packets are protected, and gives back how they were.
  void protect_with(std::unique_ptr<PacketProtection>& protection);

  /// The datagram is unprotected in place.
  ReceivePath::Outcome receive(std::span<uint8_t> datagram, const Address& source, Nanos arrival,
                               Events& events);
  /// `ignored`: read, as RTCP is.
  Received receive_rtcp(std::span<uint8_t> datagram, const Address& source, Nanos arrival);
  /// One visit. False: it hears its peer, so the next one is needed; else idle_until() knows.
  bool frame(Nanos now, PacketSink& sink, Events& events);
  // Hints, some microseconds ahead. Legs are many and each is visited seldom: its memory is far away every
  // time. Each step asks for what the one before has shown the place of, so they are some way apart.
  static constexpr size_t kPacketSteps = 3;
  static constexpr size_t kFrameSteps = 4;
  /// receive() is so many steps away: kPacketSteps - 1 to 0.
  void expect_packet(size_t ahead) const;
  /// frame() is so many steps away: kFrameSteps - 1 to 0.
  void expect_frame(size_t ahead) const;
  /// 10 ms after frame(), for packet times that need it.
  void half_frame(PacketSink& sink);
  [[nodiscard]] bool needs_half_frames() const { return send_.needs_half_frames(); }
  /// Frames that were not run in time: the peer's clock must not be told otherwise.
  void skip_frames(uint32_t count) { send_.skip_frames(count); }
  /// Until when visits would do nothing, unless a datagram comes or the leg is changed. Nothing: the next one
  /// would. Ask after a visit.
  [[nodiscard]] std::optional<Nanos> idle_until(Nanos now) const;
  /// So many visits were left out while there was nothing to do.
  void idle_over(uint32_t visits) {
    send_.pause(visits);
    receive_.leave_out();
  }
  /// Says goodbye to the peer and lets the taps report.
  void end(Nanos now, PacketSink& sink, Events& events);

  // Additions return false, and leave the object where it is, when the leg is full.
  bool add(std::unique_ptr<AudioStream>& stream) { return streams_.put(stream); }
  bool add(std::unique_ptr<Player>& player) { return players_.put(player); }
  bool add(std::unique_ptr<LegTap>& tap) { return taps_.put(tap); }
  bool add(std::unique_ptr<DigitJob>& job) { return digits_.add(job); }
  // Removals give the object back, so that it is destroyed elsewhere.
  std::unique_ptr<AudioStream> remove_stream(StreamHandle handle) { return streams_.take(handle); }
  std::unique_ptr<Player> remove_player(PlayerHandle handle) { return players_.take(handle); }
  std::unique_ptr<LegTap> remove_tap(TapHandle handle) { return taps_.take(handle); }
  std::unique_ptr<DigitJob> remove_job(JobHandle handle);
  AudioStream* stream(StreamHandle handle) { return streams_.find(handle); }
  Player* player(PlayerHandle handle) { return players_.find(handle); }
  LegTap* tap(TapHandle handle) { return taps_.find(handle); }
  [[nodiscard]] std::span<const std::unique_ptr<LegTap>> taps() const { return taps_.all(); }

  /// Somebody wants keypad presses that come as tones and gives what finds them, or nobody does (null): so it
  /// is at first. Gives back what was there. Finding them costs about a tenth of a leg.
  void want_tones(std::unique_ptr<DtmfDetector>& detector) { std::swap(tones_, detector); }

  void set_far_end(FarEnd* far_end) {
    far_end_ = far_end;
    to_line_.reset();
  }
  [[nodiscard]] FarEnd* far_end() const { return far_end_; }

  /// A packet that the leg at the far end has received: where nothing else is to be heard, and both speak in
  /// packets of the same length and coding, or of codings that carry over, it goes on to the peer at once.
  /// Returns what is to be sent, which stands as SendPath's packets do; empty: nothing.
  [[nodiscard]] Bytes relay(Leg& from, const ReceivePath::Outcome& received, Nanos arrival);
  /// Its peer is sent the far end's packets, not what is composed.
  [[nodiscard]] bool relays() const { return relays_; }
  /// Needs the far end's audio decoded.
  [[nodiscard]] bool needs_far_audio() const { return !relays_ || !needs_no_frames(); }
  bool go_on_after_relay(SampleRate rate, std::span<Sample> out);

  /// Something has come from the peer.
  [[nodiscard]] bool heard() const { return receive_.ssrc().has_value(); }
  /// Something came not so long ago that it would not sound any more.
  [[nodiscard]] bool hears(Nanos now) const { return heard() && now - receive_.last_arrival() < kSounds; }
  /// The last frame heard from the peer.
  [[nodiscard]] AudioView received() const {
    return {rate(), std::span(received_).first(frame_samples(rate()))};
  }
  /// False while nobody has it decoded: received() is of another time.
  [[nodiscard]] bool decodes() const { return decodes_; }
  /// At which it hears: its codec's, or a lower one that is enough for all who listen.
  [[nodiscard]] SampleRate rate() const { return receive_.rate(); }
  /// Its codec's, as negotiated.
  [[nodiscard]] SampleRate full_rate() const { return full_rate_; }
  [[nodiscard]] const std::shared_ptr<LegFigures>& statistics() const { return figures_; }
  [[nodiscard]] const ReceivePath& receive_path() const { return receive_; }

 private:
  void count_malformed(bool opened);
  void hear_event(char digit, Nanos arrival, Events& events);
  void hear_tones(Nanos now, Events& events);
  void exchange_audio(Nanos now, PacketSink& sink, Events& events);
  void expect_head() const;
  void receive_frame(Nanos now, Events& events);
  void follow_listeners();
  [[nodiscard]] SampleRate needed_line_rate() const;
  [[nodiscard]] bool listened_to() const;
  [[nodiscard]] bool only_relays(Nanos now) const {
    return relays_ && relay_goes_on(now) && !listened_to() && needs_no_frames();
  }
  [[nodiscard]] bool needs_no_frames() const { return taps_.empty() && streams_.empty(); }
  [[nodiscard]] bool silent_itself() const;
  [[nodiscard]] bool may_relay(const Leg& from, const ReceivePath::Outcome& received, Nanos arrival) const;
  [[nodiscard]] bool relay_goes_on(Nanos now) const;
  void end_relay(Nanos now);
  void join_on(Frame& sent);
  std::span<Sample> catch_up_to_newest(RtpTicks duration, std::span<Sample> room);
  [[nodiscard]] bool quiet(Nanos now) const;
  [[nodiscard]] bool pauses(Nanos now) const;
  [[nodiscard]] bool tells_silence(Nanos now) const;
  void send_comfort(PacketSink& sink);
  void compose(Nanos now, Frame& out, Events& events);
  void use(LegCodecs& codecs, Nanos now);
  std::optional<PlayManner> play(Frame& instead, Mixdown& mix, Events& events);
  [[nodiscard]] EventLine event_line() const;
  [[nodiscard]] bool carries_audio() const;
  [[nodiscard]] bool can_send() const;
  bool send_digits(bool can_send, Frame& audio, PacketSink& sink, Events& events);
  void send_frame(Frame& audio, PacketSink& sink, Events& events);
  void check_media_timeout(Nanos now, Events& events);
  void tell_latch(Nanos now, PacketSink& sink);
  void send_report(Nanos now, bool bye, PacketSink& sink);
  void publish_statistics();
  void estimate_quality_now();
  [[nodiscard]] VoipMetrics voip_metrics() const;

  // What every visit needs stands together; what most legs never use comes last.
  LegConfig config_;
  LegHandle name_;
  // State.
  bool configured_ = false;
  /// Keypad presses may come as tones: telephone-event was not negotiated, or the peer has not used it yet.
  bool tones_possible_ = false;
  bool receiving_ = false;
  bool rtcp_mux_ = false;
  bool rtcp_learned_ = false;
  bool voip_metrics_ = false;
  bool timed_out_ = false;
  bool has_mos_ = false;
  /// The last frame from the peer was decoded.
  bool decodes_ = true;
  bool relays_ = false;
  /// The last packet was comfort noise.
  bool comforts_ = false;
  /// Of the last frame that was composed: the far end was heard in it; it was to be heard, but not decoded.
  bool far_heard_ = false;
  bool far_missing_ = false;
  /// What was composed last has nothing above half of this rate.
  SampleRate content_ = kHighestRate;
  Limiter limiter_;
  uint32_t visits_until_quality_ = 0;
  uint32_t visits_too_narrow_ = 0;
  Nanos expecting_since_{};
  Nanos relayed_at_{};
  Nanos relays_until_{};
  Nanos relays_not_before_{};
  FarEnd* far_end_ = nullptr;
  uint64_t malformed_ = 0;
  uint64_t unauthentic_ = 0;
  uint64_t packets_at_report_ = 0;
  uint64_t packets_at_visit_ = 0;
  std::optional<Nanos> sent_at_;       // the last packet, as a visit saw it
  std::optional<Address> latched_;     // the one address that is listened to
  std::optional<uint16_t> rtcp_port_;  // the peer's, once it has sent from another than its RTP port + 1
  // Owned.
  std::unique_ptr<PacketProtection> protection_;
  size_t protection_bytes_ = protection_->hot_bytes();
  std::unique_ptr<IceLite> ice_;
  /// As of the last frame.
  bool has_consent_ = true;
  std::shared_ptr<LegFigures> figures_;
  SendPath send_;
  std::vector<Sample> received_;
  SampleRate full_rate_{8000};
  ReceivePath receive_;
  FrameConverter to_line_;  // of the far end
  /// What would have followed the relayed audio: blended with what does. Two frames, of which the last so
  /// many are left.
  size_t join_left_ = 0;
  std::vector<Sample> join_;
  DigitSender digits_;
  Roster<AudioStream, kMaxStreams> streams_;
  Roster<Player, kMaxPlayers> players_;
  Roster<LegTap, kMaxTaps> taps_;
  RtcpSession rtcp_;
  std::array<std::unique_ptr<DigitJob>, DigitSender::kMaxJobs> spent_jobs_;
  /// Null: nobody wants tones.
  std::unique_ptr<DtmfDetector> tones_;
  char last_tone_ = '\0';
  Nanos last_tone_at_{};
  /// Until then, tones may be the echo of our own digits.
  Nanos own_digits_until_{};
};

}  // namespace carillon
