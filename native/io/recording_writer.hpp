// Recordings on their way from the media tick to the disk.
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

/// The media thread's end of one recording: never blocks, never allocates.
class RecordingSink {
 public:
  enum class State : uint8_t { writing, closed, failed };

  RecordingSink(std::string path, const WavFormat& format);

  /// Media thread: interleaved samples. When the disk is too slow for the ring (4 s), samples are lost,
  /// counted, and replaced by as much silence later, so that what follows keeps its place in time.
  void write(std::span<const Sample> interleaved) noexcept;
  /// Media thread: nothing follows. `state` tells when the file is complete.
  void finish() noexcept { finishing_.store(true, std::memory_order_release); }

  /// Any thread.
  [[nodiscard]] State state() const noexcept { return state_.load(std::memory_order_acquire); }
  /// Any thread, once the state is not `writing`: errno of the failure, or 0.
  [[nodiscard]] int error_number() const noexcept { return error_number_; }
  [[nodiscard]] uint64_t lost_samples() const noexcept { return lost_.load(std::memory_order_relaxed); }
  [[nodiscard]] SampleRate rate() const noexcept { return SampleRate(static_cast<int>(format_.rate_hz)); }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  friend class RecordingWriter;

  bool pay_back_silence() noexcept;
  /// Writer thread: moves what is due to the file. False when the recording is over.
  bool store(std::span<Sample> scratch) noexcept;
  void conclude() noexcept;

  // Given.
  std::string path_;
  WavFormat format_;
  // Owned.
  SampleRing ring_;
  WavFile file_;
  // Media thread only.
  uint64_t owed_ = 0;
  // Shared.
  std::atomic<uint64_t> lost_{0};
  std::atomic<bool> finishing_{false};
  std::atomic<State> state_{State::writing};
  int error_number_ = 0;  // published by state_
};

/// One thread that stores all recordings in blocks of a second.
class RecordingWriter {
 public:
  enum class Drive : uint8_t {
    thread,
    manual,  // no thread: `store_now` is called by whoever advances time
  };
  /// More recordings than this at once are refused; each takes 64 KB a channel at 8 kHz.
  static constexpr size_t kMaxRecordings = 4096;

  explicit RecordingWriter(Drive drive);
  /// Ends every recording and waits for its file.
  ~RecordingWriter();
  RecordingWriter(const RecordingWriter&) = delete;
  RecordingWriter& operator=(const RecordingWriter&) = delete;

  /// Control thread: creates the file. A sink whose state is `failed` tells why by error_number().
  std::shared_ptr<RecordingSink> open(const std::string& path, const WavFormat& format);
  /// Stores everything that waits. The thread's own step; called from outside in manual drive.
  void store_now() noexcept;

 private:
  void run() noexcept;

  std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<std::shared_ptr<RecordingSink>> recordings_;
  std::vector<Sample> scratch_;
  bool stopping_ = false;
  std::thread thread_;  // last: it starts when all else stands
};

}  // namespace carillon
