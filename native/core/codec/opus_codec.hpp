// Opus as a session's codec (RFC 6716, RFC 7587): one channel, RTP clock 48 kHz whatever the audio's rate.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "core/codec/codec.hpp"

struct OpusDecoder;
struct OpusEncoder;

namespace carillon {

struct OpusDeleter {
  void operator()(::OpusDecoder* decoder) const;
  void operator()(::OpusEncoder* encoder) const;
};

/// A payload cannot be cut: it is decoded at its first part. What is lost is taken from the packet behind it
/// where that has it once more (FEC), else made up by the decoder, which also makes the noise of a sender's
/// silence.
class OpusStreamDecoder final : public AudioDecoder {
 public:
  explicit OpusStreamDecoder(SampleRate rate);

  [[nodiscard]] SessionRates rates() const override { return rates_; }
  [[nodiscard]] bool decodes(Coding coding) const override { return coding == Coding::opus; }
  [[nodiscard]] RtpTicks duration(Coding coding, Bytes payload) const override;
  /// Speech; of music at the highest rate less is held.
  [[nodiscard]] size_t octets_per_second() const override { return 16'000; }
  [[nodiscard]] size_t longest_payload() const override { return 1500; }
  void decode(const PacketPart& part, std::span<Sample> out) override;
  void silence(std::span<Sample> out) override { make_up(out, {}); }
  void conceal(std::span<Sample> out, Bytes following) override { make_up(out, following); }
  bool give_out_at(SampleRate rate) override;

 private:
  void make_up(std::span<Sample> out, Bytes following);

  /// Negotiated.
  SampleRate full_;
  SessionRates rates_;
  std::unique_ptr<::OpusDecoder, OpusDeleter> decoder_;
  /// Of the packet in hand, 120 ms at most.
  std::vector<Sample> decoded_;
  size_t decoded_count_ = 0;
  std::optional<RtpTime> decoded_begins_;
  Nanos made_up_ = kSecond;
};

class OpusStreamEncoder final : public AudioEncoder {
 public:
  explicit OpusStreamEncoder(const CodecSpec& spec);

  [[nodiscard]] SessionRates rates() const override { return rates_; }
  /// Opus frames are of 10, 20, 40 or 60 ms.
  [[nodiscard]] int packet_ms(int wanted) const override;
  [[nodiscard]] size_t max_payload() const override;
  /// Narrower audio is encoded as such in the first pause after half a second of it, wider at once.
  void carries(SampleRate content) override;
  /// A lower one in a pause, once what is encoded is as narrow.
  bool take_at(SampleRate rate) override;
  /// Each frame is sent once more within the next packet while any are lost, where the peer wants that (FEC):
  /// it takes the time of encoding most of it twice.
  void expect_loss(int percent) override;
  ByteCount encode(Coding coding, std::span<const Sample> in, std::span<uint8_t> out) override;

 private:
  void begin();
  void set_band(SampleRate content);
  void set_bitrate();
  void change_band(SampleRate content);
  [[nodiscard]] bool may_narrow(std::span<const Sample> in) const;

  /// Negotiated.
  SampleRate full_;
  SessionRates rates_;
  /// Of the peer's own choice; 0: none.
  int bitrate_;
  bool fec_;
  bool dtx_;
  /// What FEC reckons with; 0: none is sent.
  int loss_percent_ = 0;
  /// What comes has nothing above half of this rate; what is encoded, of this one; so many frames had less.
  SampleRate content_;
  SampleRate band_;
  int narrower_ = 0;
  /// The last frame that was encoded was one, as far as that matters.
  bool pause_ = false;
  std::unique_ptr<::OpusEncoder, OpusDeleter> encoder_;
};

}  // namespace carillon
