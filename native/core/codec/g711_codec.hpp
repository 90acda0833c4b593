// G.711 session codec: both laws, with the loss concealment of ITU-T G.711 Appendix I.
#pragma once

#include "core/base/narrowband.hpp"
#include "core/codec/codec.hpp"
#include "core/dsp/plc.hpp"

namespace carillon {

inline constexpr SessionRates kG711Rates{RtpClockRate(8000), kNarrowband};

/// Decodes G.711. One octet is one sample, so payloads can be split anywhere. The output has the concealer's
/// delay. Both laws share one state because some senders switch between them without negotiation.
///
/// While no packet is lost, the decoder bypasses the concealer because of its large memory. The decoder then
/// produces the delay from the last received octets and passes them to the concealer at the first loss. These
/// octets are stored in memory that the concealer uses only during concealment.
class G711Decoder final : public AudioDecoder {
 public:
  [[nodiscard]] SessionRates rates() const override { return kG711Rates; }
  [[nodiscard]] bool decodes(Coding coding) const override {
    return coding == Coding::pcmu || coding == Coding::pcma;
  }
  [[nodiscard]] RtpTicks duration(Coding coding, Bytes payload) const override;
  [[nodiscard]] size_t octets_per_second() const override { return 8000; }
  void decode(const PacketPart& part, std::span<Sample> out) override;
  void silence(std::span<Sample> out) override;
  void conceal(std::span<Sample> out, Bytes following) override;
  void output_undelayed() override { concealer_.output_undelayed(); }
  [[nodiscard]] SampleCount delay() const override { return SampleCount(concealer_.delay()); }
  void expect_decode() const override;

 private:
  using Concealer = PacketLossConcealer<kNarrowband.per_ms()>;
  static constexpr size_t kPast = Concealer::kPastSamples;
  static constexpr size_t kDelay = Concealer::kDelaySamples;
  // Octets appended before the history is moved back to the front.
  static constexpr size_t kRoom = 2 * kNarrowFrame;

  void decode_part(Bytes payload, std::span<Sample> out);
  void append(Bytes payload);
  void catch_up();
  [[nodiscard]] Bytes past() const { return concealer_.spare(); }

  Coding coding_ = Coding::pcmu;
  size_t end_ = 0;        // end of the octets in past()
  size_t known_ = 0;      // contiguous octets before end_
  size_t passed_by_ = 0;  // octets of known_ that the concealer has not received
  Concealer concealer_;
};

class G711Encoder final : public AudioEncoder {
 public:
  [[nodiscard]] SessionRates rates() const override { return kG711Rates; }
  [[nodiscard]] size_t max_payload() const override { return 480; }
  ByteCount encode(Coding coding, std::span<const Sample> in, std::span<uint8_t> out) override;
};

}  // namespace carillon
