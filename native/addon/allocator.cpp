#include "addon/allocator.hpp"

#include <malloc.h>

#include <mutex>

namespace carillon {

namespace {

// Fixed thresholds. Otherwise glibc raises its mmap threshold up to 32 MiB after a large block is freed
// (mallopt(3)). Large messages would then come from the heap, where later allocations keep their memory from
// being returned.
constexpr int kMapFrom = 128 * 1024;
constexpr int kTrimFrom = 512 * 1024;
/// Maximum number of arenas. The default is eight per core, each with separate free memory.
constexpr int kArenas = 4;
/// Minimum free memory in bytes for a trim to be worthwhile.
constexpr size_t kWorthTrimming = size_t{8} << 20;

class Trim final : public Napi::AsyncWorker {
 public:
  explicit Trim(Napi::Env env) : Napi::AsyncWorker(env), promise_(Napi::Promise::Deferred::New(env)) {}
  [[nodiscard]] Napi::Promise promise() const { return promise_.Promise(); }

  void Execute() override {
    free_ = mallinfo2().fordblks;
    if (free_ >= kWorthTrimming) malloc_trim(kTrimFrom);
  }
  void OnOK() override { promise_.Resolve(Napi::Number::New(Env(), static_cast<double>(free_))); }

 private:
  Napi::Promise::Deferred promise_;
  size_t free_ = 0;
};

}  // namespace

void set_up_allocator() {
  static std::once_flag once;
  std::call_once(once, [] {
    mallopt(M_MMAP_THRESHOLD, kMapFrom);
    mallopt(M_TRIM_THRESHOLD, kTrimFrom);
    mallopt(M_ARENA_MAX, kArenas);
  });
}

Napi::Value trim_memory(const Napi::CallbackInfo& info) {
  auto* const trim = new Trim(info.Env());  // frees itself
  trim->Queue();
  return trim->promise();
}

}  // namespace carillon
