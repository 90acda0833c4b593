#include "net/message_budget.hpp"

#include <doctest/doctest.h>

namespace carillon {

TEST_SUITE("message budget") {
  TEST_CASE("is shared per account and releases a socket's share at its end") {
    MessageBudgets budgets;
    BudgetShare other(budgets.of("other", 200'000));
    BudgetShare last(budgets.of("one", 200'000));
    {
      BudgetShare first(budgets.of("one", 200'000));
      CHECK(first.hold(150'000));
      CHECK_FALSE(last.hold(100'000));
      CHECK(other.hold(200'000));
      CHECK(first.hold(90'000));
      CHECK(last.hold(110'000));
      CHECK_FALSE(last.hold(110'001));
      CHECK_FALSE(first.hold(90'001));
    }
    CHECK(last.hold(200'000));
  }

  TEST_CASE("does not count the size of one read") {
    MessageBudgets budgets;
    BudgetShare full(budgets.of("one", 200'000));
    BudgetShare live(budgets.of("one", 200'000));
    CHECK(full.hold(200'000));
    CHECK(live.hold(BudgetShare::kFree));
    CHECK_FALSE(live.hold(BudgetShare::kFree + 1));
  }
}

}  // namespace carillon
