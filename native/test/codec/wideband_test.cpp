#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <random>
#include <vector>

#include "core/codec/codec.hpp"
#include "core/codec/g722.hpp"
#include "test/support/signal.hpp"

namespace carillon {

namespace {

constexpr CodecSpec kG722{.coding = Coding::g722, .sample_rate = SampleRate(16000)};
constexpr CodecSpec kOpus{.coding = Coding::opus, .sample_rate = SampleRate(24000), .fec = true};

uint64_t fnv(std::span<const uint8_t> bytes) {
  uint64_t value = 0xcbf2'9ce4'8422'2325;
  for (const uint8_t byte : bytes) value = (value ^ byte) * 0x100'0000'01b3;
  return value;
}

/// Encodes packets of `packet_ms` and decodes them in parts of 10 ms. The packets in `lost` are dropped.
std::vector<Sample> through(const CodecSpec& spec, std::span<const Sample> signal, int packet_ms,
                            const std::vector<size_t>& lost = {}, int expected_loss_percent = 0) {
  const auto encoder = make_encoder(spec);
  encoder->expect_loss(expected_loss_percent);
  const auto decoder = make_decoder(spec);
  const SessionRates rates = encoder->rates();
  const auto samples = static_cast<size_t>(packet_ms * rates.sample.per_ms());
  const auto part = static_cast<size_t>(10 * rates.sample.per_ms());
  std::vector<std::vector<uint8_t>> packets;
  for (size_t at = 0; at + samples <= signal.size(); at += samples) {
    std::vector<uint8_t> payload(encoder->max_payload());
    payload.resize(encoder->encode(spec.coding, signal.subspan(at, samples), payload).count());
    CHECK(decoder->duration(spec.coding, payload) == rates.ticks(SampleCount(samples)));
    packets.push_back(payload);
  }
  std::vector<Sample> heard;
  for (size_t i = 0; i < packets.size(); ++i) {
    const RtpTime begins(static_cast<int64_t>(i) * rates.ticks(SampleCount(samples)).count());
    if (std::ranges::find(lost, i) != lost.end()) {
      std::vector<Sample> out(samples);
      decoder->conceal(out, i + 1 < packets.size() ? Bytes(packets[i + 1]) : Bytes());
      heard.insert(heard.end(), out.begin(), out.end());
      continue;
    }
    for (size_t into = 0; into < samples; into += part) {
      std::vector<Sample> out(part);
      decoder->decode({spec.coding, packets[i], begins, rates.ticks(SampleCount(into))}, out);
      heard.insert(heard.end(), out.begin(), out.end());
    }
  }
  return heard;
}

double level(std::span<const Sample> audio) {
  double sum = 0;
  for (const Sample sample : audio) sum += static_cast<double>(sample) * sample;
  return std::sqrt(sum / static_cast<double>(audio.size()));
}

/// Returns the fraction of the energy between two frequencies.
double share_between(std::span<const Sample> audio, double low_hz, double high_hz, double rate_hz) {
  double energy = 0;
  for (const Sample sample : audio) energy += static_cast<double>(sample) * sample;
  const double step = rate_hz / static_cast<double>(audio.size());
  double found = 0;
  for (double hz = low_hz; hz < high_hz; hz += step) {
    std::complex<double> sum;
    for (size_t i = 0; i < audio.size(); ++i) {
      sum += std::polar<double>(audio[i], -2 * std::numbers::pi * hz * static_cast<double>(i) / rate_hz);
    }
    found += 2 * std::norm(sum) / static_cast<double>(audio.size());
  }
  return found / energy;
}

}  // namespace

TEST_SUITE("wideband codecs") {
  TEST_CASE("G.722 is bit-exact with other implementations") {
    // Digests of the same noise processed by libspandsp's encoder and ffmpeg's decoder.
    std::mt19937 random(7);
    std::vector<uint8_t> codes(16'000);
    for (uint8_t& code : codes) code = static_cast<uint8_t>(random());
    std::vector<Sample> decoded(2 * codes.size());
    G722BitDecoder().decode(codes, decoded);
    CHECK(fnv({reinterpret_cast<const uint8_t*>(decoded.data()), decoded.size() * 2}) ==
          0xe88a'a2a4'b01c'1dc1);

    std::vector<Sample> noise(32'000);
    for (Sample& sample : noise) sample = static_cast<Sample>(random());
    G722BitEncoder().encode(noise, codes);
    CHECK(fnv(codes) == 0xfe0e'bdc3'fdab'1768);
  }

  TEST_CASE("G.722 carries 6.5 kHz at any packet time") {
    const auto signal = test::sine(6500, 8000, 16000, 16'000);
    for (const int packet_ms : {10, 20, 30, 40, 50, 60}) {
      const auto heard = through(kG722, signal, packet_ms);
      const auto steady = std::span(heard).subspan(4800, 8000);
      CHECK(test::fit_sine(steady, 6500, 16000).amplitude == doctest::Approx(8000).epsilon(0.1));
    }
  }

  TEST_CASE("G.722 conceals a lost packet without a click or a wrong level afterwards") {
    const auto signal = test::sine(400, 8000, 16000, 16'000);
    const auto whole = through(kG722, signal, 20);
    const auto heard = through(kG722, signal, 20, {20, 21});
    const auto at = [&](const std::vector<Sample>& audio, size_t frame) {
      return level(std::span(audio).subspan(frame * 320, 320));
    };
    CHECK(at(heard, 20) > 0.7 * at(whole, 20));
    CHECK(at(heard, 24) == doctest::Approx(at(whole, 24)).epsilon(0.1));
    int steepest = 0;
    for (size_t i = 1; i < heard.size(); ++i)
      steepest = std::max(steepest, std::abs(heard[i] - heard[i - 1]));
    CHECK(steepest < 3000);  // the sine itself: 1250
  }

  TEST_CASE("L16 is lossless") {
    for (const int rate : {8000, 16000}) {
      const CodecSpec spec{.coding = Coding::l16, .sample_rate = SampleRate(rate)};
      const auto signal = test::sine(1000, 20000, rate, static_cast<size_t>(rate));
      const auto heard = through(spec, signal, 20);
      // The output is delayed by the concealer's 3.75 ms.
      const auto delay = static_cast<size_t>(rate / 1000 * 15 / 4);
      CHECK(std::equal(heard.begin() + static_cast<std::ptrdiff_t>(delay), heard.end(), signal.begin()));
    }
    CHECK(make_encoder({.coding = Coding::l16, .sample_rate = SampleRate(16000)})->packet_ms(60) == 40);
  }

  TEST_CASE("Opus carries 11 kHz at 24 kHz with every packet length") {
    const auto signal = test::sine(11'000, 6000, 24000, 48'000);
    for (const int packet_ms : {10, 20, 40, 60}) {
      const auto heard = through(kOpus, signal, packet_ms);
      const auto steady = std::span(heard).subspan(24'000, 12'000);
      CHECK(level(steady) > 0.5 * level(signal));
      CHECK(share_between(steady.first(1200), 10'000, 12'000, 24'000) > 0.7);
    }
    CHECK(make_encoder(kOpus)->packet_ms(30) == 20);
    CHECK(make_encoder(kOpus)->packet_ms(50) == 40);
  }

  TEST_CASE("Opus recovers losses from the next packet or conceals them, and accepts any bytes") {
    const auto signal = test::sine(300, 8000, 24000, 48'000);
    const auto heard = through(kOpus, signal, 20, {40}, 5);
    const auto lost = std::span(heard).subspan(40 * 480, 480);
    CHECK(level(lost) > 0.3 * level(signal));

    const auto decoder = make_decoder(kOpus);
    std::mt19937 random(11);
    for (int64_t i = 0; i < 2000; ++i) {
      std::vector<uint8_t> payload(random() % 400);
      for (uint8_t& byte : payload) byte = static_cast<uint8_t>(random());
      const RtpTicks duration = decoder->duration(Coding::opus, payload);
      CHECK(duration <= RtpClockRate(48000).in(120 * kMillisecond));
      std::vector<Sample> out(480);
      if (duration > RtpTicks()) decoder->decode({Coding::opus, payload, RtpTime(i * 960), {}}, out);
      decoder->conceal(std::span(out).first(1 + random() % 480), payload);
    }
  }

  TEST_CASE("Opus repeats lost audio in the next packet if losses are expected and FEC is enabled") {
    // The lost audio cannot be extrapolated from the audio before it.
    auto signal = test::sine(300, 8000, 24000, 48'000);
    const auto later = test::sine(700, 8000, 24000, 48'000);
    std::copy(later.begin() + 40 * 480, later.end(), signal.begin() + 40 * 480);
    CodecSpec without = kOpus;
    without.fec = false;
    const auto found = [&](const CodecSpec& spec, int expected_loss_percent) {
      const auto heard = through(spec, signal, 20, {41}, expected_loss_percent);
      const auto whole = through(spec, signal, 20, {}, expected_loss_percent);
      double wrong = 0;
      for (size_t i = 41 * 480; i < 42 * 480; ++i) wrong += std::pow(heard[i] - whole[i], 2);
      return std::sqrt(wrong / 480) / level(std::span(whole).subspan(41 * 480, 480));
    };
    CHECK(found(kOpus, 0) > 0.5);
    CHECK(found(without, 5) > 0.5);
    for (const int percent : {1, 5, 20, 100}) CHECK(found(kOpus, percent) < 0.3);
  }

  TEST_CASE("Opus narrows the bandwidth in a pause, or after a time limit, and widens it immediately") {
    const auto encoder = make_encoder(kOpus);
    const std::vector<Sample> pause(480);
    const auto tone = test::sine(1000, 8000, 24000, 480);
    std::vector<uint8_t> payload(encoder->max_payload());
    // Configuration in the first octet (RFC 6716 §3.1): 0 to 3 are SILK narrowband, hybrid starts at 12.
    const auto configuration = [&](std::span<const Sample> audio, SampleRate content) {
      encoder->carries(content);
      REQUIRE(encoder->encode(Coding::opus, audio, payload).count() > 0);
      return payload[0] >> 3;
    };
    for (int i = 0; i < 24; ++i) CHECK(configuration(pause, SampleRate(8000)) >= 12);
    CHECK(configuration(tone, SampleRate(8000)) >= 12);
    CHECK(configuration(pause, SampleRate(8000)) < 4);
    CHECK(configuration(tone, SampleRate(8000)) < 4);
    CHECK(configuration(tone, SampleRate(24000)) >= 12);
    for (int i = 0; i < 249; ++i) CHECK(configuration(tone, SampleRate(8000)) >= 12);
    CHECK(configuration(tone, SampleRate(8000)) < 4);
  }

  TEST_CASE(
      "Opus lowers the input rate in a pause after narrowing the bandwidth, and raises it immediately") {
    const auto encoder = make_encoder(kOpus);
    const SampleRate low(8000);
    std::vector<uint8_t> payload(encoder->max_payload());
    const auto encode = [&](double amplitude, SampleRate content) {
      const SampleRate rate = encoder->rates().sample;
      encoder->carries(content);
      const auto audio = test::sine(1000, amplitude, rate.hz(), static_cast<size_t>(rate.per_ms()) * 20);
      REQUIRE(encoder->encode(Coding::opus, audio, payload).count() > 0);
      return payload[0] >> 3;
    };
    CHECK_FALSE(encoder->take_at(kOpus.sample_rate));
    CHECK_FALSE(encoder->take_at(low));
    for (int i = 0; i < 24; ++i) encode(0, low);
    CHECK_FALSE(encoder->take_at(low));  // bandwidth not yet reduced
    CHECK(encode(0, low) < 4);
    encode(8000, low);
    CHECK_FALSE(encoder->take_at(low));
    encode(100, low);
    CHECK(encoder->take_at(low));
    CHECK(encoder->rates().sample == low);
    CHECK_FALSE(encoder->take_at(low));
    for (int i = 0; i < 10; ++i) CHECK(encode(8000, low) < 4);
    CHECK(encoder->take_at(SampleRate(48'000)));
    CHECK(encoder->rates().sample == kOpus.sample_rate);
    CHECK(encode(8000, low) < 4);
    CHECK(encode(8000, kOpus.sample_rate) >= 12);
  }

  TEST_CASE("Opus does not clip dense high tones of half level") {
    for (const int hz : {16'000, 24'000, 48'000}) {
      for (unsigned seed = 0; seed < 12; ++seed) {
        // 430 to 6730 Hz, then other combinations.
        std::mt19937 random(seed);
        const double step = seed == 0 ? 900 : 200 + static_cast<double>(random() % 800);
        const double lowest = seed == 0 ? 430 : 300 + static_cast<double>(random() % 500);
        std::vector<double> sum(static_cast<size_t>(hz) * 2);
        for (double tone = lowest; tone <= 6730; tone += step) {
          const double phase = static_cast<double>(random() % 628) / 100;
          for (size_t i = 0; i < sum.size(); ++i) {
            sum[i] += std::sin(2 * std::numbers::pi * tone * static_cast<double>(i) / hz + phase);
          }
        }
        const double peak =
            std::abs(*std::ranges::max_element(sum, {}, [](double v) { return std::abs(v); }));
        std::vector<Sample> signal(sum.size());
        std::ranges::transform(sum, signal.begin(),
                               [&](double v) { return static_cast<Sample>(16'383 * v / peak); });
        const CodecSpec spec{.coding = Coding::opus, .sample_rate = SampleRate(hz)};
        const std::vector<Sample> heard = through(spec, signal, 20);
        const auto clipped =
            std::ranges::count_if(heard, [](Sample s) { return std::abs(int{s}) >= 32'767; });
        CAPTURE(hz);
        CAPTURE(seed);
        CHECK(clipped == 0);
      }
    }
  }

  TEST_CASE("Opus does not send silence if the peer enables DTX") {
    CodecSpec spec = kOpus;
    spec.dtx = true;
    const auto encoder = make_encoder(spec);
    std::vector<Sample> silence(480);
    std::vector<uint8_t> payload(encoder->max_payload());
    int sent = 0;
    for (int i = 0; i < 100; ++i) sent += encoder->encode(Coding::opus, silence, payload).count() > 0 ? 1 : 0;
    CHECK(sent < 40);
    CHECK(sent > 0);
  }
}

}  // namespace carillon
