#include "cli/push/http.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace fade::push {
namespace {

constexpr std::size_t kMostAnswer = std::size_t{64} << 20;
constexpr long kConnectMs = 10'000;
// A transfer that moves nothing for so long is given up. A server that merges or computes may need a while.
constexpr long kSlowBytes = 1, kSlowSeconds = 120;

struct Advice {
  CURLcode code;
  const char* cause;  // nullptr: curl's own words
  const char* fix;
  bool is_temporary;
};
constexpr const char* kMayBeTls = "if this is a port for TLS (usually 8443), the address begins with https://";
constexpr Advice kAdvice[] = {
    {CURLE_COULDNT_RESOLVE_HOST, "its name is not known", "check the name of the server", true},
    {CURLE_COULDNT_CONNECT, nullptr, "check that the server runs, and its HTTP port (8123, with TLS 8443)", true},
    {CURLE_OPERATION_TIMEDOUT, nullptr, "try again when the server is less busy", true},
    {CURLE_SEND_ERROR, nullptr, nullptr, true},
    {CURLE_RECV_ERROR, nullptr, kMayBeTls, true},
    {CURLE_GOT_NOTHING, "it closed the connection without an answer", kMayBeTls, true},
    {CURLE_PARTIAL_FILE, "it closed the connection in the middle of an answer", nullptr, true},
    {CURLE_SSL_CACERT_BADFILE, nullptr, "--ca FILE must be readable and in PEM format", false},
    {CURLE_SSL_CONNECT_ERROR, nullptr, "use its port for TLS (usually 8443), and TLS 1.2 or newer on the server",
     false},
    {CURLE_UNSUPPORTED_PROTOCOL, "it does not speak HTTP", "use the HTTP port: 8123, with TLS 8443", false},
    {CURLE_WEIRD_SERVER_REPLY, "it does not speak HTTP", "use the HTTP port: 8123, with TLS 8443", false},
    {CURLE_ABORTED_BY_CALLBACK, "it was ended before", nullptr, false},
};

// Why a certificate is not trusted: results of OpenSSL's verification (x509_vfy.h). Other libraries have other results,
// and then curl's own words are all that is said.
struct Distrust {
  long first, last;
  const char* cause;
  const char* fix;
};
constexpr const char* kUnknownAuthority = "no authority that is known here has signed the server's certificate";
constexpr const char* kNameAuthority =
    "name the authority's certificate (PEM): --ca FILE; fade-run and faded: --push-ca";
constexpr Distrust kDistrust[] = {
    {0, 1, "the server's certificate is for another host", "use the name of the host that the certificate has"},
    {2, 2, kUnknownAuthority, kNameAuthority},
    {9, 9, "the server's certificate is not valid yet", "look at the clock of this machine: date"},
    {10, 10, "the server's certificate has expired", "renew it; or look at the clock of this machine: date"},
    {18, 21, kUnknownAuthority, kNameAuthority},
};

std::size_t take(char* data, std::size_t, std::size_t size, void* to) {
  auto& body = *static_cast<std::string*>(to);
  if (body.size() + size > kMostAnswer) return 0;
  body.append(data, size);
  return size;
}

int on_progress(void* stop, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
  return static_cast<const std::atomic<bool>*>(stop)->load() ? 1 : 0;
}

// A line break in a header would begin another one.
std::string header(std::string_view name, std::string value) {
  std::erase_if(value, [](char c) { return c == '\r' || c == '\n'; });
  return std::string(name) + ": " + value;
}

}  // namespace

Result<Http> Http::make(const Access& access, const std::atomic<bool>& stop) {
  auto library = curl();
  return library ? Result<Http>(Http(**library, access, stop)) : tl::unexpected(library.error());
}

