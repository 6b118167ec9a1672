// SPDX-License-Identifier: Apache-2.0
#include "kube/json_stream.hpp"

#include "kube/json.hpp"

namespace kube {

void JsonStream::feed(std::string_view data, const std::function<bool(std::string_view)> &fn)
{
  kept_.append(data);
  std::size_t begin = 0;
  for (; scanned_ < kept_.size(); ++scanned_) {
    const char c = kept_[scanned_];
    if (in_string_) {
      if (escaped_)
        escaped_ = false;
      else if (c == '\\')
        escaped_ = true;
      else if (c == '"')
        in_string_ = false;
    } else if (c == '{') {
      ++depth_;
    } else if (depth_ == 0) {
      if (c != ' ' && c != '\n' && c != '\r' && c != '\t')
        throw json::Error("the stream is not made of JSON objects");
    } else if (c == '"') {
      in_string_ = true;
    } else if (c == '}' && --depth_ == 0) {
      const bool go_on = fn(std::string_view(kept_).substr(begin, scanned_ + 1 - begin));
      begin = scanned_ + 1;
      if (!go_on)
        return;
      continue;
    }
    if (scanned_ - begin > max_object_)
      throw json::Error("an object of the stream is larger than " + std::to_string(max_object_) +
                        " bytes");
  }
  kept_.erase(0, begin);
  scanned_ -= begin;
}

}  // namespace kube
