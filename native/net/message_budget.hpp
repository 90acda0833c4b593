// Limits the bytes of bot messages in progress per account, so that one account's bots cannot use all memory.
// Messages that arrive in one piece, such as live audio, are not counted.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

namespace carillon {

/// Budget shared by sockets on several threads.
struct MessageBudget {
  std::atomic<size_t> limit{0};
  std::atomic<size_t> held{0};
};

/// One socket's share of its account's budget, released when it is destroyed.
class BudgetShare {
 public:
  /// Bytes that each socket may always hold: at most the size of one read.
  static constexpr size_t kFree = size_t{64} * 1024;

  explicit BudgetShare(std::shared_ptr<MessageBudget> budget) : budget_(std::move(budget)) {}
  BudgetShare(const BudgetShare&) = delete;
  BudgetShare& operator=(const BudgetShare&) = delete;
  ~BudgetShare() { static_cast<void>(hold(0)); }

  /// Sets the total held by this socket to `bytes`. Returns false, without a change, if the budget is
  /// exceeded.
  bool hold(size_t bytes) {
    const size_t counted = bytes > kFree ? bytes : 0;
    if (counted == held_) return true;
    size_t all = budget_->held.load(std::memory_order_relaxed);
    do {
      if (counted > held_ && all - held_ + counted > budget_->limit) return false;
    } while (!budget_->held.compare_exchange_weak(all, all - held_ + counted, std::memory_order_relaxed));
    held_ = counted;
    return true;
  }

 private:
  std::shared_ptr<MessageBudget> budget_;
  size_t held_ = 0;
};

class MessageBudgets {
 public:
  std::shared_ptr<MessageBudget> of(const std::string& account, size_t limit) {
    const std::lock_guard lock(mutex_);
    std::erase_if(budgets_, [](const auto& entry) { return entry.second.expired(); });
    std::shared_ptr<MessageBudget> budget = budgets_[account].lock();
    if (!budget) {
      budget = std::make_shared<MessageBudget>();
      budgets_[account] = budget;
    }
    budget->limit = limit;
    return budget;
  }

 private:
  std::mutex mutex_;
  std::unordered_map<std::string, std::weak_ptr<MessageBudget>> budgets_;
};

}  // namespace carillon
