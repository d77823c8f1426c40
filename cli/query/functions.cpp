#include "cli/query/functions.hpp"

#include <regex.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "cli/query/histogram.hpp"

namespace fade::query {
namespace {

// ---------------------------------------------------------------- REGEXP
constexpr int kMostPattern = 1000;  // glibc compiles by recursion
constexpr int kMostNesting = 100;

struct Regex {
  regex_t compiled{};
  bool usable = false;
  ~Regex() {
    if (usable) regfree(&compiled);
  }
};

const char* text_of(sqlite3_value* v) { return reinterpret_cast<const char*>(sqlite3_value_text(v)); }

Regex* compile(sqlite3_context* context, sqlite3_value* pattern) {
  const char* text = text_of(pattern);
  const std::string_view view(text ? text : "");
  if (view.size() > kMostPattern || std::count(view.begin(), view.end(), '(') > kMostNesting) {
    sqlite3_result_error(context, "the regular expression is too long", -1);
    return nullptr;
  }
  auto regex = std::make_unique<Regex>();
  const int code = regcomp(&regex->compiled, view.data(), REG_EXTENDED | REG_NOSUB);
  regex->usable = code == 0;
  if (regex->usable) return regex.release();
  char why[200];
  regerror(code, &regex->compiled, why, sizeof why);
  sqlite3_result_error(context, ("bad regular expression: " + std::string(why)).c_str(), -1);
  return nullptr;
}

// X REGEXP Y calls regexp(Y, X).
void regexp(sqlite3_context* context, int, sqlite3_value** args) {
  if (sqlite3_value_type(args[0]) == SQLITE_NULL || sqlite3_value_type(args[1]) == SQLITE_NULL) return;
  auto* regex = static_cast<Regex*>(sqlite3_get_auxdata(context, 0));
  if (!regex) {
    regex = compile(context, args[0]);
    if (!regex) return;
    sqlite3_set_auxdata(context, 0, regex, [](void* p) { delete static_cast<Regex*>(p); });
    regex = static_cast<Regex*>(sqlite3_get_auxdata(context, 0));
    if (!regex) return sqlite3_result_error_nomem(context);
  }
  const char* text = text_of(args[1]);
  sqlite3_result_int(context, text && regexec(&regex->compiled, text, 0, nullptr, 0) == 0);
}

// ---------------------------------------------------------------- aggregates
// SQLite hands out zeroed memory for an aggregate's state; these states live on the heap and are owned by `finish`.
template <class State>
State* state_of(sqlite3_context* context, bool create) {
  auto** slot = static_cast<State**>(sqlite3_aggregate_context(context, create ? sizeof(State*) : 0));
  if (!slot) return nullptr;
  if (!*slot && create) *slot = new State;
  return *slot;
}

struct Percentile {
  Histogram histogram;
  double share = 0.5, least = 0, most = INFINITY;
  bool first = true;
};

void percentile_step(sqlite3_context* context, int, sqlite3_value** args) {
  auto* p = state_of<Percentile>(context, true);
  if (!p) return sqlite3_result_error_nomem(context);
  const auto* blob = static_cast<const unsigned char*>(sqlite3_value_blob(args[0]));
  if (blob) p->histogram.add({blob, static_cast<std::size_t>(sqlite3_value_bytes(args[0]))});
  p->share = std::clamp(sqlite3_value_double(args[1]), 0.0, 1.0);
  if (sqlite3_value_type(args[2]) == SQLITE_NULL || sqlite3_value_type(args[3]) == SQLITE_NULL) return;
  const double least = sqlite3_value_double(args[2]), most = sqlite3_value_double(args[3]);
  p->least = p->first ? least : std::min(p->least, least);
  p->most = p->first ? most : std::max(p->most, most);
  p->first = false;
}

void percentile_finish(sqlite3_context* context) {
  const std::unique_ptr<Percentile> p(state_of<Percentile>(context, false));
  if (!p) return;
  const auto value = p->histogram.percentile(p->share);
  if (value) sqlite3_result_int64(context, std::llround(std::min(std::max(*value, p->least), std::min(p->most, 9e18))));
}

struct Trend {
  static constexpr std::size_t kParts = 40;
  std::vector<std::int64_t> parts;
};

void trend_step(sqlite3_context* context, int, sqlite3_value** args) {
  auto* t = state_of<Trend>(context, true);
  if (!t) return sqlite3_result_error_nomem(context);
  const double at = sqlite3_value_double(args[0]), first = sqlite3_value_double(args[2]),
               last = sqlite3_value_double(args[3]);
  const double width = last - first + 1;
  if (!(width >= 1) || at < first || at > last) return;
  if (t->parts.empty()) t->parts.resize(static_cast<std::size_t>(std::min(width, static_cast<double>(Trend::kParts))));
  const auto part = static_cast<std::size_t>((at - first) / width * static_cast<double>(t->parts.size()));
  std::int64_t& sum = t->parts[std::min(part, t->parts.size() - 1)];
  if (__builtin_add_overflow(sum, std::max<std::int64_t>(0, sqlite3_value_int64(args[1])), &sum)) sum = INT64_MAX;
}

void trend_finish(sqlite3_context* context) {
  const std::unique_ptr<Trend> t(state_of<Trend>(context, false));
  if (!t || t->parts.empty()) return;
  std::string text;
  for (const std::int64_t n : t->parts) text += (text.empty() ? "" : ",") + std::to_string(n);
  sqlite3_result_text(context, text.data(), static_cast<int>(text.size()), SQLITE_TRANSIENT);
}

// SQLite may be built without its functions of mathematics.
void log2_of(sqlite3_context* context, int, sqlite3_value** args) {
  const double value = sqlite3_value_double(args[0]);
  if (value > 0) sqlite3_result_double(context, std::log2(value));
}

constexpr int kFlags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS;

}  // namespace

void register_functions(sqlite3* db, StackTexts& stacks) {
  sqlite3_create_function_v2(db, "regexp", 2, kFlags, nullptr, regexp, nullptr, nullptr, nullptr);
  sqlite3_create_function_v2(db, "log2", 1, kFlags, nullptr, log2_of, nullptr, nullptr, nullptr);
  sqlite3_create_function_v2(db, "fade_percentile", 4, kFlags, nullptr, nullptr, percentile_step, percentile_finish,
                             nullptr);
  sqlite3_create_function_v2(db, "fade_trend", 4, kFlags, nullptr, nullptr, trend_step, trend_finish, nullptr);
  // It reads the file: not for what the file's own views ask.
  sqlite3_create_function_v2(db, "fade_frames", 2, SQLITE_UTF8 | SQLITE_DIRECTONLY, &stacks, StackTexts::function,
                             nullptr, nullptr, nullptr);
}

}  // namespace fade::query
