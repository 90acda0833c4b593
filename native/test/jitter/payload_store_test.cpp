#include "core/jitter/payload_store.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <random>
#include <vector>

#include "core/jitter/ordered_read.hpp"
#include "test/support/narrow.hpp"

namespace carillon {

namespace {

constexpr int64_t kCapacity = 4096;
/// Minimum kept time in ticks for packets that arrive up to three of the longest packets late.
constexpr int64_t kKept = 1920;

struct Store : PayloadStore {
  Store() : PayloadStore(RtpClockRate(8000), 8000) {}
};

/// Writes one octet per tick, as G.711.
PayloadStore::Written write(PayloadStore& store, int64_t timestamp, Bytes payload,
                            Coding coding = Coding::pcmu) {
  return store.write(RtpTime(timestamp), RtpTicks(static_cast<int64_t>(payload.size())), coding, payload);
}

int64_t end_of(const PayloadStore& store) { return store.end().since_zero().count(); }

PayloadStore::Run run_at(const PayloadStore& store, int64_t timestamp, int64_t limit) {
  return store.run_at(RtpTime(timestamp), RtpTicks(limit));
}

bool complete(const PayloadStore& store, int64_t timestamp, int64_t length) {
  return store.complete(RtpTime(timestamp), RtpTicks(length));
}

/// Returns the octet at a tick, or nullopt if it is missing.
std::optional<int> octet_at(const PayloadStore& store, int64_t timestamp) {
  const PayloadStore::Run run = store.run_at(RtpTime(timestamp), RtpTicks(1));
  if (run.part.coding == Coding::missing) return std::nullopt;
  return run.part.payload[static_cast<size_t>(run.part.into.count())];
}

/// Test codec with state and indivisible payloads. A payload has its number, its duration in units of 80
/// ticks and the number of the previous packet. The samples show their packet and how it was obtained.
class Serial final : public AudioDecoder {
 public:
  static constexpr Sample kRecovered = 1000;
  static constexpr Sample kConcealed = -1;

  [[nodiscard]] SessionRates rates() const override { return {RtpClockRate(8000), SampleRate(8000)}; }
  [[nodiscard]] RtpTicks duration(Coding /*coding*/, Bytes payload) const override {
    return RtpTicks(payload.size() < 3 ? 0 : 80 * int64_t{payload[1]});
  }
  void decode(const PacketPart& part, std::span<Sample> out) override {
    if (begins_ != part.begins) {
      REQUIRE(part.into == RtpTicks());  // starts with the first part
      decoded.push_back(part.payload[0]);
    } else {
      REQUIRE(part.into == until_);
    }
    begins_ = part.begins;
    until_ = part.into + rates().ticks(SampleCount(out.size()));
    std::ranges::fill(out, Sample{part.payload[0]});
  }
  void silence(std::span<Sample> out) override { std::ranges::fill(out, Sample{0}); }
  void conceal(std::span<Sample> out, Bytes following) override {
    const bool recovered = following.size() >= 3;
    std::ranges::fill(out, recovered ? static_cast<Sample>(kRecovered + following[2]) : kConcealed);
  }
  [[nodiscard]] bool decodes(Coding coding) const override { return coding == Coding::pcmu; }
  [[nodiscard]] size_t octets_per_second() const override { return 8000; }

  std::vector<int> decoded;

