#include "addon/speex.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <mutex>

extern "C" {
// NOLINTBEGIN: names of another project
struct SpeexPreprocessState_;
struct SpeexEchoState_;
// NOLINTEND
}

namespace carillon::speex {
namespace {

constexpr const char* kLibrary = "libspeexdsp.so.1";

// Requests of speex_preprocess.h and speex_echo.h (Speex DSP 1.2).
constexpr int kSetDenoise = 0;
constexpr int kSetAgc = 2;
constexpr int kSetNoiseSuppress = 18;
constexpr int kSetEchoState = 24;
constexpr int kSetAgcMaxGain = 30;
constexpr int kSetAgcTarget = 46;
constexpr int kSetEchoRate = 24;

constexpr int kNoiseSuppressDb = -18;
constexpr int kMaxGainDb = 15;
/// Target level of gain control: about -20 dBov for speech.
constexpr int kGainTarget = 8000;
/// Longest delay of an echo that is cancelled.
constexpr int kEchoTailMs = 400;

struct Functions {
  SpeexPreprocessState_* (*preprocess_init)(int frame_size, int rate);
  void (*preprocess_destroy)(SpeexPreprocessState_*);
  int (*preprocess_run)(SpeexPreprocessState_*, Sample*);
  int (*preprocess_ctl)(SpeexPreprocessState_*, int request, void* value);
  SpeexEchoState_* (*echo_init)(int frame_size, int filter_length);
  void (*echo_destroy)(SpeexEchoState_*);
  void (*echo_cancel)(SpeexEchoState_*, const Sample* heard, const Sample* sent, Sample* out);
  int (*echo_ctl)(SpeexEchoState_*, int request, void* value);
};

template <typename Function>
bool find(void* library, Function& to, const char* name) {
  to = reinterpret_cast<Function>(dlsym(library, name));
  return to != nullptr;
}

const Functions* open(std::string& why) {
  static std::mutex mutex;
  static Functions to{};
  static bool is_open = false;
  const std::scoped_lock lock(mutex);
  if (is_open) return &to;
  void* const library = dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    why = "the Speex DSP library is not installed: sudo apt-get install libspeexdsp1";
    return nullptr;
  }
  is_open = find(library, to.preprocess_init, "speex_preprocess_state_init") &&
            find(library, to.preprocess_destroy, "speex_preprocess_state_destroy") &&
            find(library, to.preprocess_run, "speex_preprocess_run") &&
            find(library, to.preprocess_ctl, "speex_preprocess_ctl") &&
            find(library, to.echo_init, "speex_echo_state_init") &&
            find(library, to.echo_destroy, "speex_echo_state_destroy") &&
            find(library, to.echo_cancel, "speex_echo_cancellation") &&
            find(library, to.echo_ctl, "speex_echo_ctl");
  if (is_open) return &to;  // stays open until the process ends
  why = "the Speex DSP library is too old: version 1.2 or later is required";
  return nullptr;
}

class Cleaner final : public AudioCleaner {
 public:
  Cleaner(const Functions& speex, const Options& options, SampleRate rate)
      : speex_(speex),
        rate_(rate),
        preprocess_(speex.preprocess_init(frame_size(), static_cast<int>(rate.hz()))) {
    set(kSetDenoise, options.noise ? 1 : 0);
    set(kSetNoiseSuppress, kNoiseSuppressDb);
    set(kSetAgc, options.gain ? 1 : 0);
    set(kSetAgcMaxGain, kMaxGainDb);
    set(kSetAgcTarget, kGainTarget);
    if (!options.echo) return;
    echo_ = speex.echo_init(frame_size(), kEchoTailMs * static_cast<int>(rate.per_ms()));
    auto hz = static_cast<int>(rate.hz());
    speex.echo_ctl(echo_, kSetEchoRate, &hz);
    // The preprocessor also removes what the canceller leaves.
    speex.preprocess_ctl(preprocess_, kSetEchoState, echo_);
  }
  ~Cleaner() override {
    speex_.preprocess_destroy(preprocess_);
    if (echo_ != nullptr) speex_.echo_destroy(echo_);
  }

  [[nodiscard]] SampleRate rate() const noexcept override { return rate_; }

  void sent(std::span<const Sample> audio) noexcept override {
    if (echo_ == nullptr) return;
    if (waiting_ == kWaiting) {  // the oldest frame has no counterpart
      first_ = (first_ + 1) % kWaiting;
      --waiting_;
    }
    std::ranges::copy(audio, sent_[(first_ + waiting_) % kWaiting].begin());
    ++waiting_;
  }

  void clean(std::span<Sample> audio) noexcept override {
    if (echo_ != nullptr) {
      std::array<Sample, kMaxFrameSamples> out;
      const Sample* const reference = waiting_ > 0 ? sent_[first_].data() : silence_.data();
      speex_.echo_cancel(echo_, audio.data(), reference, out.data());
      std::copy_n(out.begin(), audio.size(), audio.begin());
      if (waiting_ > 0) {
        first_ = (first_ + 1) % kWaiting;
        --waiting_;
      }
    }
    speex_.preprocess_run(preprocess_, audio.data());
  }

 private:
  static constexpr size_t kWaiting = 4;
  /// Streams to bots have at most 16 kHz.
  static constexpr size_t kLargestFrame = frame_samples(SampleRate(16000));

  [[nodiscard]] int frame_size() const { return static_cast<int>(frame_samples(rate_)); }
  void set(int request, int value) { speex_.preprocess_ctl(preprocess_, request, &value); }

  const Functions& speex_;
  SampleRate rate_;
  SpeexPreprocessState_* preprocess_;
  SpeexEchoState_* echo_ = nullptr;
  /// Sent frames without a received counterpart, oldest first.
  std::array<std::array<Sample, kLargestFrame>, kWaiting> sent_{};
  std::array<Sample, kLargestFrame> silence_{};
  size_t first_ = 0;
  size_t waiting_ = 0;
};

}  // namespace

std::string problem() {
  std::string why;
  open(why);
  return why;
}

std::unique_ptr<AudioCleaner> make_cleaner(const Options& options, SampleRate rate) {
  if (!options.noise && !options.echo && !options.gain) return nullptr;
  std::string why;
  const Functions* const speex = open(why);
  return speex == nullptr ? nullptr : std::make_unique<Cleaner>(*speex, options, rate);
}

}  // namespace carillon::speex
