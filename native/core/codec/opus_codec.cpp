#include "core/codec/opus_codec.hpp"

#include <opus.h>

#include <algorithm>
#include <array>

namespace carillon {

namespace {

constexpr RtpClockRate kClock{48'000};
/// Longest Opus packet in ms (RFC 6716 §2.1.4).
constexpr int kLongestMs = 120;
constexpr size_t kLongestFrame = 1275;
/// Sufficient for voice. Higher values cost more processing time than they improve quality.
constexpr int kComplexity = 5;
/// For loud audio with most of its energy at high frequencies, such as dense tones. At 4 to 6, the warped
/// noise shaping of libopus is unstable for it: tones at a fifth of full scale decode to full scale. For
/// speech, 3 is worse.
constexpr int kBrightComplexity = 3;
/// Energy of the difference between neighbouring samples, relative to that of the samples.
constexpr double kBright = 0.5;
constexpr double kLoudMeanSquare = 600.0 * 600.0;
constexpr int kBrightFrames = 25;
/// Bounds of the loss rate used for FEC. Above the maximum, the voice itself would have too few bits.
constexpr int kLeastLossPercent = 5;
constexpr int kMostLossPercent = 20;
/// Longest concealment. A sender with DTX sends every 400 ms (RFC 7587 §3.1.3), so longer silence means it
/// has stopped.
constexpr Nanos kMadeUpAtMost = kSecond;
/// Shortest section that can be concealed: 2.5 ms.
constexpr int kStretchesPerSecond = 400;
/// Payloads up to this many octets encode a frame without sound and need not be sent.
constexpr int kNothingToSend = 2;
/// Frames of narrow audio required before the bandwidth is reduced. Pauses in wideband speech are shorter.
constexpr int kNarrowerFrames = 25;
/// Frames after which the bandwidth is reduced even without a pause.
constexpr int kNarrowerAtLast = 250;

/// Recommended speech bitrates (RFC 7587 §3.1.1).
int bitrate_for(SampleRate rate) {
  if (rate <= SampleRate(8000)) return 16'000;
  if (rate <= SampleRate(16'000)) return 24'000;
  return rate <= SampleRate(24'000) ? 32'000 : 40'000;
}
/// Returns the narrowest Opus bandwidth that holds audio of this rate (RFC 6716 §2.1.3).
int bandwidth_for(SampleRate rate) {
  if (rate <= SampleRate(8000)) return OPUS_BANDWIDTH_NARROWBAND;
  if (rate <= SampleRate(16'000)) return OPUS_BANDWIDTH_WIDEBAND;
  return rate <= SampleRate(24'000) ? OPUS_BANDWIDTH_SUPERWIDEBAND : OPUS_BANDWIDTH_FULLBAND;
}
/// Adds bits for the redundant copy (FEC). Otherwise the band above 8 kHz would degrade to noise.
int with_copies(int bitrate) { return bitrate * 3 / 2; }

}  // namespace

std::string opus_version() { return std::string(opus_get_version_string()) + " (" CARILLON_OPUS_ORIGIN ")"; }

void OpusDeleter::operator()(::OpusDecoder* decoder) const { opus_decoder_destroy(decoder); }
void OpusDeleter::operator()(::OpusEncoder* encoder) const { opus_encoder_destroy(encoder); }

OpusStreamDecoder::OpusStreamDecoder(SampleRate rate)
    : full_(rate),
      rates_{kClock, rate},
      decoder_(opus_decoder_create(rate.hz(), 1, nullptr)),
      decoded_(static_cast<size_t>(rate.per_ms()) * kLongestMs) {}

RtpTicks OpusStreamDecoder::duration(Coding coding, Bytes payload) const {
  if (coding != Coding::opus || payload.empty()) return {};
  const int samples =
      opus_packet_get_nb_samples(payload.data(), static_cast<opus_int32>(payload.size()), kClock.hz());
  return RtpTicks(std::max(samples, 0));
}

void OpusStreamDecoder::decode(const PacketPart& part, std::span<Sample> out) {
  if (decoded_begins_ != part.begins) {
    const int samples =
        opus_decode(decoder_.get(), part.payload.data(), static_cast<opus_int32>(part.payload.size()),
                    decoded_.data(), static_cast<int>(decoded_.size()), 0);
    decoded_begins_ = part.begins;
    decoded_count_ = static_cast<size_t>(std::max(samples, 0));
    made_up_ = {};
  }
  const size_t from = std::min(rates_.samples(part.into).count(), decoded_count_);
  const auto ready =
      std::span<const Sample>(decoded_).subspan(from, std::min(out.size(), decoded_count_ - from));
  std::ranges::copy(ready, out.begin());
  // Conceal the rest of a packet that cannot be decoded.
  if (ready.size() < out.size()) make_up(out.subspan(ready.size()), {});
}

/// Reads the LBRR flag of the first SILK frame (RFC 6716 §4.2.3), which is not range-coded in effect: its
/// flags have a probability of one half each.
bool OpusStreamDecoder::restores(Bytes following) const {
  constexpr uint8_t kCeltOnly = 0x80;
  constexpr uint8_t kStereo = 0x04;
  constexpr int kSilkFrame = 960;
  if (following.empty() || (following[0] & kCeltOnly) != 0) return false;
  std::array<const unsigned char*, 48> frames{};
  std::array<opus_int16, 48> sizes{};
  const int count = opus_packet_parse(following.data(), static_cast<opus_int32>(following.size()), nullptr,
                                      frames.data(), sizes.data(), nullptr);
  if (count <= 0 || sizes[0] == 0) return false;
  const int silk_frames =
      std::clamp(opus_packet_get_samples_per_frame(following.data(), kClock.hz()) / kSilkFrame, 1, 3);
  const unsigned flags = *frames[0];
  const bool middle = ((flags >> (7 - silk_frames)) & 1U) != 0;
  const bool side = (following[0] & kStereo) != 0 && ((flags >> (6 - 2 * silk_frames)) & 1U) != 0;
  return middle || side;
}

bool OpusStreamDecoder::give_out_at(SampleRate rate) {
  const SampleRate given = std::min(rate, full_);
  if (given == rates_.sample) return false;
  rates_.sample = given;
  opus_decoder_init(decoder_.get(), given.hz(), 1);
  decoded_begins_.reset();
  decoded_count_ = 0;
  return true;
}

void OpusStreamDecoder::make_up(std::span<Sample> out, Bytes following) {
  if (made_up_ >= kMadeUpAtMost) {
    std::ranges::fill(out, Sample{0});
    return;
  }
  made_up_ += rates_.sample.time_of(SampleCount(out.size()));
  const auto stretch = static_cast<size_t>(rates_.sample.hz() / kStretchesPerSecond);
  std::array<Sample, kMaxFrameSamples> made;
  while (!out.empty()) {
    const auto here = out.first(std::min(out.size(), made.size()));
    const size_t size = (here.size() + stretch - 1) / stretch * stretch;
    const bool last = here.size() == out.size();
    const bool again = last && !following.empty();
    const int samples = opus_decode(decoder_.get(), again ? following.data() : nullptr,
                                    again ? static_cast<opus_int32>(following.size()) : 0, made.data(),
                                    static_cast<int>(size), again ? 1 : 0);
    const size_t count = std::min(here.size(), static_cast<size_t>(std::max(samples, 0)));
    std::copy_n(made.begin(), count, here.begin());
    std::ranges::fill(here.subspan(count), Sample{0});
    out = out.subspan(here.size());
  }
}

OpusStreamEncoder::OpusStreamEncoder(const CodecSpec& spec)
    : full_(spec.sample_rate),
      rates_{kClock, spec.sample_rate},
      bitrate_(spec.bitrate),
      fec_(spec.fec),
      dtx_(spec.dtx),
      content_(spec.sample_rate),
      band_(spec.sample_rate),
      encoder_(opus_encoder_create(spec.sample_rate.hz(), 1, OPUS_APPLICATION_VOIP, nullptr)) {
  begin();
}

void OpusStreamEncoder::begin() {
  opus_encoder_ctl(encoder_.get(), OPUS_SET_COMPLEXITY(kComplexity));
  bright_frames_ = 0;
  opus_encoder_ctl(encoder_.get(), OPUS_SET_INBAND_FEC(fec_ ? 1 : 0));
  opus_encoder_ctl(encoder_.get(), OPUS_SET_PACKET_LOSS_PERC(loss_percent_));
  opus_encoder_ctl(encoder_.get(), OPUS_SET_DTX(dtx_ ? 1 : 0));
  set_band(band_);
}

bool OpusStreamEncoder::take_at(SampleRate rate) {
  const SampleRate taken = std::min(rate, full_);
  if (taken == rates_.sample) return false;
  if (taken < rates_.sample && (band_ > taken || !pause_)) return false;
  rates_.sample = taken;
  pause_ = false;
  opus_encoder_init(encoder_.get(), taken.hz(), 1, OPUS_APPLICATION_VOIP);
  begin();
  return true;
}

void OpusStreamEncoder::set_band(SampleRate content) {
  band_ = content;
  narrower_ = 0;
  set_bitrate();
  opus_encoder_ctl(encoder_.get(), OPUS_SET_MAX_BANDWIDTH(bandwidth_for(content)));
}

void OpusStreamEncoder::set_bitrate() {
  const int plain = bitrate_for(band_);
  const int enough = loss_percent_ > 0 ? with_copies(plain) : plain;
  opus_encoder_ctl(encoder_.get(), OPUS_SET_BITRATE(bitrate_ > 0 ? std::min(bitrate_, enough) : enough));
}

void OpusStreamEncoder::expect_loss(int percent) {
  const int reckoned = fec_ && percent > 0 ? std::clamp(percent, kLeastLossPercent, kMostLossPercent) : 0;
  if (reckoned == loss_percent_) return;
  loss_percent_ = reckoned;
  opus_encoder_ctl(encoder_.get(), OPUS_SET_PACKET_LOSS_PERC(reckoned));
  set_bitrate();
}

void OpusStreamEncoder::change_band(SampleRate content) {
  // Without a reset, the encoder waits seconds for a suitable pause and never restores the highest band.
  opus_encoder_ctl(encoder_.get(), OPUS_RESET_STATE);
  set_band(content);
}

void OpusStreamEncoder::carries(SampleRate content) {
  content_ = std::min(content, full_);
  if (content_ > band_) change_band(content_);
  narrower_ = content_ < band_ ? narrower_ + 1 : 0;
}

/// Returns true if the bandwidth may be reduced now. A change during a tone would be audible.
bool OpusStreamEncoder::may_narrow(std::span<const Sample> in) const {
  if (narrower_ < kNarrowerFrames) return false;
  return narrower_ >= kNarrowerAtLast || is_pause(in);
}

/// Selects the complexity for the next frame.
void OpusStreamEncoder::fit_complexity(std::span<const Sample> in) {
  if (rates_.sample <= SampleRate(8000)) return;
  double energy = 0;
  double difference = 0;
  int32_t last = in.front();
  for (const Sample sample : in) {
    const int32_t step = sample - last;
    energy += static_cast<double>(sample * int32_t{sample});
    difference += static_cast<double>(int64_t{step} * step);
    last = sample;
  }
  // Sampled at a higher rate, the same audio changes less from sample to sample.
  const double rate = rates_.sample.hz() / 16'000.0;
  const bool loud = energy > kLoudMeanSquare * static_cast<double>(in.size());
  const bool bright = loud && difference * rate * rate > kBright * energy;
  if (!bright && bright_frames_ == 0) return;
  const bool before = bright_frames_ > 0;
  bright_frames_ = bright ? kBrightFrames : bright_frames_ - 1;
  const bool after = bright_frames_ > 0;
  if (before != after)
    opus_encoder_ctl(encoder_.get(), OPUS_SET_COMPLEXITY(after ? kBrightComplexity : kComplexity));
}

int OpusStreamEncoder::packet_ms(int wanted) const {
  return wanted == 30 || wanted == 50 ? wanted - 10 : wanted;
}

size_t OpusStreamEncoder::max_payload() const { return kLongestFrame; }

ByteCount OpusStreamEncoder::encode(Coding /*coding*/, std::span<const Sample> in, std::span<uint8_t> out) {
  if (may_narrow(in)) change_band(content_);
  fit_complexity(in);
  pause_ = content_ < rates_.sample && is_pause(in);
  const opus_int32 room = static_cast<opus_int32>(std::min(out.size(), kLongestFrame));
  const opus_int32 octets =
      opus_encode(encoder_.get(), in.data(), static_cast<int>(in.size()), out.data(), room);
  if (octets < 0 || (dtx_ && octets <= kNothingToSend)) return {};
  return ByteCount(static_cast<size_t>(octets));
}

}  // namespace carillon
