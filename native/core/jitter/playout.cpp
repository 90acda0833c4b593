#include "core/jitter/playout.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <numeric>

#include "core/dsp/fade.hpp"
#include "core/jitter/ordered_read.hpp"

namespace carillon {

namespace {
constexpr Nanos kLowerTolerance = 20 * kMillisecond;
/// Time for which an excessive delay waits for a pause to be shortened. After it, speech is shortened.
constexpr Nanos kWaitForPause = 2 * kSecond;
/// Crossfade of a cut as a fraction of a frame (10 ms): long enough to hide a step in speech.
constexpr size_t kSeamOfFrame = 2;
constexpr Nanos kShortenInterval = kSecond;
/// Excess of the delay that is removed in one step, because a frame per second would take too long: this
/// machine or the network has stalled, and the audio may no longer be stored.
constexpr Nanos kFarBehind = 200 * kMillisecond;
/// Period in which every packet is late, after which the path delay is considered changed.
constexpr Nanos kLateTooLong = 300 * kMillisecond;
/// Mean magnitude below which a frame is a pause (about -50 dBFS).
constexpr int32_t kQuietMean = 100;

bool quiet(std::span<const Sample> frame) {
  int32_t sum = 0;
  for (const Sample sample : frame) sum += std::abs(int32_t{sample});
  return sum / static_cast<int32_t>(frame.size()) < kQuietMean;
}
}  // namespace

/// Positions at which frames and packets can begin together are multiples of this apart.
RtpTicks Playout::grid() const {
  return packet_ticks_ > RtpTicks() ? RtpTicks(std::gcd(packet_ticks_.count(), frame_.count())) : frame_;
}

/// Returns the distance of a timestamp from the grid before it.
RtpTicks Playout::off_grid(RtpTime time) const {
  const int64_t step = grid().count();
  return RtpTicks(((time - packet_begins_).count() % step + step) % step);
}

/// Returns the additional delay until the packet with the end of a frame arrives: none for a frame that
/// begins with its packet.
Nanos Playout::reach(RtpTicks off_grid) const {
  const RtpTicks step = grid();
  const RtpTicks rest = off_grid > RtpTicks() ? step - off_grid : RtpTicks();
  return clock_.time_of(frame_ - step + rest);
}

Nanos Playout::delay_at(Nanos now, const DelayEstimator& delays) const {
  return now - delays.earliest(next_);
}

void Playout::arrived(const Arrival& packet, const DelayEstimator& delays) {
  packet_time_ = clock_.time_of(packet.duration);
  packet_begins_ = packet.timestamp;
  packet_ticks_ = packet.duration;
  const bool drained = state_ == State::playing && next_ >= packet.end_before;
  // Between talkspurts the delay can change inaudibly, so the new talkspurt starts with the wanted delay.
  if (state_ == State::idle || (drained && packet.talkspurt && packet.timestamp >= next_)) {
    wait_for(packet.timestamp, delays);
    return;
  }
  if (state_ == State::waiting && packet.timestamp < next_ && packet.at < start_at_) {
    next_ = packet.timestamp;  // the first packets arrived out of order
    return;
  }
  if (packet.timestamp + packet.duration > next_) {
    late_since_ = kNever;
    return;
  }
  ++counters_.late_packets;
  if (late_since_ == kNever) late_since_ = packet.at;
  if (packet.at - late_since_ > kLateTooLong) lost_track_ = true;
}

void Playout::wait_for(RtpTime timestamp, const DelayEstimator& delays) {
  state_ = State::waiting;
  next_ = timestamp;
  start_at_ = delays.earliest(next_) + delays.target() + reach({});
  late_since_ = kNever;
}

void Playout::pass_time(const PayloadStore& store, RtpTime at, std::span<Sample> out) {
  const PacketPart part = store.run_at(at, RtpTicks(1)).part;
  if (part.coding == Coding::comfort) {
    codec_.comfort(part.payload, out);
    return;
  }
  codec_.conceal(out, {});
  codec_.end_comfort(out);
}

void Playout::read(const PayloadStore& store, std::span<Sample> out) {
  counters_.concealed += read_in_order(store, next_, codec_, out);
  next_ += frame_;
}

void Playout::look_ahead(const PayloadStore& store, std::span<Sample> out) {
  if (state_ == State::playing) {
    read_in_order(store, next_, codec_, out);
  } else {
    codec_.conceal(out, {});
  }
}

void Playout::shorten(const PayloadStore& store, std::span<Sample> out) {
  // `out` holds the skipped frame. Its beginning is crossfaded into the next frame.
  std::array<Sample, kMaxFrameSamples / kSeamOfFrame> skipped;
  const auto seam = std::span(skipped).first(out.size() / kSeamOfFrame);
  std::copy_n(out.begin(), seam.size(), seam.begin());
  read(store, out);
  crossfade(seam, out.first(seam.size()));
  ++counters_.dropped_frames;
}

/// Skips to the present. The frame that would have followed is crossfaded into the new one.
void Playout::catch_up(Nanos now, const PayloadStore& store, const DelayEstimator& delays,
                       std::span<Sample> out) {
  std::array<Sample, kMaxFrameSamples / kSeamOfFrame> skipped;
  const auto seam = std::span(skipped).first(out.size() / kSeamOfFrame);
  read_in_order(store, next_, codec_, out);
  std::copy_n(out.begin(), seam.size(), seam.begin());
  move_to_present(now, delays);
  prime(store, kBlendedPast);
  delay_ = delay_at(now, delays);
  read(store, out);
  crossfade(seam, out.first(seam.size()));
  ++counters_.resyncs;
}

void Playout::pop(Nanos now, const PayloadStore& store, const DelayEstimator& delays, std::span<Sample> out) {
  if (state_ == State::waiting && now >= start_at_) state_ = State::playing;
  if (state_ != State::playing) {
    // Fades out after speech; silent if there was no speech. Comfort noise lasts until the next talkspurt.
    pass_time(store, next_ - RtpTicks(1), out);
    return;
  }
  delay_ = delay_at(now, delays);
  const RtpTicks off = off_grid(next_);
  const Nanos wanted = delays.target() + reach(off);
  const bool more_to_come = next_ < store.end();
  if (delay_ < wanted - DelayEstimator::kMargin && more_to_come) {
    pass_time(store, next_, out);
    // Continuing with the beginning of a packet needs less delay.
    if (off > RtpTicks()) next_ += grid() - off;
    counters_.concealed += SampleCount(out.size());
    ++counters_.inserted_frames;
    return;
  }
  if (delay_ - wanted > kFarBehind && more_to_come) {
    catch_up(now, store, delays, out);
    return;
  }
  read(store, out);

  if (delay_ - wanted <= kLowerTolerance) {
    too_long_since_ = now;
    return;
  }
  const bool in_time = more_to_come && now - last_shortened_ >= kShortenInterval;
  if (in_time && (quiet(out) || now - too_long_since_ >= kWaitForPause)) {
    shorten(store, out);
    last_shortened_ = now;
  }
}

void Playout::move_to_present(Nanos now, const DelayEstimator& delays) {
  if (state_ == State::waiting && now >= start_at_) state_ = State::playing;
  if (state_ != State::playing) return;
  next_ = delays.newest_at(now - delays.target() - reach({}));
  next_ = next_ - off_grid(next_);
  too_long_since_ = now;
  late_since_ = kNever;
  lost_track_ = false;
}

void Playout::prime(const PayloadStore& store, int frames) {
  if (state_ == State::playing) decode_before(store, next_, codec_, frames);
}

void Playout::restart() {
  state_ = State::idle;
  lost_track_ = false;
  late_since_ = kNever;
  ++counters_.resyncs;
}

}  // namespace carillon
