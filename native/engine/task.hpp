// A command from the control thread to a media thread. After it ran it travels back, with whatever it took
// out of the core, and is destroyed where it was made: a media thread neither allocates nor frees.
#pragma once

#include <memory>
#include <utility>

namespace carillon {

class MediaLoop;

class Task {
 public:
  virtual ~Task() = default;
  virtual void run(MediaLoop& loop) = 0;
};

template <typename Function>
class FunctionTask final : public Task {
 public:
  explicit FunctionTask(Function function) : function_(std::move(function)) {}
  void run(MediaLoop& loop) override { function_(loop); }

 private:
  Function function_;
};

/// `function` is called as function(MediaLoop&) on the media thread; it may move objects into and out of its
/// captures.
template <typename Function>
std::unique_ptr<Task> make_task(Function function) {
  return std::make_unique<FunctionTask<Function>>(std::move(function));
}

}  // namespace carillon
