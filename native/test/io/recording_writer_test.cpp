#include "io/recording_writer.hpp"

#include <doctest/doctest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <future>
#include <thread>
#include <vector>

#include "core/codec/g711.hpp"
#include "core/media_core.hpp"
#include "engine/recording_tap.hpp"
#include "engine/udp_socket.hpp"
#include "test/support/narrow.hpp"
#include "test/support/no_events.hpp"
#include "test/support/rtp_sink.hpp"
#include "test/support/signal.hpp"

namespace {

using carillon::RecordingSink;
using carillon::RecordingWriter;
using carillon::Sample;
using State = carillon::RecordingSink::State;

/// Separate directory for each test, removed at its end.
class Folder {
 public:
  Folder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "carillon-wav-XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  [[nodiscard]] std::string file(const char* name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

/// Blocks the thread that writes more than kLimit bytes to a file, in the handler of the signal for it, and
/// then fails the write with EFBIG.
class BlockedDisk {
 public:
  static constexpr rlim_t kLimit = 1000;

  BlockedDisk() {
    REQUIRE(::pipe(reached_) == 0);
    REQUIRE(::pipe(released_) == 0);
    struct sigaction action {};
    action.sa_handler = [](int) {
      char byte = 0;
      static_cast<void>(!::write(reached_[1], &byte, 1));
      static_cast<void>(!::read(released_[0], &byte, 1));
    };
    ::sigaction(SIGXFSZ, &action, &action_before_);
    ::getrlimit(RLIMIT_FSIZE, &limit_before_);
    const rlimit limit{kLimit, limit_before_.rlim_max};
    REQUIRE(::setrlimit(RLIMIT_FSIZE, &limit) == 0);
  }
  ~BlockedDisk() {
    ::setrlimit(RLIMIT_FSIZE, &limit_before_);
    ::sigaction(SIGXFSZ, &action_before_, nullptr);
    for (const int descriptor : {reached_[0], reached_[1], released_[0], released_[1]}) ::close(descriptor);
  }
  BlockedDisk(const BlockedDisk&) = delete;
  BlockedDisk& operator=(const BlockedDisk&) = delete;

  /// Returns when a thread is blocked.
  static void wait_for_write() {
    char byte = 0;
    REQUIRE(::read(reached_[0], &byte, 1) == 1);
  }
  static void release() {
    const char byte = 0;
    REQUIRE(::write(released_[1], &byte, 1) == 1);
  }

 private:
  inline static int reached_[2];
  inline static int released_[2];
  struct sigaction action_before_ {};
  rlimit limit_before_{};
};

struct Wav {
  uint32_t stated_bytes;
  std::vector<Sample> samples;  // all samples in the file, regardless of the header
};

Wav read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::vector<char> bytes((std::istreambuf_iterator<char>(file)), {});
  REQUIRE(bytes.size() >= carillon::kWavHeaderBytes);
  Wav wav{0, std::vector<Sample>((bytes.size() - carillon::kWavHeaderBytes) / 2)};
  std::memcpy(&wav.stated_bytes, bytes.data() + 40, 4);
  std::memcpy(wav.samples.data(), bytes.data() + carillon::kWavHeaderBytes, wav.samples.size() * 2);
  return wav;
}

/// Writes the signal in frames of 20 ms and stores after each.
void play_into(RecordingSink& sink, RecordingWriter& writer, std::span<const Sample> signal, size_t frame) {
  for (size_t at = 0; at + frame <= signal.size(); at += frame) {
    sink.write(signal.subspan(at, frame));
    writer.store_now();
  }
}

using namespace carillon;

constexpr LegHandle kRecorded{MediaCore::kMaxLegs + 1};
constexpr LegHandle kFar{MediaCore::kMaxLegs + 2};
constexpr uint8_t kKeypad = 101;
constexpr double kKeyLow = 770;
constexpr double kKeyHigh = 1336;

/// Bridge of two G.711 legs, of which the first is recorded in stereo, by default without digits.
struct RecordedBridge : RtpSink {
  explicit RecordedBridge(uint32_t rate, bool suppress_digits = true) : core(*this, events) {
    for (const LegHandle leg : {kRecorded, kFar}) {
      LegConfig config;
      config.handle = leg;
      core.add_leg(std::make_unique<Leg>(config));
      LegRemote remote;
      remote.receive.source.signalled = peer_of(leg);
      remote.receive.source.receiving = remote.send.sending = true;
      remote.receive.telephone_event = remote.send.telephone_event = kKeypad;
      core.leg(leg)->configure(remote, now);
    }
    core.bridge(kRecorded, kFar);
    concluding.add(TapHandle(2), RecordingEnd::stopped, 0, writer.open(folder.file("none.wav"), {}));
    path = folder.file("call.wav");
    auto tap = std::make_unique<RecordingTap>(TapHandle(1), Recorder::Options{.stereo = true},
                                              writer.open(path, {.rate_hz = rate, .channels = 2}),
                                              suppress_digits, RecordingTap::Source::packets);
    recording = tap.get();
    recording->conclude_to(concluding);
    std::unique_ptr<LegTap> added = std::move(tap);
    REQUIRE(core.leg(kRecorded)->add(added));
  }
  static Address peer_of(LegHandle leg) {
    return *parse_address("192.0.2.1", leg == kRecorded ? 4000 : 4002);
  }
  void send(LegHandle, const Address&, Bytes) override {}

