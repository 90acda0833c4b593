// carillon_fuzz TARGET SECONDS SEED FOUND: mutates corpus inputs for SECONDS. Writes an input that crashes
// the process to the file FOUND. carillon_fuzz TARGET FILE: runs one input again.
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <iterator>
#include <string>

#include "fuzz/targets.hpp"

namespace {

using carillon::fuzz::Input;

const Input* running = nullptr;
std::string found;

extern "C" void keep_input(int signal) {
  if (running != nullptr) {
    std::ofstream file(found, std::ios::binary);
    file.write(reinterpret_cast<const char*>(running->data()), static_cast<std::streamsize>(running->size()));
  }
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

const carillon::fuzz::Target* find(const std::string& name) {
  for (const auto& target : carillon::fuzz::targets()) {
    if (target.name == name) return &target;
  }
  return nullptr;
}

}  // namespace

int main(int count, char** words) {
  const auto* const target = count > 2 ? find(words[1]) : nullptr;
  if (target == nullptr || (count != 3 && count != 5)) {
    std::fputs("carillon_fuzz TARGET SECONDS SEED FOUND | TARGET FILE\n", stderr);
    return 2;
  }
  if (count == 3) {
    std::ifstream file(words[2], std::ios::binary);
    const Input input{std::istreambuf_iterator<char>(file), {}};
    target->run(input);
    return 0;
  }
  found = words[4];
  for (const int signal : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGALRM})
    std::signal(signal, keep_input);
  const std::time_t end = std::time(nullptr) + std::atoi(words[2]);
  carillon::fuzz::Mutator mutator(std::strtoull(words[3], nullptr, 10));
  const std::vector<Input> seeds = carillon::fuzz::corpus_of(target->name);
  uint64_t runs = 0;
  for (const Input& seed : seeds) target->run(seed);
  while (std::time(nullptr) < end) {
    const Input input = mutator.next(seeds);
    running = &input;
    alarm(10);  // an input that hangs is also a finding
    target->run(input);
    running = nullptr;
    ++runs;
  }
  std::printf("%llu\n", static_cast<unsigned long long>(runs));
  return 0;
}
