#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <istream>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/foreign/text_source.hpp"
#include "cli/foreign/trace.hpp"

namespace fade::foreign {
namespace {

constexpr std::size_t kMostDepth = 64;
constexpr std::int64_t kMostMicroseconds = std::int64_t{1} << 52;  // until the year 2112
constexpr std::int64_t kMostBase = std::int64_t{1} << 61, kMostDuration = std::int64_t{1} << 59;
constexpr std::string_view kOwnKernels = "__amd_rocclr_";

enum class Row { Other, Call, Kernel, Copy, Fill, Operator };
struct CategoryRow {
  std::string_view category;
  Row row;
};
// Kineto's words of today and of its older releases.
constexpr CategoryRow kCategoryRows[] = {
    {"cuda_runtime", Row::Call}, {"cuda_driver", Row::Call}, {"hip_runtime", Row::Call}, {"Runtime", Row::Call},
    {"kernel", Row::Kernel},     {"Kernel", Row::Kernel},    {"gpu_memcpy", Row::Copy},  {"Memcpy", Row::Copy},
    {"gpu_memset", Row::Fill},   {"Memset", Row::Fill},      {"cpu_op", Row::Operator},  {"operator", Row::Operator}};

Row row_of(std::string_view category) {
  for (const CategoryRow& c : kCategoryRows)
    if (c.category == category) return c.row;
  return Row::Other;
}

// One value of an event: what it says as a number, and as nanoseconds if it is in microseconds.
struct Scalar {
  std::optional<std::int64_t> whole, ns;
  std::string text;
};

Scalar whole_number(std::int64_t n) {
  Scalar out{.whole = n};
  if (std::abs(n) < kMostMicroseconds) out.ns = n * 1000;
  return out;
}

// A double cannot hold the nanoseconds of today, so the digits are read: "1700000000000000.123".
std::optional<std::int64_t> exact_ns(std::string_view digits) {
  const bool negative = digits.starts_with('-');
  if (negative) digits.remove_prefix(1);
  const std::size_t dot = digits.find('.');
  std::int64_t whole = 0, part = 0, scale = 100;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + std::min(dot, digits.size()), whole);
  if (error != std::errc{} || dot == digits.npos || end != digits.data() + dot || whole >= kMostMicroseconds)
    return std::nullopt;
  for (std::size_t i = dot + 1; i < digits.size() && scale > 0; ++i, scale /= 10) {
    if (digits[i] < '0' || digits[i] > '9') return std::nullopt;
    part += (digits[i] - '0') * scale;
  }
  return (negative ? -1 : 1) * (whole * 1000 + part);
}

Scalar fraction(double value, const std::string& digits) {
  Scalar out;
  if (std::abs(value) >= static_cast<double>(kMostMicroseconds)) return out;
  const bool has_exponent = digits.find_first_of("eE") != digits.npos;
  out.whole = std::llround(value);
  out.ns = has_exponent ? std::llround(value * 1000) : exact_ns(digits);
  return out;
}

struct TraceEvent {
  std::string phase, category, name;
  Scalar pid, tid, ts, dur, correlation, device, queue, bytes;
};

// Called by the parser for each part of the text. Neither recurses.
class KinetoHandler {
 public:
  explicit KinetoHandler(Sink& sink) : sink_(sink) {}

  std::optional<Error> error;
  bool has_events = false;
  std::int64_t base = 0;

  bool null() { return true; }
  bool boolean(bool) { return true; }
  bool number_integer(std::int64_t n) { return take(whole_number(n)); }
  bool number_unsigned(std::uint64_t n) {
    return take(n > INT64_MAX ? Scalar{} : whole_number(static_cast<std::int64_t>(n)));
  }
  bool number_float(double x, const std::string& digits) { return take(fraction(x, digits)); }
  bool string(std::string& text) { return take({.text = std::move(text)}); }
  bool binary(std::vector<std::uint8_t>&) { return false; }
  bool start_object(std::size_t) { return open(true); }
  bool end_object() { return close(); }
  bool start_array(std::size_t) { return open(false); }
  bool end_array() { return close(); }
  bool key(std::string& text) {
    if (depth_ == 1) top_key_ = text;
    if (in_event_ && depth_ == events_depth_ + 1) key_ = text;
    if (in_arguments_ && depth_ == events_depth_ + 2) argument_ = text;
    return true;
  }
  bool parse_error(std::size_t at, const std::string&, const nlohmann::json::exception&) {
    return refuse(fmt::format("it is no complete JSON: byte {} is not as it should be", at));
  }

 private:
  bool refuse(std::string cause) {
    if (!error) error = Error{.message = "", .cause = std::move(cause)};
    return false;
  }
  bool open(bool is_object);
  bool close();
  bool take(Scalar value);
  bool take_base(const Scalar& value);
  bool finish_event();
  Result<void> give(Row row);
  Result<void> give_work(Row row, std::int64_t start);
  std::optional<std::string> problem_of_event() const;