  /// Sends a packet of both peers, of which one presses a key. `event`: samples since the start of an event
  /// that replaces the audio.
  void pass(LegHandle presses, std::span<const Sample> key = {}, std::optional<uint32_t> event = {}) {
    for (const LegHandle leg : {kRecorded, kFar}) {
      std::vector<uint8_t> packet(kRtpHeaderBytes + kFrameSamples, 0xff);
      const bool as_event = leg == presses && event;
      uint32_t timestamp = packets * kFrameSamples;
      if (as_event) {
        timestamp -= *event;
        const auto duration = static_cast<uint16_t>(*event + kFrameSamples);
        packet.resize(kRtpHeaderBytes + 4);
        packet[kRtpHeaderBytes] = 5;
        packet[kRtpHeaderBytes + 1] = 10;
        write_u16(packet, kRtpHeaderBytes + 2, duration);
      } else if (leg == presses && !key.empty()) {
        g711_encode(G711Law::mu, key, std::span(packet).subspan(kRtpHeaderBytes));
      }
      write_rtp_header({false, as_event ? kKeypad : uint8_t{0}, static_cast<uint16_t>(packets),
                        RtpTimestamp(timestamp), leg.value()},
                       packet);
      core.receive(leg, packet, peer_of(leg), now);
    }
    ++packets;
    for (int i = 0; i < kFrameMs; ++i) core.tick(now += kTick);
    writer.store_now();
  }
  void wait(int frames) {
    for (; frames > 0; --frames) pass(LegHandle());
  }
  /// Both peers' legs exchange a tone for 1.5 s, then silence for a second.
  void begin() {
    const auto tone = test::sine(400, 4000, kLineRate, kFrameSamples);
    for (int i = 0; i < 75; ++i) pass(i % 2 == 0 ? kRecorded : kFar, tone);
    wait(50);
  }
  /// Presses a key for `samples` samples from `offset` in the next packet on.
  void press(LegHandle leg, size_t offset, size_t samples) {
    std::vector<Sample> audio((offset + samples + kFrameSamples - 1) / kFrameSamples * kFrameSamples);
    const std::span<Sample> from = std::span(audio).subspan(offset);
    test::add(from, test::sine(kKeyLow, 6000, kLineRate, samples));
    test::add(from, test::sine(kKeyHigh, 6000, kLineRate, samples));
    for (size_t at = 0; at < audio.size(); at += kFrameSamples) {
      pass(leg, std::span(audio).subspan(at, kFrameSamples));
    }
  }
  /// Ends the recording. Returns the loudest key frequency of both sides in any 10 ms after begin(), as an
  /// amplitude.
  double loudest(int rate) {
    recording->stop();
    writer.store_now();
    const Wav wav = read(path);
    seconds = static_cast<double>(wav.samples.size()) / 2 / rate;
    double most = 0;
    const auto window = static_cast<size_t>(rate / 100);
    CHECK(test::rms(std::span(wav.samples).first(3 * static_cast<size_t>(rate))) > 1000);
    for (size_t side = 0; side < 2; ++side) {
      for (auto at = 2 * static_cast<size_t>(rate); 2 * (at + window) <= wav.samples.size();
           at += window / 2) {
        std::vector<Sample> part(window);
        for (size_t i = 0; i < window; ++i) part[i] = wav.samples[2 * (at + i) + side];
        for (const double hz : {kKeyLow, kKeyHigh})
          most = std::max(most, test::fit_sine(part, hz, rate).amplitude);
      }
    }
    return most;
  }

  const Folder folder;
  std::string path;
  NoEvents events;
  MediaCore core;
  RecordingWriter writer{RecordingWriter::Drive::manual};
  ConcludingRecordings concluding;
  RecordingTap* recording = nullptr;
  Nanos now = kSecond;
  uint32_t packets = 0;
  double seconds = 0;
};

/// Loudest audible rest of a key of this amplitude, 6,000 per tone.
constexpr double kInaudible = 30;

}  // namespace

