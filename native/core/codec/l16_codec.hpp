// L16 session codec (RFC 3551 §4.5.11): samples in network byte order, one channel.
#pragma once

#include "core/codec/codec.hpp"
#include "core/dsp/plc.hpp"

namespace carillon {

/// Decodes L16. `kPerMs`: samples per millisecond.
template <int kPerMs>
class L16Decoder final : public AudioDecoder {
 public:
  static constexpr SessionRates kRates{RtpClockRate(1000 * kPerMs), SampleRate(1000 * kPerMs)};

  [[nodiscard]] SessionRates rates() const override { return kRates; }
  [[nodiscard]] bool decodes(Coding coding) const override { return coding == Coding::l16; }
  [[nodiscard]] RtpTicks duration(Coding coding, Bytes payload) const override;
  [[nodiscard]] size_t octets_per_second() const override { return 2000 * kPerMs; }
  void decode(const PacketPart& part, std::span<Sample> out) override;
  void silence(std::span<Sample> out) override;
  void conceal(std::span<Sample> out, Bytes following) override;
  void output_undelayed() override { concealer_.output_undelayed(); }
  [[nodiscard]] SampleCount delay() const override { return SampleCount(concealer_.delay()); }

 private:
  PacketLossConcealer<kPerMs> concealer_;
};

class L16Encoder final : public AudioEncoder {
 public:
  explicit L16Encoder(SampleRate rate) : rate_(rate) {}

  [[nodiscard]] SessionRates rates() const override { return {RtpClockRate(rate_.hz()), rate_}; }
  /// Limits packets at 16 kHz to 40 ms, which fit a datagram without fragmentation.
  [[nodiscard]] int packet_ms(int wanted) const override;
  [[nodiscard]] size_t max_payload() const override { return kMaxPayload; }
  ByteCount encode(Coding coding, std::span<const Sample> in, std::span<uint8_t> out) override;

 private:
  static constexpr size_t kMaxPayload = 1280;
  SampleRate rate_;
};

}  // namespace carillon