Http::Http(const Curl& library, const Access& access, const std::atomic<bool>& stop)
    : library_(&library),
      message_(std::make_unique<char[]>(CURL_ERROR_SIZE)),
      headers_(nullptr, library.slist_free_all),
      handle_(library.easy_init(), library.easy_cleanup) {
  FADE_CHECK(handle_);
  CURL* c = handle_.get();
  curl_slist* list = library.slist_append(nullptr, "Expect:");  // no round trip before each block
  if (!access.user.empty()) list = library.slist_append(list, header("X-ClickHouse-User", access.user).c_str());
  if (!access.password.empty()) list = library.slist_append(list, header("X-ClickHouse-Key", access.password).c_str());
  headers_.reset(list);
  library.easy_setopt(c, CURLOPT_HTTPHEADER, list);
  library.easy_setopt(c, CURLOPT_NOSIGNAL, 1L);
#if LIBCURL_VERSION_NUM >= 0x075500
  library.easy_setopt(c, CURLOPT_PROTOCOLS_STR, "http,https");
#else
  library.easy_setopt(c, CURLOPT_PROTOCOLS, static_cast<long>(CURLPROTO_HTTP | CURLPROTO_HTTPS));
#endif
  library.easy_setopt(c, CURLOPT_FOLLOWLOCATION, 0L);
  library.easy_setopt(c, CURLOPT_SSL_VERIFYPEER, 1L);
  library.easy_setopt(c, CURLOPT_SSL_VERIFYHOST, 2L);
  library.easy_setopt(c, CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
  library.easy_setopt(c, CURLOPT_CONNECTTIMEOUT_MS, kConnectMs);
  library.easy_setopt(c, CURLOPT_LOW_SPEED_LIMIT, kSlowBytes);
  library.easy_setopt(c, CURLOPT_LOW_SPEED_TIME, kSlowSeconds);
  library.easy_setopt(c, CURLOPT_USERAGENT, "fade");
  library.easy_setopt(c, CURLOPT_ERRORBUFFER, message_.get());
  library.easy_setopt(c, CURLOPT_WRITEFUNCTION, take);
  library.easy_setopt(c, CURLOPT_NOPROGRESS, 0L);
  library.easy_setopt(c, CURLOPT_XFERINFOFUNCTION, on_progress);
  library.easy_setopt(c, CURLOPT_XFERINFODATA, const_cast<std::atomic<bool>*>(&stop));
  if (!access.ca_file.empty()) library.easy_setopt(c, CURLOPT_CAINFO, access.ca_file.c_str());
}

Result<Answer> Http::post(const std::string& url, std::string_view body) {
  Answer out;
  CURL* c = handle_.get();
  library_->easy_setopt(c, CURLOPT_URL, url.c_str());
  library_->easy_setopt(c, CURLOPT_POST, 1L);
  library_->easy_setopt(c, CURLOPT_POSTFIELDS, body.data());
  library_->easy_setopt(c, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(body.size()));
  library_->easy_setopt(c, CURLOPT_WRITEDATA, &out.body);
  message_[0] = '\0';
  const CURLcode code = library_->easy_perform(c);
  if (code != CURLE_OK) return tl::unexpected(error(code, url));
  library_->easy_getinfo(c, CURLINFO_RESPONSE_CODE, &out.status);
  return out;
}

std::string Http::escaped(std::string_view text) const {
  char* made = library_->easy_escape(handle_.get(), text.data(), static_cast<int>(text.size()));
  std::string out(made ? made : "");
  library_->free(made);
  return out;
}

Error Http::distrust(const std::string& url) const {
  long result = -1;
  library_->easy_getinfo(handle_.get(), CURLINFO_SSL_VERIFYRESULT, &result);
  const auto* const known =
      std::ranges::find_if(kDistrust, [&](const Distrust& one) { return one.first <= result && result <= one.last; });
  const std::string words = message_[0] ? message_.get() : "the server's certificate cannot be verified";
  if (known == std::end(kDistrust)) return {"cannot trust " + url, words, kNameAuthority, 0};
  return {"cannot trust " + url, fmt::format("{} ({})", known->cause, words), known->fix, 0};
}

Error Http::error(CURLcode code, const std::string& url) const {
  if (code == CURLE_PEER_FAILED_VERIFICATION) return distrust(url.substr(0, url.find('?')));
  const auto* const known = std::ranges::find(kAdvice, code, &Advice::code);
  const bool is_known = known != std::end(kAdvice);
  Error out;
  out.message = "cannot reach " + url.substr(0, url.find('?'));
  out.cause = is_known && known->cause ? known->cause : message_[0] ? message_.get() : library_->easy_strerror(code);
  out.fix = is_known && known->fix ? known->fix : "";
  out.code = !is_known || known->is_temporary ? kUnreachable : 0;
  return out;
}

}  // namespace fade::push