 private:
  std::optional<RtpTime> begins_;
  RtpTicks until_;
};

}  // namespace

TEST_SUITE("payload store") {
  TEST_CASE("stores packets of any length and order at their time") {
    Store store;
    const std::vector<uint8_t> one(80, 1);
    const std::vector<uint8_t> two(240, 2);
    CHECK(write(store, 1000, one) == PayloadStore::Written::stored);
    CHECK(write(store, 1160, two) == PayloadStore::Written::stored);
    CHECK(end_of(store) == 1400);
    CHECK_FALSE(complete(store, 1000, 160));
    CHECK(run_at(store, 1080, 200).length.count() == 80);
    CHECK(run_at(store, 1080, 200).part.coding == Coding::missing);
    CHECK(write(store, 1080, one) == PayloadStore::Written::stored);
    CHECK(complete(store, 1000, 400));
    CHECK(run_at(store, 1200, 400).part.into == RtpTicks(40));
    CHECK(run_at(store, 1200, 400).part.begins == RtpTime(1160));
  }

  TEST_CASE("ends a packet at the next one, and continues it after one that lies within it") {
    Store store;
    write(store, 1000, std::vector<uint8_t>(240, 1));
    write(store, 1160, std::vector<uint8_t>(240, 2));
    CHECK(octet_at(store, 1159) == 1);
    CHECK(octet_at(store, 1160) == 2);
    std::vector<uint8_t> counting(320);
    for (size_t i = 0; i < counting.size(); ++i) counting[i] = static_cast<uint8_t>(i);
    write(store, 2000, counting);
    write(store, 2080, std::vector<uint8_t>(80, 255));
    CHECK(octet_at(store, 2079) == 79);
    CHECK(octet_at(store, 2080) == 255);
    CHECK(octet_at(store, 2160) == 160);
    CHECK(octet_at(store, 2319) == (319 & 255));
    write(store, 2000, std::vector<uint8_t>(40, 7));  // the same time again, but shorter
    CHECK(octet_at(store, 2039) == 7);
    CHECK(octet_at(store, 2040) == 40);
    CHECK(octet_at(store, 2080) == 255);
    CHECK(complete(store, 2000, 320));
    store.fill_silence_until(RtpTime(2600));
    write(store, 2400, std::vector<uint8_t>(80, 9));
    CHECK(run_at(store, 2480, 400).part.coding == Coding::silence);
    CHECK(run_at(store, 2480, 400).length.count() == 120);
  }

  TEST_CASE("removes packets older than its capacity and rejects jumps beyond it") {
    Store store;
    const std::vector<uint8_t> audio(160, 5);
    write(store, 0, audio);
    for (int64_t at = 160; at < 2 * kCapacity; at += 160) write(store, at, audio);
    CHECK_FALSE(complete(store, 0, 160));
    CHECK(write(store, 0, audio) == PayloadStore::Written::too_old);
    CHECK(write(store, end_of(store) + kCapacity, audio) == PayloadStore::Written::jumped);
    CHECK(write(store, end_of(store) + kCapacity - 160, audio) == PayloadStore::Written::stored);
    CHECK_FALSE(complete(store, end_of(store) - 320, 160));
  }

  TEST_CASE("limits the number of packets and octets; removed packets are missing") {
    Store store;
    const std::vector<uint8_t> tiny(10, 1);
    for (int64_t i = 0; i < 200; ++i) write(store, 10 * i, tiny);
    CHECK(complete(store, 2000 - 10 * int64_t{PayloadStore::kMaxPackets}, 10 * PayloadStore::kMaxPackets));
    CHECK_FALSE(octet_at(store, 2000 - 10 * int64_t{PayloadStore::kMaxPackets} - 1));
    // 20 ms at 500 kbit/s, of which two fit.
    for (int64_t i = 0; i < 20; ++i) {
      store.write(RtpTime(4000 + 160 * i), RtpTicks(160), Coding::pcmu,
                  std::vector<uint8_t>(1250, static_cast<uint8_t>(i)));
    }
    CHECK(octet_at(store, end_of(store) - 1) == 19);
    CHECK(octet_at(store, end_of(store) - 2 * 160) == 18);
    CHECK_FALSE(octet_at(store, end_of(store) - 3 * 160));
    CHECK(run_at(store, end_of(store) - 10 * 160, 4096).part.coding == Coding::missing);
    CHECK(store.write(store.end(), RtpTicks(160), Coding::pcmu, std::vector<uint8_t>(2880 + 1)) ==
          PayloadStore::Written::too_long);
    CHECK(store.write(store.end(), RtpTicks(), Coding::pcmu, tiny) == PayloadStore::Written::too_long);
  }

  TEST_CASE("returns every octet of packets of 10 to 60 ms with loss and delay") {
    std::mt19937 random(11);
    Store store;
    std::map<int64_t, uint8_t> sent;
    struct Packet {
      int64_t timestamp;
      std::vector<uint8_t> payload;
    };
    std::vector<Packet> on_the_way;
    int64_t timestamp = 0;
    for (int i = 0; i < 1500; ++i) {
      Packet packet{timestamp, std::vector<uint8_t>(80 * (1 + random() % 6))};
      for (auto& octet : packet.payload) octet = static_cast<uint8_t>(random());
      timestamp += static_cast<int64_t>(packet.payload.size());
      if (random() % 10 != 0) on_the_way.push_back(std::move(packet));
      if (on_the_way.size() < 3 && random() % 4 == 0) continue;  // the next one may overtake
      std::ranges::shuffle(on_the_way, random);
      for (const Packet& arrived : on_the_way) {
        REQUIRE(write(store, arrived.timestamp, arrived.payload) == PayloadStore::Written::stored);
        for (size_t at = 0; at < arrived.payload.size(); ++at) {
          sent[arrived.timestamp + static_cast<int64_t>(at)] = arrived.payload[at];
        }
      }
      on_the_way.clear();
      bool same = true;
      for (int64_t at = end_of(store) - kKept; at < end_of(store) + 10;) {
        const PayloadStore::Run run = run_at(store, at, 1 + random() % 200);
        REQUIRE(run.length.count() > 0);
        const auto into = static_cast<size_t>(run.part.into.count());
        for (size_t n = 0; n < static_cast<size_t>(run.length.count()); ++n, ++at) {
          const auto expected = sent.find(at);
          const bool missing = run.part.coding == Coding::missing;
          same = same && missing == (expected == sent.end()) &&
                 (missing || run.part.payload[into + n] == expected->second);
        }
      }
      REQUIRE(same);
      sent.erase(sent.begin(), sent.lower_bound(end_of(store) - kKept));
    }
  }

  TEST_CASE("knows the whole of a minute of silence") {
    Store store;
    write(store, 0, std::vector<uint8_t>(160, 5));
    for (int64_t at = 160; at <= 480'160; at += 4000) store.fill_silence_until(RtpTime(at));
    CHECK(end_of(store) == 480'160);
    CHECK(complete(store, end_of(store) - kCapacity, kCapacity));
  }

  TEST_CASE("ends a section where the coding changes, and counts declared silence as complete") {
    Store store;
    const std::vector<uint8_t> audio(100, 5);
    write(store, 1000, audio);
    write(store, 1100, audio, Coding::pcma);
    store.fill_silence_until(RtpTime(1250));
    store.fill_silence_until(RtpTime(1300));
    CHECK(run_at(store, 1000, 400).length.count() == 100);
    CHECK(run_at(store, 1100, 400).part.coding == Coding::pcma);
    CHECK(run_at(store, 1100, 400).length.count() == 100);
    CHECK(run_at(store, 1200, 400).part.coding == Coding::silence);
    CHECK(run_at(store, 1200, 400).length.count() == 100);
    CHECK(run_at(store, 1300, 400).part.coding == Coding::missing);
    CHECK(complete(store, 1000, 300));
    CHECK_FALSE(complete(store, 1000, 301));
  }
}

TEST_SUITE("ordered read") {
  TEST_CASE("passes each packet to a codec with state once, whole and in order, for any length") {
    for (const int units : {1, 2, 3, 4, 6}) {  // 10 to 60 ms; a frame is 20 ms
      Store store;
      Serial codec;
      const int packets = 24;
      for (int i = packets - 1; i >= 0; --i) {  // in reverse order
        const std::vector<uint8_t> payload{static_cast<uint8_t>(i), static_cast<uint8_t>(units), 0};
        REQUIRE(store.write(RtpTime(80 * i * units), codec.duration(Coding::pcmu, payload), Coding::pcmu,
                            payload) == PayloadStore::Written::stored);
        if (80 * (packets - i) * units >= 3200) break;  // limited to its capacity
      }
      const auto first =
          static_cast<int>(packets - std::min(packets, (3200 + 80 * units - 1) / (80 * units)));
      std::vector<Sample> heard;
      for (int64_t at = 80 * first * units; at < end_of(store); at += static_cast<int64_t>(kFrameSamples)) {
        Frame frame(kNarrowband);
        CHECK(read_in_order(store, RtpTime(at), codec, frame.samples()) ==
              SampleCount(at + 160 > end_of(store) ? 80 : 0));
        heard.insert(heard.end(), frame.begin(), frame.end());
      }
      std::vector<int> expected;
      for (int i = first; i < packets; ++i) expected.push_back(i);
      CHECK(codec.decoded == expected);
      for (size_t i = 0; i < static_cast<size_t>(80 * (packets - first) * units); ++i) {
        REQUIRE(heard[i] == first + static_cast<int>(i) / (80 * units));
      }
    }
  }

  TEST_CASE("offers the next packet for concealment if it has arrived") {
    Store store;
    Serial codec;
    for (const int i : {0, 2, 5}) {
      const std::vector<uint8_t> payload{static_cast<uint8_t>(i), 2, static_cast<uint8_t>(i - 1)};
      store.write(RtpTime(160 * i), RtpTicks(160), Coding::pcmu, payload);
    }
    std::vector<int> heard;
    for (int64_t at = 0; at < 7 * 160; at += 160) {
      Frame frame(kNarrowband);
      read_in_order(store, RtpTime(at), codec, frame.samples());
      heard.push_back(frame[0]);
      CHECK(std::ranges::all_of(frame, [&](Sample sample) { return sample == frame[0]; }));
    }
    CHECK(heard == std::vector<int>{0, Serial::kRecovered + 1, 2, Serial::kConcealed, Serial::kRecovered + 4,
                                    5, Serial::kConcealed});
  }
}

}  // namespace carillon
