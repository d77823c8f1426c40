// The oracle of the programs here: every call of the runtime goes through CALL(), is printed with its result in the
// order it was made ("call NAME RESULT") and counted; counts() prints what was called how often ("count NAME N"). Names
// are those of the symbols: HIP's headers rename some functions by macro. Knows nothing of fade.
#pragma once
#include <cstdint>
#include <cstdio>
#include <map>
#include <mutex>
#include <string>
#include <type_traits>

namespace called {

inline std::mutex mutex;
inline std::map<std::string, std::uint64_t> made;
inline bool quiet = false;

inline void count(const char* name) {
  std::lock_guard<std::mutex> lock(mutex);
  ++made[name];
}

template <class Result>
Result returned(const char* name, Result result) {
  count(name);
  if (quiet) return result;
  if constexpr (std::is_same<Result, const char*>::value) std::printf("call %s \"%s\"\n", name, result ? result : "");
  else std::printf("call %s %d\n", name, static_cast<int>(result));
  return result;
}

// For calls that the compiler makes: a <<<>>> launch is these three, in this order. Where the first fails, which it
// does without a device, the compiler's code leaves it at that.
inline void launched(bool with_device) {
  for (const char* name : {"__hipPushCallConfiguration", "__hipPopCallConfiguration", "hipLaunchKernel"}) {
    count(name);
    if (!quiet) std::printf("call %s ?\n", name);
    if (!with_device) return;
  }
}

inline int counts() {
  for (const auto& [name, times] : made)
    std::printf("count %s %llu\n", name.c_str(), static_cast<unsigned long long>(times));
  return 0;
}

}  // namespace called

#define CALLED_NAME_(function) #function
#define CALLED_NAME(function) CALLED_NAME_(function)
#define CALL(function, ...) called::returned(CALLED_NAME(function), function(__VA_ARGS__))
