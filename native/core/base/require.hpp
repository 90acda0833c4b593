// Preconditions whose violation would be a security defect: checked in every build.
#pragma once

#include <cstdio>
#include <cstdlib>

namespace carillon {

/// Ends the process with a message if `holds` is false. For mistakes of our own code that would break
/// encryption or write outside memory; never for input of a peer.
inline void require(bool holds, const char* precondition) {
  if (holds) [[likely]] {
    return;
  }
  std::fprintf(stderr, "carillon: precondition violated: %s\n", precondition);
  std::abort();
}

}  // namespace carillon
