#include "addon/leg_sessions.hpp"

#include <doctest/doctest.h>

namespace carillon {

namespace {
constexpr LegHandle kOpen{1};
constexpr LegHandle kClosed{2};
constexpr StreamHandle kStream{7};
}  // namespace

TEST_SUITE("codec state of legs") {
  TEST_CASE("a closed leg gets no state from later requests") {
    LegSessions sessions;
    sessions.begin(kOpen);
    sessions.begin(kClosed);
    sessions.forget(kClosed);
    CHECK_FALSE(sessions.change(kClosed, {Coding::g722}, kFrameMs));
    sessions.opened(kClosed, kStream);
    CHECK_FALSE(sessions.knows(kClosed));
    sessions.bridge(kOpen, kClosed);
    CHECK_FALSE(sessions.partner(kOpen));
  }
}

}  // namespace carillon
