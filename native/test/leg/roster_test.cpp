#include "core/leg/roster.hpp"

#include <doctest/doctest.h>

#include <vector>

namespace carillon {

namespace {

struct Named {
  explicit Named(uint32_t handle) : handle_(handle) {}
  [[nodiscard]] uint32_t handle() const { return handle_; }
  uint32_t handle_;
};

template <size_t kMax>
std::vector<uint32_t> handles(const Roster<Named, kMax>& roster) {
  std::vector<uint32_t> out;
  for (const auto& item : roster.all()) out.push_back(item->handle());
  return out;
}

}  // namespace

TEST_SUITE("roster") {
  TEST_CASE("holds a fixed number of objects and leaves excess ones with the caller") {
    Roster<Named, 2> roster;
    CHECK(roster.empty());
    auto a = std::make_unique<Named>(7);
    auto b = std::make_unique<Named>(5);
    auto c = std::make_unique<Named>(9);
    CHECK(roster.put(a));
    CHECK(roster.put(b));
    CHECK_FALSE(roster.put(c));
    REQUIRE(c);
    CHECK(c->handle() == 9);
    CHECK(handles(roster) == std::vector<uint32_t>{7, 5});
  }

  TEST_CASE("returns the requested object, keeps the order of the rest and reuses the slot") {
    Roster<Named, 3> roster;
    for (const uint32_t handle : {1U, 2U, 3U}) {
      auto item = std::make_unique<Named>(handle);
      REQUIRE(roster.put(item));
    }
    CHECK(roster.take(4U) == nullptr);
    const auto taken = roster.take(1U);
    REQUIRE(taken);
    CHECK(taken->handle() == 1);
    CHECK(roster.find(1U) == nullptr);
    CHECK(handles(roster) == std::vector<uint32_t>{2, 3});
    auto again = std::make_unique<Named>(1);
    CHECK(roster.put(again));
    CHECK(handles(roster) == std::vector<uint32_t>{2, 3, 1});
    CHECK(roster.find(3U)->handle() == 3);
  }
}

}  // namespace carillon
