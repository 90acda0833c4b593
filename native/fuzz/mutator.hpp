// Seeded mutations of byte strings. The same seed produces the same inputs on every machine.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace carillon::fuzz {

using Input = std::vector<uint8_t>;

class Mutator {
 public:
  static constexpr size_t kLongest = 8192;

  explicit Mutator(uint64_t seed) : state_(seed * 2 + 1) {}

  /// Returns one of the seeds after a few mutations, possibly with a part of another seed.
  Input next(const std::vector<Input>& seeds) {
    Input out = seeds.empty() ? Input{} : seeds[below(seeds.size())];
    for (uint32_t changes = 1 + below(6); changes > 0; --changes) change(out, seeds);
    if (out.size() > kLongest) out.resize(kLongest);
    return out;
  }

  /// Random number from 0 to limit - 1.
  uint32_t below(size_t limit) {
    // splitmix64, S. Vigna.
    state_ += 0x9e3779b97f4a7c15ULL;
    uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return static_cast<uint32_t>((z ^ (z >> 31)) % std::max<size_t>(1, limit));
  }

 private:
  void change(Input& out, const std::vector<Input>& seeds) {
    static constexpr std::array<uint8_t, 8> kEdges{0, 1, 0x7f, 0x80, 0xfe, 0xff, 0x40, 0x0f};
    const size_t at = below(out.size() + 1);
    const auto place = out.begin() + static_cast<std::ptrdiff_t>(at);
    const size_t rest = out.size() - at;
    switch (below(8)) {
      case 0:
        if (rest > 0) *place = static_cast<uint8_t>(*place ^ (1U << below(8)));
        break;
      case 1:
        if (rest > 0) *place = kEdges[below(kEdges.size())];
        break;
      case 2:
        if (rest > 0) *place = static_cast<uint8_t>(below(256));
        break;
      case 3:  // insert
        out.insert(place, 1 + below(16), static_cast<uint8_t>(below(256)));
        break;
      case 4:  // delete a part
        out.erase(place, place + static_cast<std::ptrdiff_t>(below(std::min<size_t>(rest, 32) + 1)));
        break;
      case 5:  // truncate
        if (below(4) == 0) out.resize(at);
        break;
      case 6: {  // duplicate a part
        const Input part(place, place + static_cast<std::ptrdiff_t>(below(std::min<size_t>(rest, 64) + 1)));
        out.insert(out.end(), part.begin(), part.end());
        break;
      }
      default: {  // continue with the rest of another seed
        if (seeds.empty()) break;
        const Input& other = seeds[below(seeds.size())];
        const size_t from = below(other.size() + 1);
        out.resize(at);
        out.insert(out.end(), other.begin() + static_cast<std::ptrdiff_t>(from), other.end());
      }
    }
  }

  uint64_t state_;
};

}  // namespace carillon::fuzz
