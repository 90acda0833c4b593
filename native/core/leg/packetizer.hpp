// Converts frames to payloads of one coding. Negotiating another codec replaces the whole object.
#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "core/base/prefetch.hpp"
#include "core/codec/codec.hpp"

namespace carillon {

/// Collects audio until a packet is complete.
class Packetizer {
 public:
  static constexpr int kMaxPacketMs = 60;

  explicit Packetizer(std::unique_ptr<AudioEncoder> encoder) : encoder_(std::move(encoder)) {}

  /// Buffer for packets whose length differs from a frame. Without it, waiting audio is lost. wait_in()
  /// returns the previous buffer.
  using Room = std::vector<Sample>;
  [[nodiscard]] static Room room(SampleRate rate) {
    return Room(static_cast<size_t>(rate.per_ms()) * (kMaxPacketMs + kFrameMs));
  }
  void wait_in(Room& room) {
    waiting_.swap(room);
    drop();
  }

  /// Returns true if audio can wait for a complete packet.
  [[nodiscard]] bool can_wait() const { return !waiting_.empty(); }

  [[nodiscard]] const AudioEncoder& encoder() const { return *encoder_; }

  /// Adds audio, which must stay valid until keep() or take(). If a visit between two frames was missed, more
  /// audio waits than fits; the oldest is then dropped.
  void put(std::span<const Sample> audio) {
    keep();
    const size_t all = count_ + audio.size();
    if (all > waiting_.size()) remove(std::min(count_, all - waiting_.size()));
    fresh_ = audio;
  }
  /// Sets the bandwidth of the next audio: it has no content above half of this rate.
  void carries(SampleRate content) { encoder_->carries(content); }
  /// Requests another input rate. Allowed only while no audio waits. Returns true if encoder().rates()
  /// changed.
  bool take_at(SampleRate rate) { return encoder_->take_at(rate); }
  void expect_loss(int percent) { encoder_->expect_loss(percent); }
  /// Copies added audio that will not stay valid.
  void keep() {
    if (fresh_.empty()) return;
    const auto fresh = std::exchange(fresh_, {});
    if (count_ + fresh.size() > waiting_.size()) return;
    std::ranges::copy(fresh, waiting_.begin() + static_cast<std::ptrdiff_t>(count_));
    count_ += fresh.size();
  }
  /// Encodes the oldest `samples` samples. Returns 0 if they are not available.
  ByteCount take(Coding coding, SampleCount samples, std::span<uint8_t> out) {
    // Usually a packet is one frame, which is then encoded without copying.
    if (count_ == 0 && fresh_.size() == samples.count()) {
      return encoder_->encode(coding, std::exchange(fresh_, {}), out);
    }
    keep();
    if (count_ < samples.count()) return {};
    const auto audio = std::span<const Sample>(waiting_).first(samples.count());
    const ByteCount written = encoder_->encode(coding, audio, out);
    remove(samples.count());
    return written;
  }
  /// Encodes audio that was not added with put().
  ByteCount encode(Coding coding, std::span<const Sample> audio, std::span<uint8_t> out) {
    return encoder_->encode(coding, audio, out);
  }
  void drop() {
    count_ = 0;
    fresh_ = {};
  }
  [[nodiscard]] SampleCount waiting() const { return SampleCount(count_ + fresh_.size()); }

  /// Hints. expect(): put() will be called soon. expect_packet(): the same, after expect() has taken effect.
  void expect() const { prefetch(this, sizeof(*this)); }
  void expect_packet() const { encoder_->expect(); }

 private:
  /// Removes the oldest samples in the buffer.
  void remove(size_t samples) {
    const auto begin = waiting_.begin() + static_cast<std::ptrdiff_t>(samples);
    std::copy(begin, waiting_.begin() + static_cast<std::ptrdiff_t>(count_), waiting_.begin());
    count_ -= samples;
  }

  std::unique_ptr<AudioEncoder> encoder_;
  Room waiting_;
  size_t count_ = 0;
  std::span<const Sample> fresh_;
};

}  // namespace carillon
