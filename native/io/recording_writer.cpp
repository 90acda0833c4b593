#include "io/recording_writer.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>

namespace carillon {
namespace {

constexpr uint32_t kRingSeconds = 4;
constexpr auto kLookEvery = std::chrono::milliseconds(50);
// Block size for disk writes: one second of stereo at 16 kHz.
constexpr size_t kBlockSamples = 2UL * 16'000;
constexpr std::array<Sample, 320> kSilence{};

size_t samples_per_second(const WavFormat& format) { return size_t{format.rate_hz} * format.channels; }

}  // namespace

RecordingSink::RecordingSink(std::string path, const WavFormat& format)
    : path_(std::move(path)),
      format_(format),
      ring_(kRingSeconds * samples_per_second(format)),
      file_(path_, format) {
  if (file_.error_number() != 0) conclude();
}

void RecordingSink::write(std::span<const Sample> interleaved) noexcept {
  if (state() != State::writing) return;
  if (pay_back_silence() && ring_.push(interleaved)) return;
  owed_ += interleaved.size();
  lost_.fetch_add(interleaved.size(), std::memory_order_relaxed);
}

/// Writes owed silence. Returns true if none is left.
bool RecordingSink::pay_back_silence() noexcept {
  while (owed_ > 0) {
    const auto size = static_cast<size_t>(std::min<uint64_t>({owed_, kSilence.size(), ring_.room()}));
    if (size == 0) return false;
    ring_.push(std::span(kSilence).first(size));
    owed_ -= size;
  }
  return true;
}

bool RecordingSink::store(std::span<Sample> scratch) noexcept {
  // Read before emptying the ring, so that all samples pushed before finish() are seen.
  const bool last = finishing_.load(std::memory_order_acquire);
  if (!last && ring_.size() < samples_per_second(format_)) return true;
  while (const size_t count = ring_.pop(scratch)) {
    if (!file_.append(scratch.first(count))) {
      conclude();
      return false;
    }
  }
  if (last) conclude();
  return !last;
}

void RecordingSink::conclude() noexcept {
  file_.close();
  error_number_ = file_.error_number();
  state_.store(error_number_ == 0 ? State::closed : State::failed, std::memory_order_release);
}

RecordingWriter::RecordingWriter(Drive drive) : scratch_(kBlockSamples) {
  if (drive == Drive::thread) thread_ = std::thread([this] { run(); });
}

RecordingWriter::~RecordingWriter() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    for (const auto& recording : recordings_) recording->finish();
  }
  wake_.notify_one();
  if (thread_.joinable()) thread_.join();
  store_now();
}

std::shared_ptr<RecordingSink> RecordingWriter::open(const std::string& path, const WavFormat& format) {
  auto sink = std::make_shared<RecordingSink>(path, format);
  const std::lock_guard lock(mutex_);
  if (recordings_.size() >= kMaxRecordings) {
    sink->file_.close();
    sink->error_number_ = EMFILE;
    sink->state_.store(RecordingSink::State::failed, std::memory_order_release);
    return sink;
  }
  if (sink->state() == RecordingSink::State::writing) recordings_.push_back(sink);
  wake_.notify_one();
  return sink;
}

void RecordingWriter::store_now() noexcept {
  const std::lock_guard storing(storing_);
  {
    const std::lock_guard lock(mutex_);
    round_ = recordings_;
  }
  // Disk writes can take seconds. open(), on the control thread, must not wait for them.
  std::erase_if(round_, [this](const auto& recording) { return recording->store(scratch_); });
  const std::lock_guard lock(mutex_);
  for (const auto& ended : round_) std::erase(recordings_, ended);
  round_.clear();
}

void RecordingWriter::run() noexcept {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    // Without recordings, sleep until the next one begins.
    if (recordings_.empty()) {
      wake_.wait(lock, [this] { return stopping_ || !recordings_.empty(); });
    } else {
      wake_.wait_for(lock, kLookEvery);
    }
    lock.unlock();
    store_now();
    lock.lock();
  }
}

}  // namespace carillon
