#include "core/base/units.hpp"

#include <doctest/doctest.h>

#include <concepts>
#include <functional>
#include <type_traits>

#include "core/codec/g711_codec.hpp"
#include "core/jitter/payload_store.hpp"
#include "core/leg/send_path.hpp"

namespace carillon {

namespace {

template <typename A, typename B>
concept Adds = std::is_invocable_v<std::plus<>, A, B> || std::is_invocable_v<std::minus<>, A, B>;
template <typename A, typename B>
concept Compares = requires(A a, B b) {
  a < b;
}
|| requires(A a, B b) { a == b; };
template <typename A, typename B>
concept Mixes = Adds<A, B> || Compares<A, B> || std::convertible_to<A, B> || std::assignable_from<A&, B>;

template <typename One, typename... Others>
constexpr bool kMixesNone = !((Mixes<One, Others> || Mixes<Others, One>) || ...);

static_assert(Mixes<RtpTicks, RtpTicks> && Mixes<SampleCount, SampleCount> && Mixes<RtpTime, RtpTicks>);
// Ticks, samples, bytes, nanoseconds and plain numbers cannot be mixed.
static_assert(kMixesNone<RtpTicks, SampleCount, ByteCount, Nanos, int, size_t, uint32_t>);
static_assert(kMixesNone<SampleCount, ByteCount, RtpTime, RtpTimestamp, Nanos, int, size_t>);
static_assert(kMixesNone<ByteCount, RtpTime, RtpTimestamp, Nanos, int, size_t>);
static_assert(kMixesNone<SampleRate, RtpClockRate, int, Nanos>);
// Instants are not durations and cannot be added. Timestamps in packets have no order.
static_assert(!std::is_invocable_v<std::plus<>, RtpTime, RtpTime>);
static_assert(!std::is_invocable_v<std::less<>, RtpTimestamp, RtpTimestamp>);
static_assert(kMixesNone<RtpTimestamp, RtpTime, uint32_t, SampleCount>);
static_assert(!std::is_invocable_v<decltype(&RtpClockRate::time_of), RtpClockRate, SampleCount>);

// Function parameters: samples cannot be passed as ticks.
static_assert(std::is_invocable_v<decltype(&PayloadStore::complete), PayloadStore, RtpTime, RtpTicks>);
static_assert(!std::is_invocable_v<decltype(&PayloadStore::complete), PayloadStore, RtpTime, SampleCount>);
static_assert(!std::is_invocable_v<decltype(&PayloadStore::complete), PayloadStore, RtpTicks, RtpTicks>);
static_assert(!std::is_constructible_v<PayloadStore, SampleRate>);
static_assert(!std::is_constructible_v<SendPath, std::unique_ptr<Packetizer>, NoProtection&, uint32_t,
                                       uint16_t, uint32_t>);

// The types have the size of the numbers that they hold.
static_assert(sizeof(RtpTicks) == sizeof(int64_t) && std::is_trivially_copyable_v<RtpTicks>);
static_assert(sizeof(RtpTimestamp) == sizeof(uint32_t) && std::is_trivially_copyable_v<RtpTimestamp>);

}  // namespace

TEST_SUITE("units") {
  TEST_CASE("timestamps wrap at 32 bits in both directions") {
    const RtpTimestamp last(0xffff'ffff);
    CHECK(last + RtpTicks(160) == RtpTimestamp(159));
    CHECK(RtpTimestamp(159) - RtpTicks(160) == last);
    CHECK(last + RtpTicks(-1) == RtpTimestamp(0xffff'fffe));
  }

  TEST_CASE("converts ticks to exact nanoseconds, and time down to the previous tick") {
    CHECK(RtpClockRate(8000).time_of(RtpTicks(1)) == Nanos(125'000));
    CHECK(RtpClockRate(48'000).time_of(RtpTicks(960)) == 20 * kMillisecond);
    CHECK(RtpClockRate(8000).in(20 * kMillisecond - Nanos(1)) == RtpTicks(159));
    CHECK(SampleRate(16'000).in(20 * kMillisecond) == SampleCount(320));
    // A day after the first timestamp of a wrapped clock, nothing overflows.
    const RtpTicks long_after(int64_t{1} << 34);
    CHECK(RtpClockRate(48'000).in(RtpClockRate(48'000).time_of(long_after)).count() >=
          long_after.count() - 1);
  }

  TEST_CASE(
      "converts samples and ticks for G.711, G.722 (RFC 3551 §4.5.2) and Opus decoded at 16 kHz (RFC 7587)") {
    const SessionRates g711 = kG711Rates;
    const SessionRates g722{RtpClockRate(8000), SampleRate(16'000)};
    const SessionRates opus{RtpClockRate(48'000), SampleRate(16'000)};
    CHECK(g711.ticks(SampleCount(160)) == RtpTicks(160));
    CHECK(g722.ticks(SampleCount(320)) == RtpTicks(160));
    CHECK(opus.ticks(SampleCount(320)) == RtpTicks(960));
    CHECK(opus.samples(RtpTicks(960)) == SampleCount(320));
    CHECK(opus.samples(RtpTicks(2)) == SampleCount(0));
  }
}

}  // namespace carillon
