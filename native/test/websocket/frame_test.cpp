#include "core/websocket/frame.hpp"

#include <doctest/doctest.h>

#include <random>
#include <string>

#include "core/websocket/utf8.hpp"

namespace carillon {

namespace {

Bytes bytes_of(std::string_view text) { return {reinterpret_cast<const uint8_t*>(text.data()), text.size()}; }

std::string text_of(Bytes bytes) { return {bytes.begin(), bytes.end()}; }

/// Returns an unmasked frame as a server writes it.
std::vector<uint8_t> server_frame(uint8_t first, std::string_view payload) {
  std::vector<uint8_t> frame{first};
  if (payload.size() < 126) {
    frame.push_back(static_cast<uint8_t>(payload.size()));
  } else if (payload.size() <= 0xffff) {
    frame.push_back(126);
    for (int shift = 8; shift >= 0; shift -= 8)
      frame.push_back(static_cast<uint8_t>(payload.size() >> shift));
  } else {
    frame.push_back(127);
    for (int shift = 56; shift >= 0; shift -= 8) {
      frame.push_back(static_cast<uint8_t>(payload.size() >> shift));
    }
  }
  frame.insert(frame.end(), payload.begin(), payload.end());
  return frame;
}

using Kind = MessageReader::Kind;
constexpr size_t kLimit = 100'000;
constexpr uint8_t kText = 0x81;

/// Returns a log of all items that a reader parses from `input`, passed in steps of `step` bytes.
std::vector<std::string> read_all(const std::vector<uint8_t>& input, size_t step, size_t limit = kLimit) {
  MessageReader reader(limit);
  std::vector<std::string> log;
  size_t start = 0;
  for (size_t end = 0; end < input.size();) {
    end = std::min(end + step, input.size());
    for (;;) {
      const auto item = reader.next(Bytes(input).subspan(start, end - start));
      if (item.kind == Kind::incomplete) break;
      if (item.kind == Kind::fault) {
        log.push_back("fault " + std::to_string(item.close_code));
        return log;
      }
      start += item.consumed;
      const std::string payload = text_of(item.payload);
      if (item.kind == Kind::message) log.push_back((item.is_text ? "text " : "binary ") + payload);
      if (item.kind == Kind::ping) log.push_back("ping " + payload);
      if (item.kind == Kind::pong) log.push_back("pong " + payload);
      if (item.kind == Kind::close) log.push_back("close " + std::to_string(item.close_code) + payload);
    }
  }
  return log;
}

void append(std::vector<uint8_t>& out, const std::vector<uint8_t>& more) {
  out.insert(out.end(), more.begin(), more.end());
}

}  // namespace

TEST_SUITE("WebSocket frames of a client (RFC 6455 §5)") {
  TEST_CASE("writes masked frames with the shortest length encoding") {
    for (const size_t length : {size_t{0}, size_t{125}, size_t{126}, size_t{0xffff}, size_t{0x10000}}) {
      std::string payload(length, 'x');
      for (size_t i = 0; i < length; ++i) payload[i] = static_cast<char>('a' + i % 26);
      std::vector<uint8_t> frame;
      append_frame(frame, Opcode::text, bytes_of(payload), 0xa1b2c3d4);
      const size_t extended = length < 126 ? 0 : (length <= 0xffff ? 2 : 8);
      REQUIRE(frame.size() == 2 + extended + 4 + length);
      CHECK(frame[0] == kText);
      CHECK((frame[1] & 0x80) != 0);
      std::string unmasked;
      const Bytes mask = Bytes(frame).subspan(2 + extended, 4);
      for (size_t i = 0; i < length; ++i) {
        unmasked.push_back(static_cast<char>(frame[6 + extended + i] ^ mask[i % 4]));
      }
      CHECK(unmasked == payload);
      if (length > 0) CHECK(text_of(Bytes(frame).subspan(6 + extended)) != payload);
    }
  }

  TEST_CASE("appends consecutive frames to one buffer") {
    std::vector<uint8_t> out;
    append_frame(out, Opcode::ping, {}, 1);
    append_frame(out, Opcode::pong, bytes_of("a"), 2);
    CHECK(out.size() == 6 + 7);
    CHECK(out[6] == 0x8a);
  }

  TEST_CASE(
      "parses messages, fragments and interleaved control frames equally for any division of the bytes") {
    std::vector<uint8_t> input;
    append(input, server_frame(kText, "one"));
    append(input, server_frame(0x01, "tw"));
    append(input, server_frame(0x89, "beat"));
    append(input, server_frame(0x00, ""));
    append(input, server_frame(0x80, "o"));
    append(input, server_frame(0x82, std::string("\0\xff", 2)));
    append(input, server_frame(kText, std::string(300, 'y')));
    append(input, server_frame(kText, std::string(70'000, 'z')));
    append(input, server_frame(0x8a, ""));
    append(input, server_frame(0x88, std::string("\x03\xe9", 2) + "bye"));
    const std::vector<std::string> expected{"text one",
                                            "ping beat",
                                            "text two",
                                            std::string("binary \0\xff", 9),
                                            "text " + std::string(300, 'y'),
                                            "text " + std::string(70'000, 'z'),
                                            "pong ",
                                            "close 1001bye"};
    for (const size_t step : {size_t{1}, size_t{2}, size_t{7}, size_t{1000}, input.size()}) {
      CAPTURE(step);
      if (step < 100) {
        const auto head = std::vector<uint8_t>(input.begin(), input.begin() + 200);
        const auto log = read_all(head, step);
        CHECK(log == std::vector<std::string>(expected.begin(), expected.begin() + 4));
      } else {
        CHECK(read_all(input, step) == expected);
      }
    }
  }

  TEST_CASE("reports each protocol violation as a fault with its code") {
    const auto fault_of = [](const std::vector<uint8_t>& input) {
      return read_all(input, input.size()).back();
    };
    CHECK(fault_of({0xc1, 0x00}) == "fault 1002");                    // reserved bit set
    CHECK(fault_of({0x81, 0x80, 0, 0, 0, 0}) == "fault 1002");        // masked
    CHECK(fault_of({0x83, 0x00}) == "fault 1002");                    // opcode 3
    CHECK(fault_of({0x09, 0x00}) == "fault 1002");                    // fragmented ping
    CHECK(fault_of({0x89, 0x7e, 0x00, 0x80}) == "fault 1002");        // ping of 128 bytes
    CHECK(fault_of({0x80, 0x00}) == "fault 1002");                    // continuation frame without a message
    CHECK(fault_of({0x01, 0x00, 0x81, 0x00}) == "fault 1002");        // message within another message
    CHECK(fault_of({0x88, 0x01, 0x03}) == "fault 1002");              // incomplete close code
    CHECK(fault_of({0x88, 0x02, 0x03, 0xed}) == "fault 1002");        // 1005 on the wire
    CHECK(fault_of({0x88, 0x02, 0x00, 0x01}) == "fault 1002");        // code 1
    CHECK(fault_of({0x88, 0x03, 0x03, 0xe8, 0xff}) == "fault 1007");  // reason is not UTF-8
    CHECK(fault_of({0x81, 0x01, 0xff}) == "fault 1007");              // text is not UTF-8
    CHECK(fault_of({0x88, 0x00}) == "close 1005");                    // a missing code is valid
  }

  TEST_CASE("accepts a character split by a fragment and validates the whole message") {
    std::vector<uint8_t> input;
    append(input, server_frame(0x01, "\xe2\x82"));
    append(input, server_frame(0x80, "\xac"));
    CHECK(read_all(input, 1) == std::vector<std::string>{"text \xe2\x82\xac"});
  }

  TEST_CASE("refuses an oversized message by its header before its bytes arrive") {
    CHECK(read_all({0x81, 0x7f, 0, 0, 0, 1, 0, 0, 0, 0}, 10) == std::vector<std::string>{"fault 1009"});
    std::vector<uint8_t> fragments;
    append(fragments, server_frame(0x01, std::string(60, 'a')));
    append(fragments, server_frame(0x80, std::string(41, 'a')));
    CHECK(read_all(fragments, 1, 100) == std::vector<std::string>{"fault 1009"});
    CHECK(read_all(fragments, 1, 101).size() == 1);
  }

  TEST_CASE("knows the size of a fragmented message from its headers and releases the memory afterwards") {
    MessageReader reader(kLimit);
    const std::vector<uint8_t> input = server_frame(kText, std::string(70'000, 'z'));
    const auto first = reader.next(Bytes(input).first(1000));
    CHECK(first.kind == Kind::part);
    CHECK(first.consumed == 1000);
    CHECK(reader.expected() == 70'000);
    reader.release();
    CHECK(reader.expected() == 70'000);
    const auto second = reader.next(Bytes(input).subspan(1000));
    CHECK(second.kind == Kind::message);
    const uint8_t* const where = second.payload.data();
    const std::vector<uint8_t> taken = reader.take(second);
    CHECK(taken.data() == where);
    CHECK(taken.size() == 70'000);
    reader.release();
    CHECK(reader.expected() == 0);
  }

  TEST_CASE("skips messages, including the current one, and still reports control frames") {
    for (const size_t step : {size_t{1}, size_t{50}, size_t{100'000}}) {
      CAPTURE(step);
      std::vector<uint8_t> input = server_frame(kText, std::string(300, 'z'));
      append(input, server_frame(0x01, std::string(300, 'y')));
      append(input, server_frame(0x89, "beat"));
      append(input, server_frame(0x80, std::string(70'000, 'x')));
      append(input, server_frame(0x88, std::string("\x03\xf1", 2)));
      MessageReader reader(400);
      size_t start = reader.next(Bytes(input).first(100)).consumed;
      reader.skip_messages();
      std::vector<Kind> reported;
      for (size_t end = start; end < input.size();) {
        end = std::min(end + step, input.size());
        for (;;) {
          const auto item = reader.next(Bytes(input).subspan(start, end - start));
          if (item.kind == Kind::incomplete) break;
          start += item.consumed;
          if (item.kind != Kind::part && item.kind != Kind::fragment) reported.push_back(item.kind);
          CHECK(reader.expected() <= 70'000);
        }
      }
      CHECK(reported == std::vector<Kind>{Kind::ping, Kind::close});
    }
  }

  TEST_CASE("yields an item or a fault for any bytes and never reads beyond them") {
    std::mt19937 random(7);
    for (int round = 0; round < 20'000; ++round) {
      std::vector<uint8_t> input(random() % 40);
      for (uint8_t& byte : input) byte = static_cast<uint8_t>(random());
      if (!input.empty() && round % 2 == 0) input[0] = static_cast<uint8_t>(0x80 | (random() % 11));
      static_cast<void>(read_all(input, 1 + random() % 5));
    }
  }

  TEST_CASE("truncates a close reason to the limit of a control frame") {
    CHECK(close_payload(1000, "ok").size() == 4);
    CHECK(close_payload(1000, std::string(500, 'x')).size() == kMaxControlPayload);
  }
}

TEST_SUITE("UTF-8 (RFC 3629)") {
  TEST_CASE("accepts valid texts") {
    for (const char* text :
         {"", "plain", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x94\x94", "\xed\x9f\xbf", "\xee\x80\x80",
          "\xf4\x8f\xbf\xbf", "eight ascii and then \xc3\xa9 eight more ascii"}) {
      CAPTURE(text);
      CHECK(is_utf8(bytes_of(text)));
    }
  }
  TEST_CASE("rejects overlong forms, surrogates, values above U+10FFFF, stray and missing bytes") {
    for (const char* text : {"\x80", "\xc0\xaf", "\xc1\xbf", "\xe0\x9f\xbf", "\xed\xa0\x80",
                             "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xff", "\xc3",
                             "\xe2\x82", "\xf0\x9f\x94", "\xc3(", "ascii ascii ascii \xe2(\xa1"}) {
      CAPTURE(text);
      CHECK_FALSE(is_utf8(bytes_of(text)));
    }
  }
}

}  // namespace carillon
