// Number of repetitions of long tests.
#pragma once

#include <cstdlib>

namespace carillon::test {

/// Returns `few`, or `many` if the environment variable LONG_TESTS is set, as by `npm test --
/// --native`.
inline int rounds(int few, int many) { return std::getenv("LONG_TESTS") == nullptr ? few : many; }

}  // namespace carillon::test
