// One connection to an HTTP server, kept open between requests. Sends passwords in headers only. Not for use by several
// threads.
#pragma once
#include <curl/curl.h>

#include <atomic>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.hpp"

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
  // `stop`: a request ends soon after it is set.
  Http(const Access& access, const std::atomic<bool>& stop);

  Result<Answer> post(const std::string& url, std::string_view body);
  // `text` as a part of a query.
  std::string escaped(std::string_view text) const;

 private:
  struct Cleanup {
    void operator()(CURL* c) const { curl_easy_cleanup(c); }
    void operator()(curl_slist* l) const { curl_slist_free_all(l); }
  };
  Error error(CURLcode code, const std::string& url) const;

  std::unique_ptr<CURL, Cleanup> curl_;
  std::unique_ptr<curl_slist, Cleanup> headers_;
  const std::atomic<bool>& stop_;
  char message_[CURL_ERROR_SIZE] = {};
};

}  // namespace fade::push
