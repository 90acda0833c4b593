// Opus session codec (RFC 6716, RFC 7587): one channel, RTP clock 48 kHz at any audio sample rate.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/codec/codec.hpp"

struct OpusDecoder;
struct OpusEncoder;

namespace carillon {

/// Returns the version of libopus and its origin, such as `libopus 1.5.2 (system)`.
std::string opus_version();

struct OpusDeleter {
  void operator()(::OpusDecoder* decoder) const;
  void operator()(::OpusEncoder* encoder) const;
};

/// Decodes Opus. A payload cannot be split, so it is decoded at its first part. Lost audio is restored from
/// the next packet (FEC) if possible, otherwise concealed by the decoder. The decoder also generates comfort
/// noise during DTX.
class OpusStreamDecoder final : public AudioDecoder {
 public:
  explicit OpusStreamDecoder(SampleRate rate);

  [[nodiscard]] SessionRates rates() const override { return rates_; }
  [[nodiscard]] bool decodes(Coding coding) const override { return coding == Coding::opus; }
  [[nodiscard]] RtpTicks duration(Coding coding, Bytes payload) const override;
  /// Octets per second of speech. For music at the highest rate, the buffer holds less time.
  [[nodiscard]] size_t octets_per_second() const override { return 16'000; }
  [[nodiscard]] size_t longest_payload() const override { return 1500; }
  void decode(const PacketPart& part, std::span<Sample> out) override;
  void silence(std::span<Sample> out) override { make_up(out, {}); }
  void conceal(std::span<Sample> out, Bytes following) override { make_up(out, following); }
  [[nodiscard]] bool restores(Bytes following) const override;
  bool give_out_at(SampleRate rate) override;

 private:
  void make_up(std::span<Sample> out, Bytes following);

  /// Negotiated sample rate.
  SampleRate full_;
  SessionRates rates_;
  std::unique_ptr<::OpusDecoder, OpusDeleter> decoder_;
  /// Decoded audio of the current packet, at most 120 ms.
  std::vector<Sample> decoded_;
  size_t decoded_count_ = 0;
  std::optional<RtpTime> decoded_begins_;
  Nanos made_up_ = kSecond;
};

class OpusStreamEncoder final : public AudioEncoder {
 public:
  explicit OpusStreamEncoder(const CodecSpec& spec);

  [[nodiscard]] SessionRates rates() const override { return rates_; }
  /// Opus frames last 10, 20, 40 or 60 ms.
  [[nodiscard]] int packet_ms(int wanted) const override;
  [[nodiscard]] size_t max_payload() const override;
  /// Reduces the bandwidth in the first pause after 0.5 s of narrow audio. Increases it immediately.
  void carries(SampleRate content) override;
  /// Reduces the input rate in a pause after the encoded bandwidth has been reduced.
  bool take_at(SampleRate rate) override;
  /// Enables FEC while packets are lost, if the peer supports it: each packet repeats the previous frame.
  /// This almost doubles the encoding time.
  void expect_loss(int percent) override;
  ByteCount encode(Coding coding, std::span<const Sample> in, std::span<uint8_t> out) override;

 private:
  void begin();
  void set_band(SampleRate content);
  void set_bitrate();
  void change_band(SampleRate content);
  [[nodiscard]] bool may_narrow(std::span<const Sample> in) const;
  void fit_complexity(std::span<const Sample> in);

  /// Negotiated sample rate.
  SampleRate full_;
  SessionRates rates_;
  /// Bitrate that the peer requests, in bit/s. 0: no preference.
  int bitrate_;
  bool fec_;
  bool dtx_;
  /// Frames until the usual complexity is restored. 0: in use.
  int bright_frames_ = 0;
  /// Loss rate for FEC in percent. 0: FEC is off.
  int loss_percent_ = 0;
  /// Bandwidth of the input, bandwidth of the encoder, and number of recent frames narrower than the
  /// encoder's, as twice the highest frequency.
  SampleRate content_;
  SampleRate band_;
  int narrower_ = 0;
  /// True if the last encoded frame was a pause. Updated only where needed.
  bool pause_ = false;
  std::unique_ptr<::OpusEncoder, OpusDeleter> encoder_;
};

}  // namespace carillon
