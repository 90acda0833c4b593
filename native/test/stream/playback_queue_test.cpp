#include "core/stream/playback_queue.hpp"

#include <doctest/doctest.h>

#include <random>
#include <thread>

#include "core/stream/stream_playback.hpp"
#include "test/support/narrow.hpp"

namespace carillon {

namespace {
/// Delay debt that may remain when no audio is queued to reduce it.
constexpr Nanos kMaxFrameDebt = 700 * kMillisecond;

std::vector<Sample> ramp(size_t count, int from = 1) {
  std::vector<Sample> out(count);
  for (size_t i = 0; i < count; ++i) out[i] = static_cast<Sample>(from + static_cast<int>(i % 20000));
  return out;
}
}  // namespace

TEST_SUITE("playback queue") {
  TEST_CASE("returns its input for any division") {
    PlaybackQueue queue(kNarrowband, 100'000);
    const auto audio = ramp(10'000);
    std::mt19937 random(5);
    for (size_t at = 0; at < audio.size();) {
      const size_t count = std::min<size_t>(1 + random() % 500, audio.size() - at);
      CHECK(queue.push(std::span(audio).subspan(at, count)));
      at += count;
    }
    std::vector<Sample> back;
    while (queue.queued() > 0) {
      std::vector<Sample> piece(1 + random() % 300);
      piece.resize(queue.read(piece).samples);
      back.insert(back.end(), piece.begin(), piece.end());
    }
    CHECK(back == audio);
  }

  TEST_CASE("accepts a whole message or nothing") {
    PlaybackQueue queue(kNarrowband, 1000);
    CHECK(queue.push(ramp(900)));
    CHECK_FALSE(queue.push(ramp(101)));
    CHECK(queue.queued() == 900);
    CHECK(queue.push(ramp(100)));
  }

  TEST_CASE("limits the number of tiny messages") {
    PlaybackQueue queue(kNarrowband, 8000);
    int taken = 0;
    while (taken < 8000 && queue.push(ramp(1))) ++taken;
    CHECK(taken < 200);
  }

  TEST_CASE("limits cleared audio and checkpoints that the consumer has not dropped yet") {
    PlaybackQueue queue(kNarrowband, 8000);
    int pushed = 0;
    while (pushed < 50 && queue.push(ramp(8000))) {
      ++pushed;
      queue.clear();
    }
    CHECK(pushed == 2);
    int marked = 0;
    while (marked < 20'000 && queue.checkpoint(static_cast<uint32_t>(marked))) {
      ++marked;
      queue.clear();
    }
    CHECK(marked < 10'000);
    Frame frame(kNarrowband);
    CHECK(queue.read(frame).cleared);
    CHECK(queue.push(ramp(8000)));
    CHECK(queue.checkpoint(1));
  }

  TEST_CASE("reaches a checkpoint exactly after its last preceding sample, without losing audio") {
    PlaybackQueue queue(kNarrowband, 10'000);
    queue.push(ramp(200));
    queue.checkpoint(1);
    queue.checkpoint(2);
    queue.push(ramp(120));
    queue.checkpoint(3);
    Frame frame(kNarrowband);
    CHECK(queue.read(frame).samples == 160);
    CHECK_FALSE(queue.reached());
    CHECK(queue.read(frame).samples == 40);
    CHECK(queue.reached() == 1U);
    CHECK(queue.reached() == 2U);
    CHECK_FALSE(queue.reached());
    CHECK(queue.read(frame).samples == 120);
    CHECK(queue.reached() == 3U);
  }

  TEST_CASE(
      "clear drops audio and checkpoints immediately for the producer, and with a short fade for the line") {
    PlaybackQueue queue(kNarrowband, 10'000);
    queue.push(std::vector<Sample>(1000, 1000));
    queue.checkpoint(1);
    Frame frame(kNarrowband);
    queue.read(frame);
    queue.clear();
    CHECK(queue.queued() == 0);
    queue.push(std::vector<Sample>(100, 500));
    queue.checkpoint(2);
    CHECK(queue.queued() == 100);
    const PlaybackQueue::Taken taken = queue.read(frame);
    CHECK(taken.cleared);
    CHECK(taken.samples > 100);
    CHECK(taken.samples < 150);
    CHECK(std::abs(frame[taken.samples - 101]) < 60);  // faded out before the new audio begins
    CHECK(frame[taken.samples - 1] == 500);
    CHECK(queue.reached() == 2U);
    CHECK_FALSE(queue.reached());
  }

  TEST_CASE("a position names the last message that was heard, not messages that were dropped") {
    PlaybackQueue queue(kNarrowband, 100'000);
    Frame frame(kNarrowband);
    queue.push(ramp(8000));
    queue.read(frame);
    queue.read(frame);
    CHECK(queue.drop(frame).at.message_played_ms == 40);
    queue.push(ramp(2400));  // the audio of the old utterance that is still on its way
    queue.checkpoint(1);
    queue.skip();
    CHECK(queue.position().message == 1);
    CHECK(queue.reached() == 1U);
    queue.push(ramp(800));
    queue.clear();
    const PlayPosition at = queue.cleared_at();
    CHECK(at.played_ms == 0);
    CHECK(at.message == 1);
    CHECK(at.message_played_ms == 40);
    CHECK(at.message_ms == 1000);
    CHECK(at.discarded_ms == 100);
  }

  TEST_CASE("an interruption names the last checkpoint that it drops, but none that was reached before") {
    PlaybackQueue queue(kNarrowband, 80'000);
    Frame frame(kNarrowband);
    for (const uint32_t id : {1U, 2U, 3U}) {
      CHECK(queue.push(ramp(frame.size())));
      CHECK(queue.checkpoint(id));
    }
    CHECK(queue.push(ramp(frame.size())));
    CHECK(queue.read(frame.samples()).samples == frame.size());
    CHECK(queue.reached() == 1U);
    CHECK(queue.drop(frame.samples()).checkpoint == 3U);
    CHECK(queue.available() == 0);
    CHECK(queue.push(ramp(frame.size())));
    CHECK(queue.checkpoint(4));
    CHECK(queue.push(ramp(frame.size())));
    CHECK(queue.read(frame.samples()).samples == frame.size());
    CHECK(queue.reached() == 4U);
    CHECK(queue.drop(frame.samples()).checkpoint == std::nullopt);
    CHECK(queue.push(ramp(frame.size())));
    CHECK(queue.read(frame.samples()).samples == frame.size());
  }

  TEST_CASE("a second clear before anything was played names the message of the first") {
    PlaybackQueue queue(kNarrowband, 100'000);
    Frame frame(kNarrowband);
    queue.push(ramp(1600));
    queue.push(ramp(8000));
    for (int i = 0; i < 12; ++i) queue.read(frame);
    queue.push(ramp(800));
    queue.clear();
    CHECK(queue.cleared_at().message == 2);
    CHECK(queue.cleared_at().message_played_ms == 40);
    queue.read(frame);
    queue.push(ramp(400));
    queue.clear();
    CHECK(queue.cleared_at().message == 2);
    CHECK(queue.cleared_at().message_played_ms == 40);
    CHECK(queue.cleared_at().discarded_ms == 50);
    queue.read(frame);
    queue.checkpoint(7);
    queue.read(frame);
    CHECK(queue.position().message == 2);
    CHECK(queue.reached() == 7U);
  }

  TEST_CASE("transfers audio between two threads without loss, duplication or reordering") {
    PlaybackQueue queue(kNarrowband, 4000);
    constexpr int kTotal = 400'000;
    std::thread producer([&] {
      std::mt19937 random(1);
      for (int at = 0; at < kTotal;) {
        const int count = std::min<int>(1 + static_cast<int>(random() % 400), kTotal - at);
        std::vector<Sample> audio(static_cast<size_t>(count));
        for (int i = 0; i < count; ++i)
          audio[static_cast<size_t>(i)] = static_cast<Sample>((at + i) % 30'000);
        while (!queue.push(audio)) std::this_thread::yield();
        if (random() % 8 == 0) queue.checkpoint(static_cast<uint32_t>(at));
        at += count;
      }
    });
    int got = 0;
    int wrong = 0;
    Frame frame(kNarrowband);
    while (got < kTotal) {
      const size_t count = queue.read(frame).samples;
      for (size_t i = 0; i < count; ++i, ++got) wrong += frame[i] == got % 30'000 ? 0 : 1;
      while (queue.reached()) {
      }
      if (count == 0) std::this_thread::yield();
    }
    producer.join();
    CHECK(wrong == 0);
  }

  TEST_CASE("survives repeated clears in one thread while another thread plays") {
    PlaybackQueue queue(kNarrowband, 4000);
    std::atomic<bool> done{false};
    std::thread player([&] {
      Frame frame(kNarrowband);
      while (!done.load()) {
        queue.read(frame);
        while (queue.reached()) {
        }
      }
    });
    for (int i = 0; i < 20'000; ++i) {
      queue.push(ramp(200));
      if (i % 3 == 0) queue.checkpoint(static_cast<uint32_t>(i));
      if (i % 5 == 0) {
        queue.clear();
        CHECK(queue.queued() == 0);
      }
    }
    done = true;
    player.join();
  }
}

TEST_SUITE("stream playback") {
  TEST_CASE("starts without prebuffering and builds a cushion only after a gap within an utterance") {
    auto queue = std::make_shared<PlaybackQueue>(kNarrowband, 100'000);
    StreamPlayback playback(queue);
    Frame frame(kNarrowband);
    queue->push(ramp(kFrameSamples));
    Nanos now = kSecond;
    CHECK(playback.next(now, frame).audible);
    CHECK(playback.cushion() == Nanos{});
    // Three frames late in the middle of an utterance.
    for (int i = 0; i < 3; ++i) CHECK_FALSE(playback.next(now += kFrameTime, frame).audible);
    queue->push(ramp(kFrameSamples));
    CHECK_FALSE(playback.next(now += kFrameTime, frame).audible);  // waiting for the cushion
    CHECK(playback.cushion() > Nanos{});
    CHECK(playback.cushion() <= StreamPlayback::kMaxCushion);
    for (int i = 0; i < 5; ++i) queue->push(ramp(kFrameSamples));
    CHECK(playback.next(now += kFrameTime, frame).audible);
  }

  TEST_CASE("removes the delay of a real-time bot after a stall by skipping silent frames") {
    auto queue = std::make_shared<PlaybackQueue>(kNarrowband, 480'000);
    StreamPlayback playback(queue);
    Frame frame(kNarrowband);
    Nanos now = kSecond;
    const auto run = [&](int frames, const auto& pushes) {
      for (int i = 0; i < frames; ++i) {
        for (int k = pushes(i); k > 0; --k) queue->push(std::vector<Sample>(kFrameSamples, 0));
        playback.next(now += kFrameTime, frame);
      }
    };
    run(300, [](int) { return 1; });
    CHECK(queue->available() == 0);
    run(100, [](int i) { return i < 30 ? 0 : i == 30 ? 31 : 1; });
    CHECK(queue->available() <= 2 * kFrameSamples);
    CHECK(playback.debt() < kMaxFrameDebt);
  }

  TEST_CASE("removes the delay of a real-time bot after stalls of the media thread, despite its jitter") {
    auto queue = std::make_shared<PlaybackQueue>(kNarrowband, 480'000);
    StreamPlayback playback(queue);
    Frame frame(kNarrowband);
    Nanos now = kSecond;
    const auto push = [&] { queue->push(std::vector<Sample>(kFrameSamples, 0)); };
    const auto run = [&](int frames) {
      for (int i = 0; i < frames; ++i) {
        const bool late = i % 100 == 50;
        if (!late) push();
        if (i % 100 == 51) push();
        playback.next(now += kFrameTime, frame);
      }
    };
    run(600);
    for (int stall = 0; stall < 2; ++stall) {
      for (int i = 0; i < 50; ++i) push();
      now += kSecond;
      run(200);
      CHECK(queue->available() <= 6 * kFrameSamples);
    }
  }

  TEST_CASE("keeps the pauses of a bot that sends whole utterances") {
    auto queue = std::make_shared<PlaybackQueue>(kNarrowband, 480'000);
    StreamPlayback playback(queue);
    Frame frame(kNarrowband);
    Nanos now = kSecond;
    for (const int pause : {3, 4, 30, 60}) {
      queue->push(std::vector<Sample>(300 * kFrameSamples, 0));
      int audible = 0;
      for (int i = 0; i < 300 + pause; ++i)
        audible += playback.next(now += kFrameTime, frame).audible ? 1 : 0;
      CHECK(audible >= 296);
    }
  }

  TEST_CASE("delays a short single piece by at most the cushion") {
    auto queue = std::make_shared<PlaybackQueue>(kNarrowband, 100'000);
    StreamPlayback playback(queue);
    Frame frame(kNarrowband);
    Nanos now = kSecond;
    queue->push(ramp(kFrameSamples));
    playback.next(now, frame);
    playback.next(now += kFrameTime, frame);
    queue->push(ramp(kFrameSamples));
    int waited = 0;
    while (!playback.next(now += kFrameTime, frame).audible && waited < 20) ++waited;
    CHECK(waited * kFrameTime <= StreamPlayback::kMaxCushion);
  }
}

}  // namespace carillon
