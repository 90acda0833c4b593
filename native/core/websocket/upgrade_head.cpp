#include "core/websocket/upgrade_head.hpp"

#include <algorithm>
#include <string_view>

namespace carillon {

namespace {

bool is_interim(std::string_view head) {
  constexpr size_t kStatusAt = std::string_view("HTTP/1.1 ").size();
  return head.starts_with("HTTP/1.") && head.substr(std::min(kStatusAt, head.size())).starts_with('1') &&
         head.substr(kStatusAt, 3) != "101";
}

}  // namespace

std::optional<std::string> UpgradeHead::take(std::vector<uint8_t>& inbox) {
  constexpr std::string_view kEnd = "\r\n\r\n";
  while (true) {
    const std::string_view received(reinterpret_cast<const char*>(inbox.data()), inbox.size());
    const size_t end = received.find(kEnd);
    std::string head(received.substr(0, end));
    too_long_ = taken_ + head.size() > kMaxBytes;
    if (too_long_ || end == std::string_view::npos) return std::nullopt;
    taken_ += end + kEnd.size();
    inbox.erase(inbox.begin(), inbox.begin() + static_cast<std::ptrdiff_t>(end + kEnd.size()));
    if (!is_interim(head)) return head;
  }
}

}  // namespace carillon
