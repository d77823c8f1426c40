#include "cli/push/curl.hpp"

#include <dlfcn.h>

namespace fade::push {
namespace {

struct Loaded {
  Curl functions{};
  bool is_complete = true;
};

template <class Function>
void find(void* library, const char* name, Loaded& to, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(library, name));
  to.is_complete = to.is_complete && function != nullptr;
}

Loaded load() {
  Loaded out;
  void* library = nullptr;
  for (const char* name : {"libcurl.so.4", "libcurl-gnutls.so.4"})
    if (!library) library = ::dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (!library) return {{}, false};
  Curl& f = out.functions;
  find(library, "curl_global_init", out, f.global_init);
  find(library, "curl_easy_init", out, f.easy_init);
  find(library, "curl_easy_cleanup", out, f.easy_cleanup);
  find(library, "curl_easy_setopt", out, f.easy_setopt);
  find(library, "curl_easy_perform", out, f.easy_perform);
  find(library, "curl_easy_getinfo", out, f.easy_getinfo);
  find(library, "curl_easy_strerror", out, f.easy_strerror);
  find(library, "curl_easy_escape", out, f.easy_escape);
  find(library, "curl_slist_append", out, f.slist_append);
  find(library, "curl_slist_free_all", out, f.slist_free_all);
  find(library, "curl_url", out, f.url);
  find(library, "curl_url_cleanup", out, f.url_cleanup);
  find(library, "curl_url_set", out, f.url_set);
  find(library, "curl_url_get", out, f.url_get);
  find(library, "curl_free", out, f.free);
  out.is_complete = out.is_complete && f.global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
  return out;
}

}  // namespace

Result<const Curl*> curl() {
  static const Loaded loaded = load();
  if (loaded.is_complete) return &loaded.functions;
  return fail("cannot speak HTTP", "libcurl is not installed", "apt-get install libcurl4");
}

}  // namespace fade::push
