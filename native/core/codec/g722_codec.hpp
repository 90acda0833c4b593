// G.722 session codec (RFC 3551 §4.5.2). Its RTP clock is 8000 Hz for historical reasons: one tick is two
// samples.
#pragma once

#include "core/codec/codec.hpp"
#include "core/codec/g722.hpp"
#include "core/dsp/plc.hpp"

namespace carillon {

inline constexpr SessionRates kG722Rates{RtpClockRate(8000), SampleRate(16000)};

/// Decodes G.722. One octet is two samples, so payloads can be split anywhere. Losses are concealed as for
/// G.711. The concealment is also encoded so that the predictors continue from the audio that was output.
class G722Decoder final : public AudioDecoder {
 public:
  [[nodiscard]] SessionRates rates() const override { return kG722Rates; }
  [[nodiscard]] bool decodes(Coding coding) const override { return coding == Coding::g722; }
  [[nodiscard]] RtpTicks duration(Coding coding, Bytes payload) const override;
  [[nodiscard]] size_t octets_per_second() const override { return 8000; }
  void decode(const PacketPart& part, std::span<Sample> out) override;
  void silence(std::span<Sample> out) override;
  void conceal(std::span<Sample> out, Bytes following) override;
  void output_undelayed() override { concealer_.output_undelayed(); }
  [[nodiscard]] SampleCount delay() const override { return SampleCount(concealer_.delay()); }

 private:
  void follow(std::span<const Sample> heard);

  G722BitDecoder bits_;
  G722BitEncoder echo_;
  bool followed_ = false;
  /// Samples since the last packet. After the concealer becomes silent, the predictors need no update.
  size_t without_ = SIZE_MAX / 2;
  PacketLossConcealer<kG722Rates.sample.per_ms()> concealer_;
};

class G722Encoder final : public AudioEncoder {
 public:
  [[nodiscard]] SessionRates rates() const override { return kG722Rates; }
  [[nodiscard]] size_t max_payload() const override { return 480; }
  ByteCount encode(Coding coding, std::span<const Sample> in, std::span<uint8_t> out) override;

 private:
  G722BitEncoder bits_;
};

}  // namespace carillon
