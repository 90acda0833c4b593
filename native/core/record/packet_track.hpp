// Recorded audio of one peer: reads packets in the order of their RTP time, about a second after their
// arrival.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/dsp/resampler.hpp"
#include "core/jitter/payload_store.hpp"
#include "core/record/received_packet.hpp"
#include "core/record/sender_clock.hpp"
#include "core/record/stretch.hpp"
#include "core/rtp/unwrap.hpp"

namespace carillon {

/// Places a sender's audio on the local clock: a sample is recorded at the time at which the fastest packets
/// with its timestamp arrive, or would arrive in packets of 20 ms. Packets may arrive up to kDelay late. Only
/// audio whose packets never arrived is concealed. The difference between the clocks is corrected by single
/// samples.
///
/// All memory is allocated in the constructor. A packet with an implausible timestamp is ignored, unless
/// several packets agree on it.
class PacketTrack {
 public:
  /// Time for which a recording waits for packets.
  static constexpr Nanos kDelay = kSecond;
  /// Longest stall of the media thread after which all packets that waited are recorded.
  static constexpr Nanos kLongestStall = 2 * kSecond;

  struct Counters {
    uint64_t packets = 0;
    /// Arrived too late for the recording.
    uint64_t late = 0;
    /// Ignored because of their timestamp or coding.
    uint64_t ignored = 0;
    /// Samples of packets that never arrived.
    uint64_t concealed = 0;
    /// Timelines: 1 plus the number of changes of source, codec or timeline.
    uint64_t timelines = 0;
  };

  /// `rate`: sample rate of the recording.
  explicit PacketTrack(SampleRate rate);

  /// Silences keypad events and the 60 ms before them, in which a gateway can let a part of the tone pass.
  void mask_keys() { masks_keys_ = true; }

  /// Starts the recorded time at `at`, also after a pause. Received packets are kept.
  void start(Nanos at);
  void take(const ReceivedPacket& packet);
  /// Reads the frames that end before `until` in advance.
  void read_ahead(Nanos until);
  /// Writes the next 20 ms of recorded time. Call it kDelay after this time, or earlier at the end.
  void read(std::span<Sample> out);

  [[nodiscard]] const Counters& counters() const { return counters_; }
  [[nodiscard]] const SenderClock& clock() const { return clock_; }

 private:
  /// Decoders of all codecs, because a media thread cannot create one when the codec changes.
  static constexpr size_t kDecoders = 5;
  /// Frames that can be read in advance when a timeline ends, or after a stall.
  static constexpr size_t kAhead = static_cast<size_t>((kDelay + kLongestStall) / kFrameTime) + 10;

  AudioDecoder* decoder_for(const ReceivedPacket& packet) const;
  void take_audio(const ReceivedPacket& packet);
  /// Ends the current timeline at the packet's arrival and starts another one with the packet.
  void begin(const ReceivedPacket& packet, AudioDecoder& decoder);
  void store(const ReceivedPacket& packet, RtpTime timestamp, RtpTicks duration, Nanos transit);
  void take_comfort(const ReceivedPacket& packet);
  void take_event(const ReceivedPacket& packet);
  void note_key(RtpTime begins, RtpTime ends);
  void mask_keys(Nanos begins, std::span<Sample> out) const;
  void produce(std::span<Sample> out);
  void decode_frame();
  void shift(size_t samples);
  void skip_to(Nanos media_time);
  [[nodiscard]] Nanos media_time() const;
  /// Delay of decoded samples against their timestamps.
  [[nodiscard]] Nanos decoder_delay() const;

  SampleRate rate_;
  size_t frame_;
  std::array<std::unique_ptr<AudioDecoder>, kDecoders> decoders_;
  AudioDecoder* decoder_ = nullptr;
  Nanos look_ahead_{};
  FrameConverter converter_;
  RecordedStore store_;
  TimestampUnwrapper timestamps_;
  SenderClock clock_;
  uint64_t stream_ = 0;
  int64_t first_sequence_ = 0;
  int64_t last_sequence_ = 0;
  /// Start of the next recorded frame.
  Nanos next_slot_{};
  /// Timestamp of the next frame to decode.
  RtpTime next_;
  /// Decoded samples, behind kStretchMargin samples that were already written.
  std::vector<Sample> decoded_;
  size_t decoded_count_ = kStretchMargin;
  /// True if the last written samples are a pause.
  bool quiet_ = true;
  /// True until the first frame of a timeline is written.
  bool fresh_ = false;

  /// Packets with implausible timestamps that agree with each other. They are recorded if they begin a
  /// timeline.
  struct Suspects {
    /// Packets of 10 ms for longer than a burst.
    static constexpr size_t kMax = 5;

    size_t count = 0;
    bool late = false;
    Nanos transit{};
    std::array<ReceivedPacket, kMax> packets;
  };
  void drop_suspects();
  [[nodiscard]] bool steps(const ReceivedPacket& packet, RtpTicks duration, Nanos late_by) const;
  void suspect(const ReceivedPacket& packet, Nanos transit, bool late);

  Suspects suspects_;
  /// Payloads of the suspects.
  std::vector<uint8_t> suspect_payloads_;

  /// Media time of the latest keys, with at least 60 ms between their beginnings. Frames wait for kDelay.
  struct Key {
    Nanos from{};
    Nanos until{};
  };
  static constexpr size_t kKeys = 20;
  bool masks_keys_ = false;
  std::array<Key, kKeys> keys_{};
  size_t next_key_ = 0;

  /// Frames read in advance.
  std::vector<Sample> ahead_;
  size_t ahead_first_ = 0;
  size_t ahead_count_ = 0;
  Counters counters_;
};

}  // namespace carillon
