#include "core/codec/g711_codec.hpp"

#include <algorithm>

#include "core/base/prefetch.hpp"
#include "core/codec/g711.hpp"

namespace carillon {

namespace {
G711Law law_of(Coding coding) { return coding == Coding::pcma ? G711Law::a : G711Law::mu; }
}  // namespace

void G711Decoder::append(Bytes payload) {
  const std::span<uint8_t> past = concealer_.spare();
  static_assert(kPast + kRoom <= kPast * sizeof(Sample));
  if (payload.size() > past.size() - end_) {
    const size_t kept = std::min(end_, kPast);
    std::ranges::copy(past.subspan(end_ - kept, kept), past.begin());
    end_ = kept;
  }
  std::ranges::copy(payload, past.subspan(end_).begin());
  end_ += payload.size();
  known_ += payload.size();
}

void G711Decoder::catch_up() {
  if (passed_by_ == 0) return;
  std::array<Sample, kPast> unknown;
  const auto missed = std::span(unknown).last(std::min(passed_by_, kPast));
  g711_decode(law_of(coding_), past().subspan(end_ - missed.size(), missed.size()), missed);
  concealer_.receive(missed);
  passed_by_ = 0;
}

void G711Decoder::decode_part(Bytes payload, std::span<Sample> out) {
  const G711Law law = law_of(coding_);
  const size_t delay = concealer_.delay();
  if (known_ >= delay && !concealer_.concealing()) {
    append(payload);
    passed_by_ += payload.size();
    g711_decode(law, past().subspan(end_ - payload.size() - delay, payload.size()), out);
    return;
  }
  // Audio after a gap is crossfaded with the concealment, so it differs from the decoded payload.
  const bool blended = concealer_.concealing();
  g711_decode(law, payload, out);
  concealer_.receive(out);
  append(payload);
  if (blended) known_ = 0;
}

RtpTicks G711Decoder::duration(Coding /*coding*/, Bytes payload) const {
  return RtpTicks(static_cast<int64_t>(payload.size()));
}

void G711Decoder::decode(const PacketPart& part, std::span<Sample> out) {
  if (part.coding != coding_) {
    catch_up();
    known_ = 0;
    coding_ = part.coding;
  }
  Bytes payload = part.payload.subspan(static_cast<size_t>(part.into.count()), out.size());
  while (!payload.empty()) {
    const size_t count = std::min(payload.size(), kRoom);
    decode_part(payload.first(count), out.first(count));
    payload = payload.subspan(count);
    out = out.subspan(count);
  }
}

void G711Decoder::silence(std::span<Sample> out) {
  catch_up();
  known_ = 0;
  std::ranges::fill(out, Sample{0});
  concealer_.receive(out);
}

void G711Decoder::conceal(std::span<Sample> out, Bytes /*following*/) {
  catch_up();
  known_ = end_ = 0;
  concealer_.conceal(out);
}

ByteCount G711Encoder::encode(Coding coding, std::span<const Sample> in, std::span<uint8_t> out) {
  g711_encode(law_of(coding), in, out);
  return ByteCount(in.size());
}

void G711Decoder::expect_decode() const {
  prefetch(this, kCacheLine);
  const size_t from = end_ - std::min(end_, kDelay);
  prefetch(&past()[from], std::min(past().size() - from, kDelay + kNarrowFrame));
}

}  // namespace carillon
