#include "core/codec/codec.hpp"
#include "core/codec/g711_codec.hpp"

namespace carillon {

bool same_decoder(const CodecSpec& a, const CodecSpec& b) {
  const auto g711 = [](const CodecSpec& spec) {
    return spec.coding == Coding::pcmu || spec.coding == Coding::pcma;
  };
  return (g711(a) && g711(b)) || (a.coding == b.coding && a.sample_rate == b.sample_rate);
}

std::unique_ptr<AudioDecoder> make_decoder(const CodecSpec& spec) {
  switch (spec.coding) {
    default:
      return std::make_unique<G711Decoder>();
  }
}

std::unique_ptr<AudioEncoder> make_encoder(const CodecSpec& spec) {
  switch (spec.coding) {
    default:
      return std::make_unique<G711Encoder>();
  }
}

SessionRates rates_of(const CodecSpec& spec) {
  switch (spec.coding) {
    default:
      return kG711Rates;
  }
}

}  // namespace carillon
