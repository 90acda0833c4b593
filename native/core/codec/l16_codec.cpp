#include "core/codec/l16_codec.hpp"

#include <algorithm>

namespace carillon {

template <int kPerMs>
RtpTicks L16Decoder<kPerMs>::duration(Coding coding, Bytes payload) const {
  return RtpTicks(coding == Coding::l16 ? static_cast<int64_t>(payload.size() / 2) : 0);
}

template <int kPerMs>
void L16Decoder<kPerMs>::decode(const PacketPart& part, std::span<Sample> out) {
  const Bytes payload = part.payload.subspan(2 * static_cast<size_t>(part.into.count()), 2 * out.size());
  for (size_t i = 0; i < out.size(); ++i) out[i] = static_cast<Sample>(read_u16(payload, 2 * i));
  concealer_.receive(out);
}

template <int kPerMs>
void L16Decoder<kPerMs>::silence(std::span<Sample> out) {
  std::ranges::fill(out, Sample{0});
  concealer_.receive(out);
}

template <int kPerMs>
void L16Decoder<kPerMs>::conceal(std::span<Sample> out, Bytes /*following*/) {
  concealer_.conceal(out);
}

template class L16Decoder<8>;
template class L16Decoder<16>;

int L16Encoder::packet_ms(int wanted) const {
  const int longest = static_cast<int>(kMaxPayload) / (2 * rate_.per_ms());
  return std::min(wanted, longest / 10 * 10);
}

ByteCount L16Encoder::encode(Coding /*coding*/, std::span<const Sample> in, std::span<uint8_t> out) {
  for (size_t i = 0; i < in.size(); ++i) write_u16(out, 2 * i, static_cast<uint16_t>(in[i]));
  return ByteCount(2 * in.size());
}

}  // namespace carillon
