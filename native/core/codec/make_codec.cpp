#include <algorithm>

#include "core/codec/codec.hpp"
#include "core/codec/g711.hpp"
#include "core/codec/g711_codec.hpp"
#include "core/codec/g722_codec.hpp"
#include "core/codec/l16_codec.hpp"
#include "core/codec/opus_codec.hpp"

namespace carillon {

namespace {
constexpr bool is_g711(Coding coding) { return coding == Coding::pcmu || coding == Coding::pcma; }
constexpr bool is_narrow(const CodecSpec& spec) { return spec.sample_rate == kNarrowband; }
}  // namespace

bool same_decoder(const CodecSpec& a, const CodecSpec& b) {
  if (is_g711(a.coding) && is_g711(b.coding)) return true;
  return a.coding == b.coding && a.sample_rate == b.sample_rate;
}

bool carries_over(Coding from, Coding to) { return from == to || (is_g711(from) && is_g711(to)); }

void carry_over(Coding from, Coding to, Bytes payload, std::span<uint8_t> out) {
  if (from == to) {
    std::ranges::copy(payload, out.begin());
  } else {
    g711_recode(from == Coding::pcma ? G711Law::a : G711Law::mu, payload, out);
  }
}

std::unique_ptr<AudioDecoder> make_decoder(const CodecSpec& spec) {
  switch (spec.coding) {
    case Coding::g722:
      return std::make_unique<G722Decoder>();
    case Coding::l16:
      if (is_narrow(spec)) return std::make_unique<L16Decoder<8>>();
      return std::make_unique<L16Decoder<16>>();
    case Coding::opus:
      return std::make_unique<OpusStreamDecoder>(spec.sample_rate);
    default:
      return std::make_unique<G711Decoder>();
  }
}

std::unique_ptr<AudioEncoder> make_encoder(const CodecSpec& spec) {
  switch (spec.coding) {
    case Coding::g722:
      return std::make_unique<G722Encoder>();
    case Coding::l16:
      return std::make_unique<L16Encoder>(spec.sample_rate);
    case Coding::opus:
      return std::make_unique<OpusStreamEncoder>(spec);
    default:
      return std::make_unique<G711Encoder>();
  }
}

SessionRates rates_of(const CodecSpec& spec) {
  switch (spec.coding) {
    case Coding::g722:
      return kG722Rates;
    case Coding::l16:
      return {RtpClockRate(spec.sample_rate.hz()), spec.sample_rate};
    case Coding::opus:
      return {RtpClockRate(48'000), spec.sample_rate};
    default:
      return kG711Rates;
  }
}

}  // namespace carillon
