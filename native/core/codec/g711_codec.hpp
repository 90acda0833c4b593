// G.711 as a session's codec: both laws, and the concealment of ITU-T G.711 Appendix I.
#pragma once

#include "core/base/narrowband.hpp"
#include "core/codec/codec.hpp"
#include "core/dsp/plc.hpp"

namespace carillon {

inline constexpr SessionRates kG711Rates{RtpClockRate(8000), kNarrowband};

/// An octet is a sample, so a payload may be cut anywhere. What it gives out is the concealer's delay late.
/// Both laws share one past: some senders switch between them without asking.
///
/// While all arrives the concealer is passed by, because its memory is large: its delay is made up of the
/// octets that came last, and it is told of them when it has to say something itself. They stand in what it
/// needs while it conceals.
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
  [[nodiscard]] SampleCount delay() const override { return SampleCount(kDelay); }
  void expect_decode() const override;

 private:
  using Concealer = PacketLossConcealer<kNarrowband.per_ms()>;
  static constexpr size_t kPast = Concealer::kPastSamples;
  static constexpr size_t kDelay = Concealer::kDelaySamples;
  // Appended before the past is moved back to the front.
  static constexpr size_t kRoom = 2 * kNarrowFrame;

  void decode_part(Bytes payload, std::span<Sample> out);
  void append(Bytes payload);
  void catch_up();
  [[nodiscard]] Bytes past() const { return concealer_.spare(); }

  Coding coding_ = Coding::pcmu;
  size_t end_ = 0;        // of the octets in past()
  size_t known_ = 0;      // octets before end_ that follow one another, up to what was heard last
  size_t passed_by_ = 0;  // of these, those that the concealer does not know
  Concealer concealer_;
};

class G711Encoder final : public AudioEncoder {
 public:
  [[nodiscard]] SessionRates rates() const override { return kG711Rates; }
  [[nodiscard]] size_t max_payload() const override { return 480; }
  ByteCount encode(Coding coding, std::span<const Sample> in, std::span<uint8_t> out) override;
};

}  // namespace carillon
