// ITU-T G.722 at 64 kbit/s: 16 kHz audio in two bands of adaptive differential PCM. Bit-exact.
#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace carillon {

/// The adaptive predictor and step size of one band (G.722 §6.2 block 4, and blocks 3L, 3H).
class G722Band {
 public:
  explicit G722Band(int step) : step_(step) {}

  /// The value that is predicted next.
  [[nodiscard]] int predicted() const { return predicted_; }
  [[nodiscard]] int step() const { return step_; }
  /// `log_change`: of the step size, which stays under `log_limit`; `octaves`: its scale.
  void adapt_step(int log_change, int log_limit, int octaves);
  /// The quantised difference of this sample: the predictor follows it.
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
  // By age, the newest first.
  std::array<int, 2> reconstructed_{};
  std::array<int, 2> partial_{};
  std::array<int, 2> poles_{};
  std::array<int, kZeros> differences_{};
  std::array<int, kZeros> zeros_{};
};

/// What encoder and decoder of one signal have in common at any time.
struct G722Bands {
  G722Band low{32};
  G722Band high{8};
};

/// Two samples become an octet.
class G722BitEncoder {
 public:
  /// `out` has half as many as `in`.
  void encode(std::span<const int16_t> in, std::span<uint8_t> out);
  void set_bands(const G722Bands& bands) { bands_ = bands; }

 private:
  G722Bands bands_;
  std::array<int, 24> history_{};
};

class G722BitDecoder {
 public:
  /// `out` has twice as many as `in`.
  void decode(std::span<const uint8_t> in, std::span<int16_t> out);
  [[nodiscard]] const G722Bands& bands() const { return bands_; }

 private:
  G722Bands bands_;
  std::array<int, 24> history_{};
};

}  // namespace carillon
