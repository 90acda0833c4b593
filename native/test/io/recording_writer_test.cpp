#include "io/recording_writer.hpp"

#include <doctest/doctest.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

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

}  // namespace

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

TEST_CASE("recording: files are readable by their owner only") {
  const Folder folder;
  RecordingWriter writer(RecordingWriter::Drive::manual);
  const auto sink = writer.open(folder.file("g.wav"), {});
  const auto mode = std::filesystem::status(sink->path()).permissions();
  CHECK((mode & (std::filesystem::perms::group_all | std::filesystem::perms::others_all)) ==
        std::filesystem::perms::none);
}
