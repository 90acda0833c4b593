#include "core/record/recorder.hpp"

#include <algorithm>

namespace carillon {
namespace {

Sample at(std::span<const Sample> audio, size_t index) {
  return index < audio.size() ? audio[index] : Sample{0};
}

}  // namespace

Recorder::Recorder(const Options& options, SampleRate rate) noexcept
    : options_(options), rate_(rate), stereo_(options.stereo && options.side == Side::both) {}

void Recorder::hear(AudioView received) noexcept {
  if (paused_ || end_) return;
  heard_ms_ += kFrameMs;
  const Nanos timeout = int64_t{options_.silence_end_ms} * kMillisecond;
  if (timeout > Nanos{}) voice_.feed(received);
  if (options_.max_ms > 0 && heard_ms_ >= options_.max_ms) {
    end_ = End::max_length;
  } else if (timeout > Nanos{} && voice_.silent_for() >= timeout) {
    end_ = End::silence;
  }
}

std::span<const Sample> Recorder::take(std::span<const Sample> received,
                                       std::span<const Sample> sent) noexcept {
  if (paused_) return {};
  const uint64_t max_samples = options_.max_ms * static_cast<uint64_t>(rate_.per_ms());
  uint64_t length = std::min(frame_samples(rate_), std::max(received.size(), sent.size()));
  if (options_.max_ms > 0) length = std::min(length, max_samples - recorded_);
  const auto count = static_cast<size_t>(length);
  // One loop per layout, without conditions for samples that both sides have, so that compilers vectorize it.
  const size_t common = std::min({count, received.size(), sent.size()});
  if (stereo_) {
    for (size_t i = 0; i < common; ++i) {
      block_[2 * i] = received[i];
      block_[2 * i + 1] = sent[i];
    }
    for (size_t i = common; i < count; ++i) {
      block_[2 * i] = at(received, i);
      block_[2 * i + 1] = at(sent, i);
    }
  } else if (options_.side == Side::both) {
    for (size_t i = 0; i < common; ++i) block_[i] = saturate(int32_t{received[i]} + int32_t{sent[i]});
    for (size_t i = common; i < count; ++i)
      block_[i] = saturate(int32_t{at(received, i)} + int32_t{at(sent, i)});
  } else {
    const auto wanted = options_.side == Side::received ? received : sent;
    for (size_t i = 0; i < count; ++i) block_[i] = at(wanted, i);
  }
  recorded_ += count;
  return std::span(block_).first(count * channels());
}

}  // namespace carillon
