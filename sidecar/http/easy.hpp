// SPDX-License-Identifier: Apache-2.0
// Owning handles for libcurl's easy handle and string list.
#pragma once

#include <curl/curl.h>

#include <memory>
#include <new>
#include <string>
#include <utility>

namespace http {

class Slist {
public:
  Slist() = default;
  Slist(const Slist &) = delete;
  Slist &operator=(const Slist &) = delete;
  ~Slist() { curl_slist_free_all(head_); }

  /// Throws std::bad_alloc.
  void append(const std::string &line)
  {
    curl_slist *longer = curl_slist_append(head_, line.c_str());
    if (longer == nullptr)
      throw std::bad_alloc();
    head_ = longer;
  }
  curl_slist *get() const noexcept { return head_; }

private:
  curl_slist *head_ = nullptr;
};

class Easy {
public:
  /// Throws std::bad_alloc.
  Easy() : handle_(curl_easy_init())
  {
    if (!handle_)
      throw std::bad_alloc();
  }

  /// The value must have exactly the type that the option takes: curl's function is variadic.
  /// Throws std::runtime_error.
  template <typename T>
  void set(CURLoption option, T value)
  {
    check(curl_easy_setopt(handle_.get(), option, value));
  }
  template <typename T>
  T info(CURLINFO what) const
  {
    T value{};
    curl_easy_getinfo(handle_.get(), what, &value);
    return value;
  }
  CURL *get() const noexcept { return handle_.get(); }

private:
  static void check(CURLcode code);

  struct Cleanup {
    void operator()(CURL *handle) const noexcept { curl_easy_cleanup(handle); }
  };
  std::unique_ptr<CURL, Cleanup> handle_;
};

}  // namespace http
