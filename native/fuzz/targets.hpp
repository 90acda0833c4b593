// What reads bytes of strangers, each as a function of any bytes: it must return, and touch nothing that is
// not its own. Names of corpus files (corpus/<name>.hex, one input a line).
#pragma once

#include <span>
#include <string_view>

#include "core/base/bytes.hpp"
#include "fuzz/mutator.hpp"

namespace carillon::fuzz {

struct Target {
  std::string_view name;
  void (*run)(Bytes input);
};

std::span<const Target> targets();

/// The inputs of a target's corpus; none: the file is not there.
std::vector<Input> corpus_of(std::string_view target);

}  // namespace carillon::fuzz
