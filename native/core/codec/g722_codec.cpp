#include "core/codec/g722_codec.hpp"

#include <algorithm>
#include <array>

namespace carillon {

namespace {
/// Samples in 150 ms. The concealer is silent after 110 ms; the margin lets the predictors settle.
constexpr size_t kSounds = size_t{kG722Rates.sample.per_ms()} * 150;
}  // namespace

RtpTicks G722Decoder::duration(Coding coding, Bytes payload) const {
  return RtpTicks(coding == Coding::g722 ? static_cast<int64_t>(payload.size()) : 0);
}

void G722Decoder::decode(const PacketPart& part, std::span<Sample> out) {
  const size_t octets = out.size() / 2;
  bits_.decode(part.payload.subspan(static_cast<size_t>(part.into.count()), octets), out);
  without_ = 0;
  followed_ = false;
  concealer_.receive(out);
}

void G722Decoder::silence(std::span<Sample> out) {
  std::ranges::fill(out, Sample{0});
  follow(out);
  concealer_.receive(out);
}

void G722Decoder::conceal(std::span<Sample> out, Bytes /*following*/) {
  concealer_.conceal(out);
  follow(out);
}

void G722Decoder::follow(std::span<const Sample> heard) {
  if (without_ > kSounds) return;
  without_ += heard.size();
  if (!followed_) echo_.set_bands(bits_.bands());
  followed_ = true;
  std::array<uint8_t, kMaxFrameSamples / 2> codes;
  std::array<Sample, kMaxFrameSamples> unheard;
  while (!heard.empty()) {
    const auto block = heard.first(std::min(heard.size(), unheard.size()));
    echo_.encode(block, codes);
    bits_.decode(std::span(codes).first(block.size() / 2), unheard);
    heard = heard.subspan(block.size());
  }
}

ByteCount G722Encoder::encode(Coding /*coding*/, std::span<const Sample> in, std::span<uint8_t> out) {
  bits_.encode(in, out);
  return ByteCount(in.size() / 2);
}

}  // namespace carillon
