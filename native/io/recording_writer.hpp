// Transfers recordings from the media thread to disk.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "core/base/frame.hpp"
#include "core/record/sample_ring.hpp"
#include "core/record/wav_header.hpp"
#include "io/wav_file.hpp"

namespace carillon {

/// Media thread's side of one recording. Never blocks or allocates.
class RecordingSink {
 public:
  enum class State : uint8_t { writing, closed, failed };

  RecordingSink(std::string path, const WavFormat& format);

  /// Media thread: adds interleaved samples. If the disk falls behind by more than the ring (4 s), samples
  /// are lost and counted. Equal silence is inserted later, so that the following audio keeps its position.
  void write(std::span<const Sample> interleaved) noexcept;
  /// Media thread: ends the recording. `state` shows when the file is complete.
  void finish() noexcept { finishing_.store(true, std::memory_order_release); }

  /// Any thread.
  [[nodiscard]] State state() const noexcept { return state_.load(std::memory_order_acquire); }
  /// Any thread, after the state has changed from `writing`: errno of the failure, or 0.
  [[nodiscard]] int error_number() const noexcept { return error_number_; }
  [[nodiscard]] uint64_t lost_samples() const noexcept { return lost_.load(std::memory_order_relaxed); }
  [[nodiscard]] SampleRate rate() const noexcept { return SampleRate(static_cast<int>(format_.rate_hz)); }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  friend class RecordingWriter;

  bool pay_back_silence() noexcept;
  /// Writer thread: writes due samples to the file. Returns false when the recording has ended.
  bool store(std::span<Sample> scratch) noexcept;
  void conclude() noexcept;

  std::string path_;
  WavFormat format_;
  SampleRing ring_;
  WavFile file_;
  // Media thread only.
  uint64_t owed_ = 0;
  // Shared state.
  std::atomic<uint64_t> lost_{0};
  std::atomic<bool> finishing_{false};
  std::atomic<State> state_{State::writing};
  int error_number_ = 0;  // published by state_
};

/// Writes all recordings on one thread, in blocks of one second.
class RecordingWriter {
 public:
  enum class Drive : uint8_t {
    thread,
    manual,  // no thread: the owner of the clock calls `store_now`
  };
  /// Maximum number of concurrent recordings; more are refused. Each uses 64 KB per channel at 8 kHz.
  static constexpr size_t kMaxRecordings = 4096;

  explicit RecordingWriter(Drive drive);
  /// Ends all recordings and waits until their files are complete.
  ~RecordingWriter();
  RecordingWriter(const RecordingWriter&) = delete;
  RecordingWriter& operator=(const RecordingWriter&) = delete;

  /// Control thread: creates the file. If it fails, the sink has the state `failed`, and error_number() has
  /// the reason.
  std::shared_ptr<RecordingSink> open(const std::string& path, const WavFormat& format);
  /// Writes all waiting samples. Called by the thread, or by the owner in manual mode.
  void store_now() noexcept;

 private:
  void run() noexcept;

  /// Held during disk writes, before `mutex_`.
  std::mutex storing_;
  std::vector<std::shared_ptr<RecordingSink>> round_;
  std::vector<Sample> scratch_;
  /// Held for short times only, because the control thread waits for it.
  std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<std::shared_ptr<RecordingSink>> recordings_;
  bool stopping_ = false;
  std::thread thread_;  // last, so that it starts after all other members are initialized
};

}  // namespace carillon
