#include <doctest/doctest.h>

#include <random>
#include <string>

#include "core/base/base64.hpp"
#include "core/stream/media_message.hpp"
#include "core/stream/play_message.hpp"
#include "core/stream/stream_input.hpp"
#include "test/support/narrow.hpp"
#include "test/support/signal.hpp"

namespace carillon {

namespace {

std::string encode(std::string_view text) {
  std::vector<uint8_t> out(base64_length(text.size()));
  base64_encode({reinterpret_cast<const uint8_t*>(text.data()), text.size()}, out);
  return {out.begin(), out.end()};
}

std::optional<std::string> decode(std::string_view text) {
  std::vector<uint8_t> out(base64_decoded_limit(text.size()));
  const auto bytes = base64_decode(text, out);
  if (!bytes) return std::nullopt;
  return std::string(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(*bytes));
}

}  // namespace

TEST_SUITE("base64 (RFC 4648)") {
  TEST_CASE("matches the vectors of §10") {
    const std::array<std::pair<std::string, std::string>, 7> vectors{{{"", ""},
                                                                      {"f", "Zg=="},
                                                                      {"fo", "Zm8="},
                                                                      {"foo", "Zm9v"},
                                                                      {"foob", "Zm9vYg=="},
                                                                      {"fooba", "Zm9vYmE="},
                                                                      {"foobar", "Zm9vYmFy"}}};
    for (const auto& [plain, text] : vectors) {
      CHECK(encode(plain) == text);
      CHECK(decode(text) == plain);
    }
  }

  TEST_CASE("accepts missing padding and rejects characters outside the alphabet") {
    CHECK(decode("Zg") == "f");
    CHECK(decode("Zm8") == "fo");
    for (const char* bad :
         {"Z", "Zg=", "Zm9v=", "Zm 9v", "Zm9\n", "Zm9-", "Z===", "====", "Zg==Zg==", "\xff\xff\xff\xff"}) {
      CAPTURE(bad);
      CHECK_FALSE(decode(bad));
    }
  }

  TEST_CASE("encodes and decodes any bytes without change") {
    std::mt19937 random(3);
    for (int i = 0; i < 2000; ++i) {
      std::string bytes(random() % 200, '\0');
      for (char& byte : bytes) byte = static_cast<char>(random());
      CHECK(decode(encode(bytes)) == bytes);
    }
  }
}

TEST_SUITE("playAudio scanner") {
  constexpr std::string_view kMessage =
      R"({"event":"playAudio","streamId":"s","media":{"contentType":"audio/x-l16","sampleRate":16000,"payload":"AAAA"}})";

  TEST_CASE("parses a simple message") {
    const auto message = scan_play_message(kMessage);
    REQUIRE(message);
    CHECK(message->stream_id == "s");
    CHECK(message->content_type == "audio/x-l16");
    CHECK(message->sample_rate == "16000");
    CHECK(message->payload == "AAAA");
  }

  TEST_CASE("handles every truncation and every changed byte safely") {
    for (size_t length = 0; length < kMessage.size(); ++length) {
      const std::string cut(kMessage.substr(0, length));
      CHECK_FALSE(scan_play_message(cut));
    }
    std::mt19937 random(9);
    for (int i = 0; i < 50'000; ++i) {
      std::string text(kMessage);
      for (int k = 0; k < 3; ++k) text[random() % text.size()] = static_cast<char>(random());
      static_cast<void>(scan_play_message(text));
    }
  }

  TEST_CASE("handles random sequences of JSON characters safely") {
    constexpr std::string_view kParts = "{}[]\":,\\ \n0-9.eE+tfn\"event\"\"media\"\"playAudio\"";
    std::mt19937 random(10);
    for (int i = 0; i < 50'000; ++i) {
      std::string text;
      for (size_t k = random() % 60; k > 0; --k) text += kParts[random() % kParts.size()];
      static_cast<void>(scan_play_message(text));
    }
  }
}

TEST_SUITE("stream input") {
  std::vector<uint8_t> bytes_of(std::span<const Sample> samples) {
    std::vector<uint8_t> out;
    for (const Sample sample : samples) {
      out.push_back(static_cast<uint8_t>(static_cast<uint16_t>(sample)));
      out.push_back(static_cast<uint8_t>(static_cast<uint16_t>(sample) >> 8));
    }
    return out;
  }

  TEST_CASE("keeps the filter state for any division, even within a sample: 75 dB and no click") {
    for (const int rate : {8000, 16000, 24000}) {
      auto queue = std::make_shared<PlaybackQueue>(kNarrowband, 100'000);
      StreamInput input("s", {}, queue);
      const auto raw = bytes_of(test::sine(1000, 8000, rate, static_cast<size_t>(rate)));
      std::mt19937 random(4);
      for (size_t at = 0; at < raw.size();) {
        const size_t count = std::min<size_t>(1 + random() % 1500, raw.size() - at);
        CHECK(input.enqueue({StreamEncoding::l16, rate}, Bytes(raw).subspan(at, count)) == PlayResult::taken);
        at += count;
      }
      std::vector<Sample> line(queue->queued());
      CHECK(queue->read(line).samples == line.size());
      CHECK(line.size() > 7950);
      CHECK(test::sine_snr_db(std::span(line).subspan(200, 7600), 1000, kLineRate) > 75);
    }
  }

  TEST_CASE("leaves a message without audio to the reader that explains faults") {
    StreamInput input("s", {}, std::make_shared<PlaybackQueue>(kNarrowband, 160));
    CHECK(input.receive(R"({"event":"playAudio","media":{"payload":""}})") == PlayResult::other);
  }

  TEST_CASE("leaves no trace of a refused message") {
    auto queue = std::make_shared<PlaybackQueue>(kNarrowband, 160);
    StreamInput input("s", {}, queue);
    const std::vector<uint8_t> one(320, 1);
    CHECK(input.enqueue({}, one) == PlayResult::taken);
    CHECK(input.enqueue({}, Bytes(one).first(321 - 1)) == PlayResult::buffer_full);
    CHECK(queue->queued() == 160);
    CHECK(input.enqueue({StreamEncoding::l16, 44100}, one) == PlayResult::unsupported_format);
    CHECK(input.enqueue({StreamEncoding::mulaw, 16000}, one) == PlayResult::unsupported_format);
  }
}

TEST_SUITE("media messages") {
  TEST_CASE("reserve space for the sequence number and carry 20 ms") {
    MediaMessageWriter writer("id", Track::outbound, {StreamEncoding::mulaw, 8000}, R"("{}")");
    const Bytes bytes = writer.write(kSilentFrame, 1760000000020);
    const std::string text(bytes.begin(), bytes.end());
    CHECK(text.starts_with(
        R"({"sequenceNumber":          ,"streamId":"id","event":"media","media":{"track":"outbound",)"));
    CHECK(text.find(R"("timestamp":"1760000000020","chunk":1,"payload":")") != std::string::npos);
    CHECK(text.ends_with(R"("},"extra_headers":"{}"})"));
    const size_t payload = text.find("payload\":\"") + 10;
    CHECK(decode(text.substr(payload, text.find('"', payload) - payload)) == std::string(160, '\xff'));
  }

  TEST_CASE("contain 640 bytes each at 16 kHz from the first one") {
    MediaMessageWriter writer("id", Track::inbound, {StreamEncoding::l16, 16000}, R"("{}")");
    for (int i = 0; i < 100; ++i) {
      const Bytes bytes = writer.write(kSilentFrame, i);
      const std::string text(bytes.begin(), bytes.end());
      const size_t payload = text.find("payload\":\"") + 10;
      CHECK(decode(text.substr(payload, text.find('"', payload) - payload))->size() == 640);
    }
  }
}

}  // namespace carillon
