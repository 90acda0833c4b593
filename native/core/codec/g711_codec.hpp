// G.711 as a session's codec: both laws, and the concealment of ITU-T G.711 Appendix I.
#pragma once

#include <array>

#include "core/codec/codec.hpp"
#include "core/dsp/plc.hpp"

namespace carillon {

/// An octet is a sample, so a payload may be cut anywhere. What it gives out is
/// PacketLossConcealer::kDelaySamples late. Both laws share one past: some senders switch between them
/// without asking.
///
/// While all arrives the concealer is passed by, because its memory is large: its delay is made up of the
/// octets that came last, and it is told of them when it has to say something itself.
class G711Codec final : public AudioCodec {
 public:
  static constexpr SessionRates kRates{RtpClockRate(8000), SampleRate(8000)};

  [[nodiscard]] SessionRates rates() const override { return kRates; }
  [[nodiscard]] RtpTicks duration(Coding coding, Bytes payload) const override;
  void decode(const PacketPart& part, std::span<Sample> out) override;
  void silence(std::span<Sample> out) override;
  void conceal(std::span<Sample> out, Bytes following) override;
  ByteCount encode(Coding coding, std::span<const Sample> in, std::span<uint8_t> out) override;
  void expect_decode() const override;

 private:
  static constexpr size_t kPast = PacketLossConcealer::kPastSamples;
  static constexpr size_t kDelay = PacketLossConcealer::kDelaySamples;
  static constexpr size_t kRoom = 4 * kFrameSamples;  // appended before the past is moved back to the front

  void decode_part(Bytes payload, std::span<Sample> out);
  void append(Bytes payload);
  void catch_up();

  Coding coding_ = Coding::pcmu;
  size_t end_ = 0;        // of the octets in past_
  size_t known_ = 0;      // octets before end_ that follow one another, up to what was heard last
  size_t passed_by_ = 0;  // of these, those that the concealer does not know
  std::array<uint8_t, kPast + kRoom> past_{};
  PacketLossConcealer concealer_;
};

}  // namespace carillon