  Sink& sink_;
  std::size_t depth_ = 0, events_depth_ = 0;  // events_depth_: of the array of events; 0: outside
  bool in_event_ = false, in_arguments_ = false;
  std::string top_key_, key_, argument_;
  TraceEvent event_;
  std::uint64_t n_ = 0;
};

bool KinetoHandler::open(bool is_object) {
  if (++depth_ > kMostDepth) return refuse("it is nested too deeply");
  const bool is_events =
      !is_object && events_depth_ == 0 && (depth_ == 1 || (depth_ == 2 && top_key_ == "traceEvents"));
  if (is_events) events_depth_ = depth_, has_events = true;
  else if (events_depth_ != 0 && depth_ == events_depth_ + 1) {
    if (!is_object) return refuse("an event in it is no object");
    in_event_ = true, event_ = {}, key_.clear(), ++n_;
  } else if (in_event_ && depth_ == events_depth_ + 2) in_arguments_ = is_object && key_ == "args";
  return true;
}

bool KinetoHandler::close() {
  if (in_event_ && depth_ == events_depth_ + 1) {
    in_event_ = false;
    if (!finish_event()) return false;
  }
  if (depth_ == events_depth_ + 2) in_arguments_ = false;
  if (depth_ == events_depth_) events_depth_ = 0, top_key_.clear();
  --depth_;
  return true;
}

bool KinetoHandler::take_base(const Scalar& value) {
  if (!value.whole || std::abs(*value.whole) > kMostBase) return refuse("its baseTimeNanoseconds is no time");
  base = *value.whole;
  return true;
}

bool KinetoHandler::take(Scalar value) {
  if (depth_ == 1 && top_key_ == "baseTimeNanoseconds") return take_base(value);
  if (!in_event_) return depth_ != events_depth_ || events_depth_ == 0 ? true : refuse("an event in it is no object");
  if (depth_ == events_depth_ + 1) {
    if (key_ == "ph") event_.phase = std::move(value.text);
    else if (key_ == "cat") event_.category = std::move(value.text);
    else if (key_ == "name") event_.name = std::move(value.text);
    else if (key_ == "pid") event_.pid = std::move(value);
    else if (key_ == "tid") event_.tid = std::move(value);
    else if (key_ == "ts") event_.ts = std::move(value);
    else if (key_ == "dur") event_.dur = std::move(value);
  } else if (in_arguments_ && depth_ == events_depth_ + 2) {
    if (argument_ == "correlation") event_.correlation = std::move(value);
    else if (argument_ == "device") event_.device = std::move(value);
    else if (argument_ == "queue" || argument_ == "hsa_queue") event_.queue = std::move(value);
    else if (argument_ == "bytes") event_.bytes = std::move(value);
  }
  return true;
}

std::optional<std::string> KinetoHandler::problem_of_event() const {
  const auto wrong = [&](const char* what) { return fmt::format("event {} in it has {}", n_, what); };
  if (!event_.ts.ns || !event_.dur.ns) return wrong("a time that is no number, or too large a one");
  if (*event_.dur.ns < 0) return wrong("a duration below 0");
  if (*event_.dur.ns > kMostDuration) return wrong("a duration of years");
  if (!event_.pid.whole || !event_.tid.whole) return wrong("a process or thread that is no number");
  if (event_.name.empty()) return wrong("no name");
  return std::nullopt;
}

bool KinetoHandler::finish_event() {
  const Row row = event_.phase == "X" ? row_of(event_.category) : Row::Other;
  if (row == Row::Other) return true;
  if (const auto problem = problem_of_event()) return refuse(*problem);
  auto done = give(row);
  if (!done) error = done.error();
  return done.has_value();
}

Result<void> KinetoHandler::give(Row row) {
  const std::int64_t start = *event_.ts.ns, end = start + *event_.dur.ns;
  if (row == Row::Operator) return sink_.operation({*event_.pid.whole, *event_.tid.whole, start, end, event_.name});
  if (row != Row::Call) return give_work(row, start);
  return sink_.call(
      {*event_.pid.whole, *event_.tid.whole, start, end, event_.correlation.whole.value_or(0), event_.name});
}

// For work of a GPU `pid` holds the number of the device, and `tid` that of the stream.
Result<void> KinetoHandler::give_work(Row row, std::int64_t start) {
  const bool is_own = event_.name.starts_with(kOwnKernels);
  WorkKind kind = row == Row::Copy ? WorkKind::Copy : row == Row::Fill ? WorkKind::Fill : WorkKind::Kernel;
  if (row == Row::Kernel && is_own) kind = kind_of_kernel(event_.name);
  return sink_.work({.correlation = event_.correlation.whole.value_or(0),
                     .kind = kind,
                     .is_kernel = row == Row::Kernel || is_own,
                     .name = event_.name,
                     .device = event_.device.whole.value_or(*event_.pid.whole),
                     .queue = event_.queue.whole.value_or(-1),
                     .start = start,
                     .end = start + *event_.dur.ns,
                     .bytes = event_.bytes.whole.value_or(-1)});
}

}  // namespace

WorkKind kind_of_kernel(std::string_view name) {
  if (!name.starts_with(kOwnKernels)) return WorkKind::Kernel;
  name.remove_prefix(kOwnKernels.size());
  if (name.starts_with("fill")) return WorkKind::Fill;
  return name.starts_with("copy") ? WorkKind::Copy : WorkKind::Kernel;
}

Result<Origin> read_kineto(const std::string& path, Sink& sink) {
  TextSource source(path);
  if (!source.is_open()) return fail_errno("cannot read " + path);
  std::istream stream(&source);
  KinetoHandler handler(sink);
  const bool whole = nlohmann::json::sax_parse(stream, &handler);
  const std::string doing = "cannot import " + path;
  if (!source.problem().empty()) return fail(doing, source.problem());
  if (handler.error && !handler.error->message.empty()) return tl::unexpected(*handler.error);
  if (handler.error) return fail(doing, handler.error->cause);
  if (!whole || !handler.has_events)
    return fail(doing, "it is no trace: it has no list of events",
                "it takes rocpd databases and Kineto's or Chrome's JSON");
  return Origin{"kineto", Clock::Real, handler.base};
}

}  // namespace fade::foreign
