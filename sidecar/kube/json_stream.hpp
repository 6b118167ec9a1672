// SPDX-License-Identifier: Apache-2.0
// Cuts a stream of concatenated JSON objects into its objects.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace kube {

class JsonStream {
public:
  explicit JsonStream(std::size_t max_object) : max_object_(max_object) {}

  /// Calls `fn` with each complete object; stops early if `fn` returns false.
  /// Throws json::Error if the stream is no sequence of objects, or one is too large.
  void feed(std::string_view data, const std::function<bool(std::string_view)> &fn);

private:
  std::size_t max_object_;
  std::string kept_;         // the beginning of an object that is not complete
  std::size_t scanned_ = 0;  // how much of kept_ was looked at
  int depth_ = 0;
  bool in_string_ = false, escaped_ = false;
};

}  // namespace kube