TEST_CASE("recording: contains no keys of either peer, as tones, as events or with a tone before the event") {
  for (const uint32_t rate : {8000U, 16'000U}) {
    for (const LegHandle leg : {kRecorded, kFar}) {
      RecordedBridge call(rate);
      call.begin();
      for (const size_t samples : {size_t{400}, size_t{640}, size_t{1600}}) {
        for (size_t offset = 0; offset < kFrameSamples; offset += 47) {
          call.press(leg, offset, samples);
          call.wait(5);
        }
      }
      CAPTURE(rate);
      CAPTURE(leg.value());
      CHECK(call.loudest(static_cast<int>(rate)) < kInaudible);
      CHECK(call.seconds > 4);
    }
    for (const LegHandle leg : {kRecorded, kFar}) {
      RecordedBridge call(rate);
      call.begin();
      // A gateway that detects tones lets their beginning pass.
      for (const size_t leaked : {size_t{0}, size_t{80}, size_t{160}, size_t{240}, size_t{320}}) {
        if (leaked > 0) call.press(leg, (kFrameSamples - leaked % kFrameSamples) % kFrameSamples, leaked);
        for (uint32_t frame = 0; frame < 5; ++frame) call.pass(leg, {}, frame * kFrameSamples);
        call.wait(10);
      }
      CAPTURE(rate);
      CAPTURE(leg.value());
      CHECK(call.loudest(static_cast<int>(rate)) < kInaudible);
    }
  }
}

TEST_CASE(
    "recording: contains no key that we send as a tone, and none pressed while a pause begins or ends") {
  RecordedBridge sends(8000);
  sends.begin();
  for (int i = 0; i < 5; ++i) {
    auto job = std::make_unique<DigitJob>();
    job->handle = JobHandle(static_cast<uint32_t>(i) + 1);
    job->inband = true;
    job->steps = {{'5', 5, 5}};
    REQUIRE(sends.core.leg(kRecorded)->add(job));
    sends.wait(13);
    static_cast<void>(sends.core.leg(kRecorded)->remove_job(JobHandle(static_cast<uint32_t>(i) + 1)));
  }
  CHECK(sends.loudest(8000) < kInaudible);

  for (const LegHandle leg : {kRecorded, kFar}) {
    for (int frames = 0; frames < 6; ++frames) {
      RecordedBridge call(8000);
      call.begin();
      call.press(leg, 0, static_cast<size_t>(frames) * kFrameSamples);
      call.recording->pause(true);
      call.press(leg, 0, 5 * kFrameSamples);
      call.recording->pause(false);
      call.press(leg, 0, static_cast<size_t>(5 - frames) * kFrameSamples);
      call.wait(100);
      CAPTURE(leg.value());
      CAPTURE(frames);
      CHECK(call.loudest(8000) < kInaudible);
    }
  }
}

TEST_CASE("recording: a key that still sounds after a pause is silent, and later keys are recorded") {
  for (const LegHandle leg : {kRecorded, kFar}) {
    for (const bool key_after : {false, true}) {
      RecordedBridge call(8000, false);
      call.begin();
      call.recording->pause(true);
      call.press(leg, 0, 5 * kFrameSamples);
      call.recording->pause(false);
      call.press(leg, 0, 15 * kFrameSamples);
      call.wait(20);
      if (key_after) call.press(leg, 0, 5 * kFrameSamples);
      call.wait(100);
      CAPTURE(leg.value());
      CHECK((call.loudest(8000) < kInaudible) == !key_after);
    }
  }
}

TEST_CASE("recording: a finished file contains every sample and a correct header") {
  const Folder folder;
  const auto path = folder.file("a.wav");
  RecordingWriter writer(RecordingWriter::Drive::manual);
  const auto sink = writer.open(path, {.rate_hz = 8000, .channels = 1});
  const auto signal = carillon::test::noise(3000.0, 12320, 1);
  play_into(*sink, writer, signal, 160);
  CHECK(sink->state() == State::writing);
  sink->finish();
  writer.store_now();
  CHECK(sink->state() == State::closed);
  const auto wav = read(path);
  CHECK(wav.samples == signal);
  CHECK(wav.stated_bytes == signal.size() * 2);
  CHECK(sink->lost_samples() == 0);
}

TEST_CASE("recording: after a crash, the file is playable up to the last two seconds") {
  const Folder folder;
  const auto path = folder.file("b.wav");
  RecordingWriter writer(RecordingWriter::Drive::manual);
  const auto sink = writer.open(path, {.rate_hz = 8000, .channels = 2});
  const auto signal = carillon::test::noise(3000.0, 2 * 8000 * 25, 2);
  play_into(*sink, writer, signal, 320);
  const auto wav = read(path);
  // A second is being collected, and one more may not be in the header yet.
  CHECK(wav.stated_bytes >= 4 * 8000 * 23);
  CHECK(wav.stated_bytes <= wav.samples.size() * 2);
  // At most the second being collected is not in the file yet.
  CHECK(wav.samples.size() >= 2 * 8000 * 24);
}

TEST_CASE("recording: replaces samples lost to a slow disk with silence and keeps the position of the rest") {
  const Folder folder;
  const auto path = folder.file("c.wav");
  RecordingWriter writer(RecordingWriter::Drive::manual);
  const auto sink = writer.open(path, {.rate_hz = 8000, .channels = 1});
  const auto signal = carillon::test::noise(3000.0, 8000 * 6, 3);
  // Six seconds without disk writes; the ring holds four.
  for (size_t at = 0; at < signal.size(); at += 160) sink->write(std::span(signal).subspan(at, 160));
  CHECK(sink->lost_samples() == 8000 * 2);
  writer.store_now();
  const std::vector<Sample> after(160, 1234);
  sink->write(after);
  sink->finish();
  writer.store_now();
  const auto wav = read(path);
  REQUIRE(wav.samples.size() == signal.size() + after.size());
  CHECK(std::equal(signal.begin(), signal.begin() + 8000 * 4, wav.samples.begin()));
  CHECK(carillon::test::rms(std::span(wav.samples).subspan(8000 * 4, 8000 * 2)) == 0.0);
  CHECK(wav.samples.back() == 1234);
}

TEST_CASE("recording: fails immediately with errno for a path that cannot be written") {
  RecordingWriter writer(RecordingWriter::Drive::manual);
  const auto sink = writer.open("/nonexistent-folder/x.wav", {});
  CHECK(sink->state() == State::failed);
  CHECK(sink->error_number() == ENOENT);
  sink->write(std::vector<Sample>(160));
  sink->finish();
  writer.store_now();
}

TEST_CASE("recording: ends as `failed` on a full disk without affecting other recordings") {
  const Folder folder;
  RecordingWriter writer(RecordingWriter::Drive::manual);
  const auto full = writer.open("/dev/full", {});
  CHECK(full->state() == State::failed);
  CHECK(full->error_number() == ENOSPC);
  const auto good = writer.open(folder.file("d.wav"), {});
  good->write(std::vector<Sample>(160, 5));
  good->finish();
  writer.store_now();
  CHECK(good->state() == State::closed);
}

TEST_CASE("recording: the writer's thread stores automatically, and its end completes all files") {
  const Folder folder;
  const auto path = folder.file("e.wav");
  const auto rest = folder.file("f.wav");
  std::shared_ptr<RecordingSink> open_ended;
  {
    RecordingWriter writer(RecordingWriter::Drive::thread);
    const auto sink = writer.open(path, {});
    open_ended = writer.open(rest, {});
    sink->write(std::vector<Sample>(8000, 7));
    open_ended->write(std::vector<Sample>(800, 9));
    sink->finish();
    while (sink->state() == State::writing) std::this_thread::yield();
    CHECK(sink->state() == State::closed);
    CHECK(read(path).samples.size() == 8000);
  }
  CHECK(open_ended->state() == State::closed);
  CHECK(read(rest).samples == std::vector<Sample>(800, 9));
}

TEST_CASE("recording: a new recording does not wait for the disk writes of others") {
  Folder folder;
  RecordingWriter writer(RecordingWriter::Drive::manual);
  const auto slow = writer.open(folder.file("slow.wav"), {});
  slow->write(std::vector<Sample>(8000, 1));
  slow->finish();
  BlockedDisk disk;
  std::thread storing([&writer] { writer.store_now(); });
  disk.wait_for_write();
  auto opened = std::async(std::launch::async, [&] { return writer.open(folder.file("new.wav"), {}); });
  CHECK(opened.wait_for(std::chrono::seconds(5)) == std::future_status::ready);
  disk.release();
  storing.join();
  const auto sink = opened.get();
  CHECK(sink->state() == State::writing);
  // The recording that was opened during the writes is stored by the next ones.
  sink->write(std::vector<Sample>(10, 1));
  sink->finish();
  writer.store_now();
  CHECK(sink->state() == State::closed);
  CHECK(slow->error_number() == EFBIG);
}

TEST_CASE("recording: files are readable by their owner only") {
  const Folder folder;
  RecordingWriter writer(RecordingWriter::Drive::manual);
  const auto sink = writer.open(folder.file("g.wav"), {});
  const auto mode = std::filesystem::status(sink->path()).permissions();
  CHECK((mode & (std::filesystem::perms::group_all | std::filesystem::perms::others_all)) ==
        std::filesystem::perms::none);
}
