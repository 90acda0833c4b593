#include "core/stream/playback_queue.hpp"

#include <algorithm>

#include "core/dsp/fade.hpp"

namespace carillon {

namespace {
/// Minimum mean block length in ms. It bounds the memory of many tiny messages.
constexpr size_t kMinBlockMs = 10;
/// Maximum number of checkpoints in addition to the messages. Clients have at most 1000 pending ones.
constexpr size_t kMaxCheckpoints = 4096;
}  // namespace

PlaybackQueue::PlaybackQueue(SampleRate rate, size_t capacity_samples)
    : rate_(rate), capacity_(capacity_samples) {
  blocks_.push_back(std::make_unique<Block>());  // never empty: the consumer always refers to a block
  current_ = blocks_.front().get();
  cut_last_ = last_ = current_;
}

void PlaybackQueue::release() {
  const uint64_t in_use = in_use_serial_.load(std::memory_order_acquire);
  while (blocks_.size() > 1 && blocks_.front()->serial < in_use) {
    const Block& block = *blocks_.front();
    const int64_t played = block.heard.load(std::memory_order_relaxed);
    if (played > 0) released_ = {block.message, played, static_cast<int64_t>(block.audio.size())};
    held_ -= block.audio.size();
    blocks_.pop_front();
  }
}

size_t PlaybackQueue::max_messages() const {
  return capacity_ / (kMinBlockMs * static_cast<size_t>(rate_.per_ms()));
}

void PlaybackQueue::append(std::unique_ptr<Block> block) {
  release();
  block->serial = next_serial_++;
  if (block->is_message) ++messages_;
  block->message = messages_;
  if (block->checkpoint) last_checkpoint_ = {block->serial, *block->checkpoint};
  block->last_checkpoint = last_checkpoint_;
  block->end = written_.load(std::memory_order_relaxed) + static_cast<int64_t>(block->audio.size());
  Block* const last = blocks_.back().get();
  held_ += block->audio.size();
  Block* const added = block.get();
  blocks_.push_back(std::move(block));
  written_.store(added->end, std::memory_order_relaxed);
  // First, because the consumer may use a block as soon as it follows another.
  last_.store(added, std::memory_order_release);
  last->next.store(added, std::memory_order_release);
}

bool PlaybackQueue::push(std::span<const Sample> audio) {
  if (audio.empty()) return true;
  if (queued() + audio.size() > capacity_) return false;
  release();
  if (blocks_.size() > max_messages() || held_ + audio.size() > 2 * capacity_) return false;
  auto block = std::make_unique<Block>();
  block->audio.assign(audio.begin(), audio.end());
  block->is_message = true;
  append(std::move(block));
  return true;
}

bool PlaybackQueue::checkpoint(uint32_t id) {
  release();
  if (blocks_.size() > max_messages() + kMaxCheckpoints) return false;
  auto block = std::make_unique<Block>();
  block->checkpoint = id;
  append(std::move(block));
  return true;
}

uint32_t PlaybackQueue::ms_of(int64_t samples) const {
  return static_cast<uint32_t>(std::max<int64_t>(0, samples) / rate_.per_ms());
}

void PlaybackQueue::describe(const Heard& heard, PlayPosition& at) const {
  at.message = heard.message;
  at.message_played_ms = ms_of(heard.played);
  at.message_ms = ms_of(heard.size);
}

/// Publishes how far the consumer had played before this clear.
void PlaybackQueue::publish_clear() {
  release();
  const int64_t start = read_.load(std::memory_order_acquire);
  // The consumer publishes the block before the position in it.
  const uint64_t in_use = in_use_serial_.load(std::memory_order_acquire);
  PlayPosition at;
  at.clears = ++clears_;
  at.played_ms = ms_of(start - std::max(cut_position_, counted_from_.load(std::memory_order_acquire)));
  at.discarded_ms = ms_of(written_.load(std::memory_order_relaxed) - std::max(start, cut_position_));
  // The message being played, or the last one that was heard. Dropped messages do not count.
  Heard last = released_;
  for (const auto& block : blocks_) {
    if (block->serial > in_use) break;
    const auto size = static_cast<int64_t>(block->audio.size());
    const int64_t played =
        std::min(block->heard.load(std::memory_order_relaxed), start - (block->end - size));
    if (played > 0) last = {block->message, played, size};
  }
  describe(last, at);
  cleared_at_.publish(at);
}

void PlaybackQueue::clear() {
  // A repeated clear keeps the position of the first.
  if (written_.load(std::memory_order_relaxed) > cut_position_ || clears_ == 0) publish_clear();
  cut_position_ = written_.load(std::memory_order_relaxed);
  cut_last_.store(blocks_.back().get(), std::memory_order_release);
  cut_serial_.store(next_serial_, std::memory_order_release);
  release();
}

size_t PlaybackQueue::queued() const {
  const int64_t start = std::max(read_.load(std::memory_order_acquire), cut_position_);
  return static_cast<size_t>(std::max<int64_t>(0, written_.load(std::memory_order_relaxed) - start));
}

size_t PlaybackQueue::available() const {
  const uint64_t cut = cut_serial_.load(std::memory_order_acquire);
  if (cut > applied_cut_) return 0;  // the next read drops the queued audio
  const int64_t waiting = written_.load(std::memory_order_acquire) - read_.load(std::memory_order_relaxed);
  return static_cast<size_t>(std::max<int64_t>(0, waiting));
}

PlaybackQueue::Block* PlaybackQueue::following() { return current_->next.load(std::memory_order_acquire); }

/// Drops the audio before the block with the number `cut`.
size_t PlaybackQueue::apply_clear(uint64_t cut, std::span<Sample> out) {
  applied_cut_ = cut;
  // The last read may have reached audio that follows the clear.
  if (current_->serial >= cut) return 0;
  // Belongs to this clear or to a newer one. The producer keeps the block until the consumer has passed it.
  Block& last = *cut_last_.load(std::memory_order_acquire);
  applied_cut_ = last.serial + 1;
  return drop_until(last, out);
}

/// Drops the audio up to the end of `last`, without visiting the blocks before it.
size_t PlaybackQueue::drop_until(Block& last, std::span<Sample> out) {
  const size_t left = current_->audio.size() - offset_;
  const size_t faded = std::min({left, fade_samples(rate_), out.size()});
  std::copy_n(current_->audio.begin() + static_cast<std::ptrdiff_t>(offset_), faded, out.begin());
  fade_out(out.first(faded), faded);
  current_ = &last;
  offset_ = current_->audio.size();
  current_->checkpoint.reset();
  counted_from_.store(current_->end, std::memory_order_release);
  in_use_serial_.store(current_->serial, std::memory_order_release);
  read_.store(current_->end, std::memory_order_release);
  return faded;
}

PlayPosition PlaybackQueue::position() const {
  PlayPosition at;
  const int64_t now = read_.load(std::memory_order_relaxed);
  at.played_ms = ms_of(now - counted_from_.load(std::memory_order_relaxed));
  describe(heard_, at);
  return at;
}

PlaybackQueue::Dropped PlaybackQueue::drop(std::span<Sample> out) {
  Dropped dropped;
  dropped.at = position();
  dropped.at.discarded_ms = ms_of(static_cast<int64_t>(available()));
  dropped.checkpoint = current_->checkpoint;
  Block& last = *last_.load(std::memory_order_acquire);  // blocks appended later stay in the queue
  if (last.last_checkpoint.serial > current_->serial) dropped.checkpoint = last.last_checkpoint.id;
  dropped.samples = drop_until(last, out);
  return dropped;
}

bool PlaybackQueue::skip() {
  if (const uint64_t cut = cut_serial_.load(std::memory_order_acquire); cut > applied_cut_) {
    apply_clear(cut, {});
    return true;
  }
  offset_ = current_->audio.size();
  while (!current_->checkpoint) {
    Block* const next = following();
    if (next == nullptr) break;
    enter(next);
    offset_ = current_->audio.size();
  }
  read_.store(current_->end, std::memory_order_release);
  counted_from_.store(current_->end, std::memory_order_release);
  return false;
}

void PlaybackQueue::enter(Block* next) {
  current_ = next;
  offset_ = 0;
  in_use_serial_.store(current_->serial, std::memory_order_release);
}

PlaybackQueue::Taken PlaybackQueue::read(std::span<Sample> out) {
  Taken taken;
  if (const uint64_t cut = cut_serial_.load(std::memory_order_acquire); cut > applied_cut_) {
    taken.cleared = true;
    taken.samples = apply_clear(cut, out);
  }
  while (taken.samples < out.size()) {
    const size_t left = current_->audio.size() - offset_;
    if (left == 0) {
      if (current_->checkpoint) break;  // reached() must consume it first
      Block* const next = following();
      if (next == nullptr) break;
      enter(next);
      continue;
    }
    const size_t count = std::min(left, out.size() - taken.samples);
    std::copy_n(current_->audio.begin() + static_cast<std::ptrdiff_t>(offset_), count,
                out.begin() + static_cast<std::ptrdiff_t>(taken.samples));
    offset_ += count;
    taken.samples += count;
    heard_ = {current_->message, static_cast<int64_t>(offset_), static_cast<int64_t>(current_->audio.size())};
    current_->heard.store(heard_.played, std::memory_order_relaxed);
  }
  read_.store(current_->end - static_cast<int64_t>(current_->audio.size() - offset_),
              std::memory_order_release);
  return taken;
}

std::optional<uint32_t> PlaybackQueue::reached() {
  if (cut_serial_.load(std::memory_order_acquire) > applied_cut_) return std::nullopt;
  while (offset_ == current_->audio.size()) {
    if (current_->checkpoint) {
      const uint32_t id = *current_->checkpoint;
      current_->checkpoint.reset();
      counted_from_.store(current_->end, std::memory_order_release);
      return id;
    }
    Block* const next = following();
    // Audio is left in the queue; only checkpoints are consumed.
    if (next == nullptr || !next->checkpoint) return std::nullopt;
    enter(next);
  }
  return std::nullopt;
}

}  // namespace carillon
