// ITU-T G.722 at 64 kbit/s: 16 kHz audio in two ADPCM bands. Bit-exact.
#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace carillon {

/// Adaptive predictor and step size of one band (G.722 §6.2 block 4, and blocks 3L, 3H).
class G722Band {
 public:
  explicit G722Band(int step) : step_(step) {}

  /// Predicted next value.
  [[nodiscard]] int predicted() const { return predicted_; }
  [[nodiscard]] int step() const { return step_; }
  /// Adapts the step size. `log_change`: change of its logarithm, which `log_limit` bounds; `octaves`: its
  /// scale.
  void adapt_step(int log_change, int log_limit, int octaves);
  /// Updates the predictor with the quantised difference of this sample.
  void follow(int difference);

 private:
  static constexpr int kZeros = 6;

  void adapt_poles(int partial);
  void adapt_zeros(int difference);
  void predict();

  int predicted_ = 0;
  int predicted_by_zeros_ = 0;
  int step_;
  int log_step_ = 0;
  // Ordered by age, newest first.
  std::array<int, 2> reconstructed_{};
  std::array<int, 2> partial_{};
  std::array<int, 2> poles_{};
  std::array<int, kZeros> differences_{};
  std::array<int, kZeros> zeros_{};
};

/// State that encoder and decoder of a signal share.
struct G722Bands {
  G722Band low{32};
  G722Band high{8};
};

/// Encoder: two samples become one octet.
class G722BitEncoder {
 public:
  /// Encodes `in`. `out` must hold half as many elements as `in`.
  void encode(std::span<const int16_t> in, std::span<uint8_t> out);
  void set_bands(const G722Bands& bands) { bands_ = bands; }

 private:
  G722Bands bands_;
  std::array<int, 24> history_{};
};

class G722BitDecoder {
 public:
  /// Decodes `in`. `out` must hold twice as many elements as `in`.
  void decode(std::span<const uint8_t> in, std::span<int16_t> out);
  [[nodiscard]] const G722Bands& bands() const { return bands_; }

 private:
  G722Bands bands_;
  std::array<int, 24> history_{};
};

}  // namespace carillon
