// While it exists, threads cannot start, as when the limit of threads is reached.
#pragma once

#include <pthread.h>

#include <cstddef>

namespace carillon {

class NoThreads {
 public:
  NoThreads() {
    pthread_getattr_default_np(&before_);
    pthread_attr_t refused;
    pthread_attr_init(&refused);
    // No address space has room for this stack.
    pthread_attr_setstacksize(&refused, size_t{1} << 47);
    pthread_setattr_default_np(&refused);
    pthread_attr_destroy(&refused);
  }
  ~NoThreads() {
    pthread_setattr_default_np(&before_);
    pthread_attr_destroy(&before_);
  }
  NoThreads(const NoThreads&) = delete;
  NoThreads& operator=(const NoThreads&) = delete;

 private:
  pthread_attr_t before_{};
};

}  // namespace carillon
