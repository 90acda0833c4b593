// carillon_guided: libFuzzer's main with the target that the environment variable FUZZ_TARGET names. Options
// and the folder of the corpus: https://llvm.org/docs/LibFuzzer.html
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "fuzz/targets.hpp"

namespace {

const carillon::fuzz::Target& chosen() {
  const char* const name = std::getenv("FUZZ_TARGET");
  for (const auto& target : carillon::fuzz::targets()) {
    if (name != nullptr && target.name == std::string_view(name)) return target;
  }
  std::fputs("FUZZ_TARGET names no target\n", stderr);
  std::exit(2);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const carillon::fuzz::Target& target = chosen();
  target.run({data, size});
  return 0;
}
