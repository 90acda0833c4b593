#include <algorithm>
#include <array>

#include "core/codec/codec.hpp"
#include "core/codec/g711.hpp"
#include "core/codec/g711_codec.hpp"
#include "core/codec/g722_codec.hpp"
#include "core/codec/l16_codec.hpp"
#include "core/codec/opus_codec.hpp"

namespace carillon {

namespace {
constexpr bool is_g711(Coding coding) { return coding == Coding::pcmu || coding == Coding::pcma; }

template <typename Decoder>
std::unique_ptr<AudioDecoder> decoder(const CodecSpec& /*spec*/) {
  return std::make_unique<Decoder>();
}
template <typename Encoder>
std::unique_ptr<AudioEncoder> encoder(const CodecSpec& /*spec*/) {
  return std::make_unique<Encoder>();
}

std::unique_ptr<AudioDecoder> l16_decoder(const CodecSpec& spec) {
  if (spec.sample_rate == kNarrowband) return std::make_unique<L16Decoder<8>>();
  return std::make_unique<L16Decoder<16>>();
}
std::unique_ptr<AudioEncoder> l16_encoder(const CodecSpec& spec) {
  return std::make_unique<L16Encoder>(spec.sample_rate);
}

std::unique_ptr<AudioDecoder> opus_decoder(const CodecSpec& spec) {
  return std::make_unique<OpusStreamDecoder>(spec.sample_rate);
}
std::unique_ptr<AudioEncoder> opus_encoder(const CodecSpec& spec) {
  return std::make_unique<OpusStreamEncoder>(spec);
}

constexpr std::array kRates8{8000};
constexpr std::array kRates16{16000};
constexpr std::array kRatesL16{8000, 16000};
constexpr std::array kRatesOpus{8000, 16000, 24000, 48000};
/// Bpl of G.711 with packet-loss concealment, and of Opus, which restores lost audio from the next packet.
constexpr double kConcealed = 25.1;
constexpr double kRestored = 40;

constexpr Nanos kNoLookAhead{};
constexpr Nanos kBandSplit = 22 * kSecond / 16'000;  // both band-splitting filters of G.722
constexpr Nanos kOpusLookAhead = 312 * kSecond / 48'000;

/// All codecs. The first is the default. `src/protocol/sdp/codec-table.ts` has their formats in SDP.
constexpr std::array<CodecProperties, 5> kCodecs{{
    {Coding::pcmu, "PCMU", 8000, kRates8, false, kConcealed, kNoLookAhead, decoder<G711Decoder>,
     encoder<G711Encoder>},
    {Coding::pcma, "PCMA", 8000, kRates8, false, kConcealed, kNoLookAhead, decoder<G711Decoder>,
     encoder<G711Encoder>},
    {Coding::g722, "G722", 8000, kRates16, false, kConcealed, kBandSplit, decoder<G722Decoder>,
     encoder<G722Encoder>},
    {Coding::l16, "L16", 0, kRatesL16, false, kConcealed, kNoLookAhead, l16_decoder, l16_encoder},
    {Coding::opus, "OPUS", 48000, kRatesOpus, true, kRestored, kOpusLookAhead, opus_decoder, opus_encoder},
}};
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

std::span<const CodecProperties> all_codecs() { return kCodecs; }

const CodecProperties& properties_of(Coding coding) {
  const auto* const found = std::ranges::find(kCodecs, coding, &CodecProperties::coding);
  return found == kCodecs.end() ? kCodecs.front() : *found;
}

std::unique_ptr<AudioDecoder> make_decoder(const CodecSpec& spec) {
  return properties_of(spec.coding).make_decoder(spec);
}

std::unique_ptr<AudioEncoder> make_encoder(const CodecSpec& spec) {
  return properties_of(spec.coding).make_encoder(spec);
}

SessionRates rates_of(const CodecSpec& spec) {
  const CodecProperties& codec = properties_of(spec.coding);
  // Codecs with one sample rate ignore that of `spec`.
  const int sample = codec.sample_rates.size() == 1 ? codec.sample_rates.front() : spec.sample_rate.hz();
  return {RtpClockRate(codec.clock_rate == 0 ? sample : codec.clock_rate), SampleRate(sample)};
}

}  // namespace carillon
