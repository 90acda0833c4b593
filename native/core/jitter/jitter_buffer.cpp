#include "core/jitter/jitter_buffer.hpp"

#include <algorithm>

#include "core/jitter/ordered_read.hpp"
#include "core/rtp/telephone_event.hpp"

namespace carillon {

namespace {
/// Duration of the two repetitions of an event's end, one packet time each.
constexpr Nanos kEventRepeats = 2 * kFrameTime;
/// Difference between timestamp and arrival time that indicates a new timeline.
constexpr Nanos kTimelineBroken = 2 * kSecond;
}  // namespace

JitterBuffer::JitterBuffer(std::unique_ptr<AudioDecoder> decoder)
    : decoder_(std::move(decoder)),
      rates_(decoder_->rates()),
      longest_payload_(decoder_->longest_payload()),
      delays_(rates_.clock),
      playout_(*decoder_),
      store_(rates_.clock, decoder_->octets_per_second()) {}

void JitterBuffer::restart() {
  timestamps_.reset();
  playout_.restart();
  store_.reset();
  delays_.reset();
}

void JitterBuffer::pop(Nanos now, std::span<Sample> out) {
  if (left_out_) playout_.move_to_present(now, delays_);
  if (begins_anew_) {
    playout_.prime(store_, kWholePast);
  } else if (left_out_ || astray_) {
    playout_.prime(store_, kBlendedPast);
  }
  left_out_ = astray_ = begins_anew_ = false;
  playout_.pop(now, store_, delays_, out);
}

void JitterBuffer::hear_on(std::span<Sample> out) {
  playout_.look_ahead(store_, out);
  astray_ = true;
}

void JitterBuffer::hear_newest(std::span<Sample> newest, std::span<Sample> following) {
  const size_t delay = decoder_->delay().count();
  std::array<Sample, kLongestNewest + 3 * kMaxFrameSamples> room;
  const auto all = std::span(room).first(delay + newest.size() + following.size());
  const RtpTime begin = store_.end() - rates_.ticks(SampleCount(newest.size()));
  decode_before(store_, begin, *decoder_);
  read_in_order(store_, begin, *decoder_, all.first(newest.size()));
  decoder_->conceal(all.subspan(newest.size()), {});
  std::ranges::copy(all.subspan(delay, newest.size()), newest.begin());
  std::ranges::copy(all.last(following.size()), following.begin());
  astray_ = true;
}

void JitterBuffer::store_event(const RtpPacket& packet, bool timed, Nanos arrival) {
  if (store_.empty()) return;
  const RtpTime newest = delays_.newest_at(arrival);
  if (!timed) {
    store_.fill_silence_until(newest + rates_.clock.in(kFrameTime));
    return;
  }
  // An event cannot end in the future, but some senders report a wrong duration.
  const RtpTime event_end = std::min(timestamps_.peek(packet.timestamp) + event_duration(packet.payload),
                                     newest + rates_.clock.in(kLongestUsualPacket));
  // The end of an event is sent three times with the same timestamp. The arrival time shows the current
  // position.
  const RtpTicks repeats = rates_.clock.in(kEventRepeats);
  store_.fill_silence_until(std::clamp(newest, event_end, event_end + repeats));
}

void JitterBuffer::store_comfort(const RtpPacket& packet, bool nothing_lost, Nanos arrival) {
  const Bytes payload = packet.payload.first(std::min(packet.payload.size(), ComfortNoise::kMaxPayload));
  if (payload.empty()) return;
  // Later timestamps are extended from those of audio, because those of noise can belong to another timeline.
  RtpTime timestamp =
      delays_.ready() ? timestamps_.peek(packet.timestamp) : timestamps_.extend(packet.timestamp);
  if (!delays_.ready()) {
    delays_.observe(timestamp, arrival);
  } else if (abs(arrival - delays_.earliest(timestamp)) > kTimelineBroken) {
    timestamp = delays_.newest_at(arrival);
  }
  if (!store_.empty()) {
    timestamp = std::max(timestamp, store_.end());
    if (nothing_lost || store_.comforts()) store_.fill_silence_until(timestamp);
  }
  const RtpTicks duration = rates_.clock.in(kFrameTime);
  if (store_.write(timestamp, duration, Coding::comfort, payload) == PayloadStore::Written::jumped) {
    playout_.restart();
    store_.reset();
    store_.write(timestamp, duration, Coding::comfort, payload);
  }
  playout_.arrived_comfort(timestamp, delays_);
}

void JitterBuffer::store(const RtpPacket& packet, Coding coding, bool nothing_lost, Nanos arrival) {
  const Bytes payload = packet.payload.first(std::min(packet.payload.size(), longest_payload_));
  const RtpTicks duration = decoder_->duration(coding, payload);
  if (duration == RtpTicks()) return;

  RtpTime timestamp = timestamps_.extend(packet.timestamp);
  if (delays_.ready()) {
    const Nanos late_by = arrival - delays_.earliest(timestamp);
    if (abs(late_by) > kTimelineBroken || playout_.lost_track()) {
      restart();
      timestamp = timestamps_.extend(packet.timestamp);
    }
  }
  const RtpTime end_before = store_.end();
  // Audio that is lost directly after comfort noise is replaced by noise.
  const bool pauses = nothing_lost || store_.comforts();
  const bool pause_before = pauses && !store_.empty() && timestamp > store_.end();
  if (pause_before) store_.fill_silence_until(timestamp);
  delays_.observe(timestamp, arrival);
  if (store_.write(timestamp, duration, coding, payload) == PayloadStore::Written::jumped) {
    // The pause was longer than the store. The timeline is still valid, but the stored audio is obsolete.
    playout_.restart();
    store_.reset();
    store_.write(timestamp, duration, coding, payload);
  }
  playout_.arrived({timestamp, duration, arrival, packet.marker || pause_before, end_before}, delays_);
}

}  // namespace carillon
