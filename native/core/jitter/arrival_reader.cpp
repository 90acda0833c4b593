#include "core/jitter/arrival_reader.hpp"

#include <algorithm>
#include <bit>

#include "core/jitter/ordered_read.hpp"

namespace carillon {

namespace {
constexpr int64_t kMaskBits = 64;
/// Tolerance for the arrival of the packet that ends a wait.
constexpr Nanos kWaitMargin = 10 * kMillisecond;
/// One over the part by which a sender's clock may be fast.
constexpr int64_t kClockTolerance = 64;
/// Distance in the sequence up to which a late packet could have been waited for.
constexpr int64_t kWorthWaiting = 4;
/// Coding of sections that hold audio.
bool holds_audio(const PacketPart& part) {
  return part.coding != Coding::missing && part.coding != Coding::silence;
}
}  // namespace

void ArrivalReader::begin(const Packet& first, const PayloadStore& store, uint32_t era, SampleRate decoded_at,
                          SampleRate to) {
  decoder_->give_out_at(decoded_at);
  converter_.reset();
  // Restores the state of the decoder and of the resampler.
  const RtpTicks frame = clock().in(kFrameTime);
  Frame decoded(rate());
  Frame converted(to);
  for (int i = kBlendedPast; i > 0; --i) {
    read_in_order(store, first.time - frame * i, *decoder_, decoded.samples());
    static_cast<void>(converter_.convert(decoded, to, converted));
  }
  running_ = true;
  generation_ = store.generation();
  era_ = era;
  next_sequence_ = first.sequence;
  next_time_ = first.time;
  left_out_ = 0;
  held_count_ = 0;
  open_.reset();
  into_ = lost_ = {};
}

/// Returns the number of audio packets that have not arrived before `sequence`.
int64_t ArrivalReader::missing_before(int64_t sequence) const {
  const int64_t between = sequence - next_sequence_;
  const uint64_t known = between >= kMaskBits ? left_out_ : left_out_ & ((uint64_t{1} << between) - 1);
  return between - std::popcount(known);
}

/// Moves the position in the sequence forward.
void ArrivalReader::expect(int64_t sequence) {
  const int64_t by = sequence - next_sequence_;
  left_out_ = by >= kMaskBits ? 0 : left_out_ >> by;
  next_sequence_ = sequence;
}

/// Maximum time for which a packet waits for an earlier one.
Nanos ArrivalReader::wait() const { return static_cast<int64_t>(window_ - 1) * kFrameTime + kWaitMargin; }

/// Adapts the window to the order of the packets that arrive.
void ArrivalReader::fit_window(const Packet& packet) {
  const int64_t behind = next_sequence_ - packet.sequence;
  const bool too_late = behind > 0 && behind <= kWorthWaiting;
  const bool just_in_time = behind == 0 && held_count_ + 1 >= window_;
  if (too_late || just_in_time) window_needed_at_ = packet.arrival;
  if (too_late && window_ < kLongestWindow) ++window_;
  if (window_ > kWindow && packet.arrival - window_needed_at_ > kWindowKept) {
    --window_;
    window_needed_at_ = packet.arrival;
  }
}

bool ArrivalReader::arrived(const Packet& packet) {
  const Nanos passed = std::max(Nanos{}, packet.arrival - ahead_at_);
  ahead_ = std::max(Nanos{}, ahead_ - passed - passed / kClockTolerance);
  ahead_at_ = packet.arrival;
  fit_window(packet);
  if (packet.sequence < next_sequence_ || held_count_ == held_.size()) {
    ++late_;
    return true;
  }
  const auto waiting = std::span(held_).first(held_count_);
  if (std::ranges::find(waiting, packet.sequence, &Packet::sequence) != waiting.end()) return true;
  const Nanos duration = clock().time_of(packet.duration);
  if (ahead_ + duration > kMaxAhead) return false;
  ahead_ += duration;
  size_t at = held_count_++;
  for (; at > 0 && held_[at - 1].sequence > packet.sequence; --at) held_[at] = held_[at - 1];
  held_[at] = packet;
  return true;
}

void ArrivalReader::leave_out(int64_t sequence) {
  const int64_t ahead = sequence - next_sequence_;
  if (!running_ || ahead < 0 || ahead >= kMaskBits) return;
  left_out_ |= uint64_t{1} << ahead;
}

std::optional<Nanos> ArrivalReader::due() const {
  if (!running_ || held_count_ == 0) return std::nullopt;
  return held_.front().arrival + wait();
}

/// Opens the next packet if it is its turn. `pause`: the pause before it.
bool ArrivalReader::open_next(Nanos now, std::optional<Piece>& pause) {
  if (held_count_ == 0) return false;
  const Packet& next = held_.front();
  const int64_t missing = missing_before(next.sequence);
  if (missing > 0 && held_count_ < window_ && now < next.arrival + wait()) return false;
  const RtpTicks gap = next.time - next_time_;
  lost_ = {};
  if (missing > 0 && gap > RtpTicks()) {
    // Lost packets are assumed to have the length of this one.
    const RtpTicks longest = std::min(next.duration * missing, clock().in(kLongestLoss));
    lost_ = std::min(gap, longest);
  }
  if (gap > lost_) {
    pause.emplace();
    pause->kind = Kind::pause;
    pause->pause = clock().time_of(gap - lost_);
  }
  ahead_ += clock().time_of(lost_);
  open_ = next;
  into_ = {};
  expect(next.sequence + 1);
  next_time_ = next.time + next.duration;
  --held_count_;
  std::copy_n(held_.begin() + 1, held_count_, held_.begin());
  return true;
}

/// Returns the number of samples to decode of a section: at most 20 ms.
size_t ArrivalReader::block_of(RtpTicks rest) const {
  const SessionRates rates = decoder_->rates();
  return std::clamp<size_t>(rates.samples(rest).count(), 1, frame_samples(rates.sample));
}

/// Converts decoded audio to the rate `to` in `out`.
std::span<Sample> ArrivalReader::convert(Frame& decoded, size_t samples, SampleRate to, Frame& out) {
  const AudioView view{decoded.rate(), decoded.samples().first(samples)};
  out.set_rate(to);
  const AudioView converted = converter_.convert(view, to, out);
  if (converted.samples.data() != out.data()) std::ranges::copy(converted, out.begin());
  return out.samples().first(converted.size());
}

ArrivalReader::Piece ArrivalReader::conceal(const PayloadStore& store, SampleRate to, Frame& out) {
  const SessionRates rates = decoder_->rates();
  Frame decoded(rates.sample);
  const size_t samples = block_of(lost_);
  const RtpTicks length = std::min(lost_, rates.ticks(SampleCount(samples)));
  lost_ -= length;
  Piece piece;
  piece.kind = Kind::lost;
  Bytes following;
  // The packet after the loss may hold a copy of the lost audio (FEC).
  if (lost_ == RtpTicks()) {
    const PacketPart part = store.run_at(open_->time, open_->duration).part;
    if (holds_audio(part) && decoder_->restores(part.payload)) {
      following = part.payload;
      piece.kind = Kind::audio;
    }
  }
  decoder_->conceal(decoded.samples().first(samples), following);
  piece.audio = convert(decoded, samples, to, out);
  return piece;
}

ArrivalReader::Piece ArrivalReader::read(const PayloadStore& store, SampleRate to, Frame& out) {
  const SessionRates rates = decoder_->rates();
  Frame decoded(rates.sample);
  const RtpTicks rest = open_->duration - into_;
  const size_t samples = block_of(rest);
  const auto audio = decoded.samples().first(samples);
  read_in_order(store, open_->time + into_, *decoder_, audio);
  into_ += rates.ticks(SampleCount(samples));
  if (into_ >= open_->duration) open_.reset();
  Piece piece;
  piece.audio = convert(decoded, samples, to, out);
  return piece;
}

std::optional<ArrivalReader::Piece> ArrivalReader::next(Nanos now, const PayloadStore& store, SampleRate to,
                                                        Frame& out) {
  if (!running_ || generation_ != store.generation()) return std::nullopt;
  if (!open_) {
    std::optional<Piece> pause;
    if (!open_next(now, pause)) return std::nullopt;
    if (pause) return pause;
  }
  return lost_ > RtpTicks() ? conceal(store, to, out) : read(store, to, out);
}

void ArrivalReader::go_on(SampleRate to, std::span<Sample> out) {
  running_ = false;
  Frame decoded(rate());
  Frame converted(to);
  while (!out.empty()) {
    decoder_->conceal(decoded.samples(), {});
    const auto audio = convert(decoded, decoded.size(), to, converted);
    const size_t count = std::min(audio.size(), out.size());
    if (count == 0) return;
    std::copy_n(audio.begin(), count, out.begin());
    out = out.subspan(count);
  }
}

}  // namespace carillon
