#include "core/dsp/dtmf_detector.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>

#include "core/dsp/dtmf.hpp"

namespace carillon {
namespace {

constexpr float kQuietestMeanSquare = 260.0F * 260.0F;  // both tones together, about -42 dBov
// Minimum share of a window's energy in the two tones. A digit 1.5 percent off frequency (Q.24) with noise 10
// dB below has 0.77. A window at a digit's edge counts if five eighths of it are tone.
constexpr float kWindowShare = 0.63F;
// Minimum share once the exact frequencies are known, so that only noise reduces it: 9 dB.
constexpr double kPureShare = 0.89;
// Q.24 twist: the column may be 4 dB louder than the row, and the row 8 dB louder than the column. A margin
// of 1 dB is added. Within one window the louder tone can mask 3 dB of the other.
constexpr double kColumnLouder = 3.16;       // 5 dB
constexpr double kRowLouder = 7.94;          // 9 dB
constexpr float kWindowColumnLouder = 6.3F;  // 8 dB
constexpr float kWindowRowLouder = 15.8F;    // 12 dB
// Minimum power ratio between the strongest tone of a group and the others.
constexpr float kStandsOut = 2.5F;  // 4 dB
// Maximum energy ratio between the two halves of the analyzed audio.
constexpr float kSteady = 1.78F;  // 2.5 dB
// Q.24: 1.5 percent deviation must be accepted, 3.5 percent rejected.
constexpr double kDetuneMax = 0.025;
constexpr uint32_t kWindowsToBegin = 4;
constexpr uint32_t kWindowsToEnd = 4;
/// Windows after the beginning of a concealed frame in which a digit need not be pure: 60 ms.
constexpr uint32_t kDoubtful = 9;
constexpr uint32_t kDoubtfulToBegin = 3;
constexpr uint32_t kDoubtfulToEnd = 6;
constexpr double kClearShare = 0.9;

constexpr double radians_per_sample(double frequency_hz) {
  return 2.0 * std::numbers::pi * frequency_hz / kNarrowband.hz();
}

std::array<float, 8> keypad_turns() {
  std::array<float, 8> turns{};
  for (size_t i = 0; i < 4; ++i) {
    turns[i] = static_cast<float>(2.0 * std::cos(radians_per_sample(kDtmfLowHz[i])));
    turns[4 + i] = static_cast<float>(2.0 * std::cos(radians_per_sample(kDtmfHighHz[i])));
  }
  return turns;
}

const std::array<float, 8> kKeypadTurns = keypad_turns();

/// Returns the power at all eight frequencies. Scale: a single sine at one frequency yields the window's
/// energy.
std::array<float, 8> keypad_powers(std::span<const float> window) {
  std::array<float, 8> last{};
  std::array<float, 8> before{};
  for (const float sample : window) {
    for (size_t i = 0; i < last.size(); ++i) {
      const float next = sample + kKeypadTurns[i] * last[i] - before[i];
      before[i] = last[i];
      last[i] = next;
    }
  }
  std::array<float, 8> result{};
  const float scale = 2.0F / static_cast<float>(window.size());
  for (size_t i = 0; i < result.size(); ++i) {
    result[i] = scale * (last[i] * last[i] + before[i] * before[i] - kKeypadTurns[i] * last[i] * before[i]);
  }
  return result;
}

/// Returns the Fourier sum at one frequency. The phase is relative to the first sample.
std::complex<double> component(std::span<const float> audio, double frequency_hz) {
  const auto turn = std::polar(1.0, -radians_per_sample(frequency_hz));
  std::complex<double> phasor{1.0, 0.0};
  std::complex<double> sum{0.0, 0.0};
  for (const float sample : audio) {
    sum += static_cast<double>(sample) * phasor;
    phasor *= turn;
  }
  return sum;
}

/// Returns the same sum with a Hann window, which suppresses the other tone of the pair even if it is louder.
std::complex<double> windowed_component(std::span<const float> audio, double frequency_hz) {
  const double lobe_hz = static_cast<double>(kNarrowband.hz()) / static_cast<double>(audio.size());
  return 0.5 * component(audio, frequency_hz) - 0.25 * component(audio, frequency_hz - lobe_hz) -
         0.25 * component(audio, frequency_hz + lobe_hz);
}

float energy_of(std::span<const float> audio) {
  float energy = 0.0F;
  for (const float sample : audio) energy += sample * sample;
  return energy;
}

/// Returns the energy of a steady sine near `nominal_hz`, or zero if it is off frequency or not steady.
double sine_energy(std::span<const float> audio, double nominal_hz) {
  const size_t half = audio.size() / 2;
  const auto first = windowed_component(audio.first(half), nominal_hz);
  const auto second = windowed_component(audio.last(half), nominal_hz);
  const double ratio = std::norm(first) / std::max(std::norm(second), 1e-9);
  if (ratio > kSteady || ratio < 1.0 / kSteady) return 0.0;
  // The phase lead over a sine of the nominal frequency yields the actual frequency.
  const double expected = radians_per_sample(nominal_hz) * static_cast<double>(half);
  const double ahead = std::remainder(std::arg(second) - std::arg(first) - expected, 2.0 * std::numbers::pi);
  const double off_hz = ahead / static_cast<double>(half) * kNarrowband.hz() / (2.0 * std::numbers::pi);
  if (std::abs(off_hz) > kDetuneMax * nominal_hz) return 0.0;
  return 2.0 / static_cast<double>(audio.size()) * std::norm(component(audio, nominal_hz + off_hz));
}

/// Returns the index of the strongest tone of a group if it exceeds the others by kStandsOut.
std::optional<size_t> strongest(std::span<const float> group) {
  const auto best = static_cast<size_t>(std::ranges::max_element(group) - group.begin());
  for (size_t i = 0; i < group.size(); ++i) {
    if (i != best && group[best] < kStandsOut * group[i]) return std::nullopt;
  }
  return best;
}

}  // namespace

std::optional<char> DtmfDetector::feed(AudioView heard, bool concealed) noexcept {
  if (concealed) doubtful_windows_ = kDoubtful;
  Frame scratch(kNarrowband);
  std::span<const Sample> audio = narrow_.convert(heard, kNarrowband, scratch).samples;
  std::optional<char> pressed;
  while (!audio.empty()) {
    const size_t size = std::min(audio.size(), until_window_);
    std::copy(history_.begin() + static_cast<ptrdiff_t>(size), history_.end(), history_.begin());
    std::ranges::copy(audio.first(size), history_.end() - static_cast<ptrdiff_t>(size));
    audio = audio.subspan(size);
    until_window_ -= size;
    if (until_window_ > 0) break;
    until_window_ = kHop;
    if (doubtful_windows_ > 0) --doubtful_windows_;
    if (const auto digit = next_window()) pressed = digit;
  }
  return pressed;
}

/// Analyzes the next window. A digit spans several windows, so without a candidate every second one is
/// skipped. If the next window matches, the skipped one is analyzed too, so the result is the same.
std::optional<char> DtmfDetector::next_window() noexcept {
  if (!candidate_ && !sounding_ && !left_out_) {
    left_out_ = true;
    return std::nullopt;
  }
  const auto key = judge(std::span(history_).last<kWindow>());
  if (left_out_ && key) follow(judge(std::span(history_).subspan<kHop, kWindow>()));
  left_out_ = false;
  return follow(key);
}

std::optional<DtmfDetector::Key> DtmfDetector::judge(std::span<const float, kWindow> window) noexcept {
  const float energy = energy_of(window);
  if (energy < kQuietestMeanSquare * static_cast<float>(kWindow)) return std::nullopt;
  const auto power = keypad_powers(window);
  const auto row = strongest(std::span(power).first<4>());
  const auto column = strongest(std::span(power).last<4>());
  if (!row || !column) return std::nullopt;
  const float low = power[*row];
  const float high = power[4 + *column];
  if (high > low * kWindowColumnLouder || low > high * kWindowRowLouder) return std::nullopt;
  if (low + high < kWindowShare * energy) return std::nullopt;
  return 4 * *row + *column;
}

bool DtmfDetector::is_pure(Key key) const noexcept {
  const double low = sine_energy(history_, kDtmfLowHz[key / 4]);
  const double high = sine_energy(history_, kDtmfHighHz[key % 4]);
  if (low <= 0.0 || high > low * kColumnLouder || low > high * kRowLouder) return false;
  return low + high >= kPureShare * energy_of(history_);
}

/// Returns true if each of the last two windows consists of the two tones. Does not compare their phases.
bool DtmfDetector::is_clear(Key key) const noexcept {
  const auto clear = [key](std::span<const float> window) {
    const auto power = keypad_powers(window);
    const double low = power[key / 4];
    const double high = power[4 + key % 4];
    return high <= low * kColumnLouder && low <= high * kRowLouder &&
           low + high >= kClearShare * energy_of(window);
  };
  return clear(std::span(history_).last<kWindow>()) && clear(std::span(history_).subspan<kHop, kWindow>());
}

/// Counts consecutive matching windows to detect the beginning and the end of a digit.
std::optional<char> DtmfDetector::follow(std::optional<Key> key) noexcept {
  const bool doubtful = doubtful_windows_ > 0;
  candidate_windows_ = key && key == candidate_ ? candidate_windows_ + 1 : 1;
  candidate_ = key;
  if (sounding_) {
    const bool goes_on = key && kDtmfKeypad[*key] == *sounding_;
    windows_without_ = goes_on ? 0 : windows_without_ + 1;
    if (goes_on) return std::nullopt;
    if (windows_without_ >= (doubtful ? kDoubtfulToEnd : kWindowsToEnd)) sounding_.reset();
  }
  if (!key || candidate_windows_ < (doubtful ? kDoubtfulToBegin : kWindowsToBegin)) return std::nullopt;
  if (!is_pure(*key) && !(doubtful && is_clear(*key))) return std::nullopt;
  sounding_ = kDtmfKeypad[*key];
  windows_without_ = 0;
  return sounding_;
}

}  // namespace carillon
