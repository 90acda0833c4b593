// Parsers of untrusted bytes as fuzz targets. A target accepts any bytes, must return and must not access
// foreign memory. Names match corpus files (corpus/<name>.hex, one input per line).
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

/// Returns the inputs of a target's corpus. Empty if the file does not exist.
std::vector<Input> corpus_of(std::string_view target);

}  // namespace carillon::fuzz
