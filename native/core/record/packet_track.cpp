#include "core/record/packet_track.hpp"

#include <algorithm>
#include <utility>

#include "core/jitter/ordered_read.hpp"

namespace carillon {

namespace {
/// Octet rate of the largest coding, L16 at 16 kHz. Higher rates are kept for less time.
constexpr size_t kOctetsPerSecond = 32'000;
/// A packet that arrives this much before the fastest ones is implausible.
constexpr Nanos kTooEarly = 300 * kMillisecond;
/// A step of the timestamps without a pause or loss is implausible from this size on.
constexpr Nanos kTimestampStep = 60 * kMillisecond;
/// Packets that agree on an implausible timeline must not be a burst.
constexpr size_t kSuspectsNeeded = 3;
constexpr Nanos kSuspectsLast = 35 * kMillisecond;
constexpr Nanos kSuspectsAgree = 60 * kMillisecond;
/// Displacement that is corrected by a jump in the next pause.
constexpr Nanos kJump = 40 * kMillisecond;
/// Largest correction per frame as a fraction of it: in a pause, and in speech (0.25 ms per frame).
constexpr size_t kPauseCorrection = 8;
constexpr size_t kSpeechCorrection = 80;
/// The converter between sample rates adds just under 2 ms.
constexpr Nanos kConverterDelay = 2 * kMillisecond;
/// Audio before and after a keypad event that can contain its tone: the time in which a gateway detects it,
/// and the inaccuracy of the time in a stretched frame.
constexpr Nanos kToneBeforeEvent = 60 * kMillisecond;
constexpr Nanos kToneAfterEvent = 5 * kMillisecond;

int64_t rounded_samples(Nanos time, SampleRate rate) {
  const int64_t scaled = time.count() * rate.per_ms();
  const int64_t half = kMillisecond.count() / 2;
  return (scaled + (scaled < 0 ? -half : half)) / kMillisecond.count();
}
}  // namespace

PacketTrack::PacketTrack(SampleRate rate)
    : rate_(rate),
      frame_(frame_samples(rate)),
      store_(RtpClockRate(8000), kOctetsPerSecond),
      decoded_(4 * frame_samples(rate) + 2 * kStretchMargin),
      suspect_payloads_(Suspects::kMax * RecordedStore::kLongestPayload),
      ahead_(kAhead * frame_samples(rate)) {
  const std::array specs{CodecSpec{.coding = Coding::pcmu}, CodecSpec{.coding = Coding::g722},
                         CodecSpec{.coding = Coding::l16, .sample_rate = SampleRate(8000)},
                         CodecSpec{.coding = Coding::l16, .sample_rate = SampleRate(16000)},
                         CodecSpec{.coding = Coding::opus, .sample_rate = rate}};
  for (size_t i = 0; i < kDecoders; ++i) decoders_[i] = make_decoder(specs[i]);
  // Create the shared filters here, because a media thread must not allocate.
  static_cast<void>(line_filter(SampleRate(16000), SampleRate(8000)));
}

AudioDecoder* PacketTrack::decoder_for(const ReceivedPacket& packet) const {
  for (const auto& decoder : decoders_) {
    if (!decoder->decodes(packet.coding)) continue;
    if (packet.coding == Coding::l16 && decoder->rates().sample != packet.rate) continue;
    return decoder.get();
  }
  return nullptr;
}

void PacketTrack::start(Nanos at) {
  next_slot_ = at;
  ahead_count_ = 0;
  quiet_ = true;
}

void PacketTrack::take(const ReceivedPacket& packet) {
  if (packet.kind == ReceivedPacket::Kind::audio) {
    take_audio(packet);
    return;
  }
  if (decoder_ == nullptr || packet.stream != stream_) return;
  if (packet.kind == ReceivedPacket::Kind::comfort && packet.sequence > last_sequence_) take_comfort(packet);
  last_sequence_ = std::max(last_sequence_, packet.sequence);
  if (packet.kind == ReceivedPacket::Kind::event) take_event(packet);
}

/// Stores silence for the time of a keypad event.
void PacketTrack::take_event(const ReceivedPacket& packet) {
  const RtpClockRate clock = decoder_->rates().clock;
  // Audio that is sent in packets of 20 ms at the time of this packet ends here.
  const Nanos present = packet.arrival - clock_.transit_at(packet.arrival) + kFrameTime;
  const RtpTime now(clock.in(present).count());
  const RtpTicks duration = std::clamp(packet.duration, RtpTicks(), store_.capacity());
  const RtpTime begins = packet.timed ? timestamps_.peek(packet.timestamp) : now - duration;
  // An event cannot end in the future, but some senders report a wrong duration.
  const RtpTime ends =
      std::max(begins, std::min(begins + duration, now + clock.in(kLongestUsualPacket - kFrameTime)));
  store_.fill_silence_until(ends);
  if (masks_keys_) note_key(begins, ends);
}

/// Stores the noise of a pause, which lasts until the next audio.
void PacketTrack::take_comfort(const ReceivedPacket& packet) {
  const Bytes payload = packet.payload.first(std::min(packet.payload.size(), ComfortNoise::kMaxPayload));
  if (payload.empty()) return;
  const RtpClockRate clock = decoder_->rates().clock;
  RtpTime timestamp = timestamps_.peek(packet.timestamp);
  const Nanos late_by =
      packet.arrival - clock.time_of(timestamp.since_zero()) - clock_.transit_at(packet.arrival);
  if (late_by > kDelay || late_by < Nanos{} - kTooEarly) timestamp = store_.end();
  timestamp = std::max({timestamp, store_.end(), next_});
  if (packet.sequence == last_sequence_ + 1 || store_.comforts()) store_.fill_silence_until(timestamp);
  const RtpTicks duration = clock.in(kFrameTime);
  if (store_.write(timestamp, duration, Coding::comfort, payload) == RecordedStore::Written::jumped) {
    store_.reset();
    store_.write(timestamp, duration, Coding::comfort, payload);
  }
}

/// Remembers the time of a key. Its packets have the same beginning, or follow each other.
void PacketTrack::note_key(RtpTime begins, RtpTime ends) {
  const RtpClockRate clock = decoder_->rates().clock;
  const Nanos from = clock.time_of(begins.since_zero()) - kToneBeforeEvent;
  const Nanos until = clock.time_of(ends.since_zero()) + kToneAfterEvent;
  Key& last = keys_[(next_key_ + kKeys - 1) % kKeys];
  if (from <= last.until && until >= last.from) {
    last.from = std::min(last.from, from);
    last.until = std::max(last.until, until);
    return;
  }
  keys_[next_key_] = {from, until};
  next_key_ = (next_key_ + 1) % kKeys;
}

/// Silences the parts of a frame in which a key was pressed. `begins`: media time of the frame.
void PacketTrack::mask_keys(Nanos begins, std::span<Sample> out) const {
  for (const Key& key : keys_) {
    if (key.until <= begins || key.from >= begins + kFrameTime) continue;
    const auto from = static_cast<size_t>(std::max<int64_t>(0, rounded_samples(key.from - begins, rate_)));
    const auto until = static_cast<size_t>(rounded_samples(key.until - begins, rate_));
    for (size_t i = from; i < std::min(until, out.size()); ++i) out[i] = 0;
  }
}

void PacketTrack::take_audio(const ReceivedPacket& packet) {
  ++counters_.packets;
  AudioDecoder* const decoder = decoder_for(packet);
  const Bytes payload =
      decoder == nullptr ? Bytes{}
                         : packet.payload.first(std::min(packet.payload.size(), decoder->longest_payload()));
  const RtpTicks duration = payload.empty() ? RtpTicks() : decoder->duration(packet.coding, payload);
  if (duration <= RtpTicks()) {
    ++counters_.ignored;
    return;
  }
  // A sender waits until it has the audio of a whole packet. Without this correction, audio in packets of
  // 60 ms would be recorded 40 ms later than audio of the same time in packets of 20 ms.
  ReceivedPacket placed = packet;
  placed.arrival -= decoder->rates().clock.time_of(duration) - kFrameTime;
  if (decoder != decoder_ || packet.stream != stream_) {
    // A packet in the previous coding can arrive after the first one in the new coding.
    if (decoder_ != nullptr && packet.stream == stream_ && packet.sequence < first_sequence_) {
      ++counters_.ignored;
      return;
    }
    begin(placed, *decoder);
  }
  const RtpClockRate clock = decoder_->rates().clock;
  const Nanos transit = placed.arrival - clock.time_of(timestamps_.peek(packet.timestamp).since_zero());
  const Nanos late_by = transit - clock_.transit_at(placed.arrival);
  if (late_by > kDelay || late_by < Nanos{} - kTooEarly || steps(placed, duration, late_by)) {
    suspect(placed, transit, late_by > kDelay);
    return;
  }
  drop_suspects();
  store(placed, timestamps_.extend(packet.timestamp), duration, transit);
}

void PacketTrack::drop_suspects() {
  (suspects_.late ? counters_.late : counters_.ignored) += suspects_.count;
  suspects_.count = 0;
}

/// Returns true if the sender has moved its timestamps: they do not continue the newest audio and do not fit
/// the arrival. A pause or a lost packet changes both alike, and another path changes only the arrival.
bool PacketTrack::steps(const ReceivedPacket& packet, RtpTicks duration, Nanos late_by) const {
  const int64_t lost = packet.sequence - last_sequence_ - 1;
  if (lost < 0 || lost > static_cast<int64_t>(RecordedStore::kMaxPackets) || store_.empty()) return false;
  const RtpTicks moved = timestamps_.peek(packet.timestamp) - (store_.end() + duration * lost);
  const RtpTicks step = decoder_->rates().clock.in(kTimestampStep);
  if (moved > step) return late_by < Nanos{} - kTimestampStep;
  return moved < RtpTicks() - step && late_by > kTimestampStep;
}

/// Keeps a packet that does not fit the timeline. If the next ones agree with it, the sender uses another
/// timeline. The packets of a delayed burst disagree, because they arrive together.
void PacketTrack::suspect(const ReceivedPacket& packet, Nanos transit, bool late) {
  const bool agrees = suspects_.count > 0 && abs(transit - suspects_.transit) <= kSuspectsAgree;
  const bool is_burst = packet.arrival - suspects_.packets[0].arrival < kSuspectsLast;
  if (!agrees || (is_burst && suspects_.count + 1 == Suspects::kMax)) drop_suspects();
  if (suspects_.count == 0) {
    suspects_.transit = transit;
    suspects_.late = late;
  }
  ReceivedPacket& kept = suspects_.packets[suspects_.count] = packet;
  const Bytes payload = packet.payload.first(std::min(packet.payload.size(), decoder_->longest_payload()));
  const auto room =
      std::span(suspect_payloads_).subspan(suspects_.count * RecordedStore::kLongestPayload, payload.size());
  std::ranges::copy(payload, room.begin());
  kept.payload = room;
  ++suspects_.count;
  if (suspects_.count < kSuspectsNeeded || is_burst) return;
  const size_t count = std::exchange(suspects_.count, 0);
  begin(suspects_.packets[0], *decoder_);
  const RtpClockRate clock = decoder_->rates().clock;
  for (const ReceivedPacket& confirmed : std::span(suspects_.packets).first(count)) {
    const RtpTime timestamp = timestamps_.extend(confirmed.timestamp);
    store(confirmed, timestamp, decoder_->duration(confirmed.coding, confirmed.payload),
          confirmed.arrival - clock.time_of(timestamp.since_zero()));
  }
}

void PacketTrack::read_ahead(Nanos until) {
  while (decoder_ != nullptr && next_slot_ + kFrameTime <= until && ahead_count_ < kAhead) {
    const size_t at = (ahead_first_ + ahead_count_) % kAhead;
    produce(std::span(ahead_).subspan(at * frame_, frame_));
    ++ahead_count_;
  }
}

void PacketTrack::begin(const ReceivedPacket& packet, AudioDecoder& decoder) {
  // The audio up to now belongs to the previous timeline.
  read_ahead(packet.arrival);
  ++counters_.timelines;
  if (decoder_ != &decoder) converter_.reset();
  decoder_ = &decoder;
  look_ahead_ = properties_of(packet.coding).look_ahead;
  stream_ = packet.stream;
  first_sequence_ = packet.sequence;
  last_sequence_ = packet.sequence - 1;
  drop_suspects();
  keys_ = {};
  const RtpClockRate clock = decoder.rates().clock;
  store_.reset(clock);
  timestamps_.reset();
  next_ = timestamps_.extend(packet.timestamp);
  clock_.restart(packet.arrival - clock.time_of(next_.since_zero()), packet.arrival);
  // The end of the previous audio stays as the past of the interpolation.
  decoded_count_ = kStretchMargin;
  quiet_ = fresh_ = true;
}

void PacketTrack::store(const ReceivedPacket& packet, RtpTime timestamp, RtpTicks duration, Nanos transit) {
  const bool nothing_lost = packet.sequence == last_sequence_ + 1;
  last_sequence_ = std::max(last_sequence_, packet.sequence);
  clock_.observe(transit, packet.arrival);
  // The first packets may arrive in another order.
  if (fresh_) next_ = std::min(next_, timestamp);
  if (timestamp + duration <= next_) {
    ++counters_.late;
    return;
  }
  // Without a loss, the sender has paused. Audio lost directly after comfort noise is replaced by noise.
  if ((nothing_lost || store_.comforts()) && timestamp > store_.end()) store_.fill_silence_until(timestamp);
  const Bytes payload = packet.payload.first(std::min(packet.payload.size(), decoder_->longest_payload()));
  if (store_.write(timestamp, duration, packet.coding, payload) == RecordedStore::Written::jumped) {
    // The pause was longer than the store. All stored audio has been read.
    store_.reset();
    store_.write(timestamp, duration, packet.coding, payload);
  }
}

Nanos PacketTrack::decoder_delay() const {
  const SampleRate rate = decoder_->rates().sample;
  return rate.time_of(decoder_->delay()) + (rate == rate_ ? Nanos{} : kConverterDelay) + look_ahead_;
}

/// Media time of the next sample to write.
Nanos PacketTrack::media_time() const {
  const Nanos waiting = rate_.time_of(SampleCount(decoded_count_ - kStretchMargin));
  return decoder_->rates().clock.time_of(next_.since_zero()) - waiting - decoder_delay();
}

void PacketTrack::decode_frame() {
  Frame decoded(decoder_->rates().sample);
  Frame scratch(rate_);
  const bool known = next_ < store_.end();
  const SampleCount concealed = read_in_order(store_, next_, *decoder_, decoded.samples());
  if (known) counters_.concealed += concealed.count();
  next_ += decoder_->rates().clock.in(kFrameTime);
  const AudioView audio = converter_.convert(decoded, rate_, scratch);
  std::copy(audio.begin(), audio.end(), decoded_.begin() + static_cast<std::ptrdiff_t>(decoded_count_));
  decoded_count_ += audio.size();
}

/// Removes written samples. The last kStretchMargin of them stay.
void PacketTrack::shift(size_t samples) {
  const auto begin = decoded_.begin() + static_cast<std::ptrdiff_t>(samples);
  std::copy(begin, decoded_.begin() + static_cast<std::ptrdiff_t>(decoded_count_), decoded_.begin());
  decoded_count_ -= samples;
}

/// Continues at another media time, during a pause.
void PacketTrack::skip_to(Nanos media_time) {
  next_ = RtpTime(decoder_->rates().clock.in(media_time + decoder_delay()).count());
  decoded_count_ = kStretchMargin;
  std::fill_n(decoded_.begin(), kStretchMargin, Sample{0});
  decode_before(store_, next_, *decoder_);
}

void PacketTrack::produce(std::span<Sample> out) {
  const Nanos slot = next_slot_;
  next_slot_ += kFrameTime;
  if (decoder_ == nullptr) {
    std::ranges::fill(out, Sample{0});
    return;
  }
  const Nanos wanted = slot - clock_.transit_at(slot);
  Nanos early = media_time() - wanted;
  if (quiet_ && early >= kFrameTime) {
    // The audio begins later.
    std::ranges::fill(out, Sample{0});
    return;
  }
  // The audio before the first frame of a timeline was sent before its time.
  if (fresh_ ? early < Nanos{} : quiet_ && early < Nanos{} - kJump) {
    skip_to(wanted);
    early = media_time() - wanted;
  }
  if (fresh_ && early > Nanos{}) {
    const auto pause = static_cast<size_t>(rounded_samples(early, rate_));
    std::fill_n(decoded_.begin() + static_cast<std::ptrdiff_t>(decoded_count_), pause, Sample{0});
    decoded_count_ += pause;
    early = media_time() - wanted;
  }
  fresh_ = false;
  const auto most = static_cast<int64_t>(frame_ / (quiet_ ? kPauseCorrection : kSpeechCorrection));
  const int64_t correction = std::clamp(rounded_samples(early, rate_), -most, most);
  const auto length = static_cast<size_t>(static_cast<int64_t>(frame_) - correction);
  while (decoded_count_ < kStretchMargin + length + kStretchMargin) decode_frame();
  const Nanos begins = wanted + early;
  const std::span<const Sample> in = std::span(decoded_).subspan(kStretchMargin, length);
  if (correction == 0) {
    std::ranges::copy(in, out.begin());
  } else {
    stretch(in, out);
  }
  quiet_ = is_pause(out);
  if (masks_keys_) mask_keys(begins, out);
  shift(length);
}

void PacketTrack::read(std::span<Sample> out) {
  if (ahead_count_ == 0) {
    produce(out);
    return;
  }
  std::copy_n(ahead_.begin() + static_cast<std::ptrdiff_t>(ahead_first_ * frame_), frame_, out.begin());
  ahead_first_ = (ahead_first_ + 1) % kAhead;
  --ahead_count_;
}

}  // namespace carillon
