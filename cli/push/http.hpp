// One connection to an HTTP server, kept open between requests. Sends passwords in headers only. Not for use by several
// threads.
#pragma once
#include <atomic>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "cli/push/curl.hpp"

namespace fade::push {

struct Access {
  std::string user, password;
  std::string ca_file;  // PEM; empty: the system's authorities
};

struct Answer {
  long status = 0;   // of HTTP
  std::string body;  // at most kMostAnswer bytes
};

// Codes of errors that a later attempt may not meet.
inline constexpr int kUnreachable = -75;

class Http {
 public:
  // `stop`: a request ends soon after it is set. It must outlive the object.
  static Result<Http> make(const Access& access, const std::atomic<bool>& stop);

  Result<Answer> post(const std::string& url, std::string_view body);
  // `text` as a part of a query.
  std::string escaped(std::string_view text) const;

 private:
  using Handle = std::unique_ptr<CURL, decltype(&curl_easy_cleanup)>;
  using Headers = std::unique_ptr<curl_slist, decltype(&curl_slist_free_all)>;

  Http(const Curl& library, const Access& access, const std::atomic<bool>& stop);
  Error error(CURLcode code, const std::string& url) const;
  Error distrust(const std::string& url) const;

  const Curl* library_;
  std::unique_ptr<char[]> message_;  // at a fixed address, and outlives the handle
  Headers headers_;
  Handle handle_;
};

}  // namespace fade::push
