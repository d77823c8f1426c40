#include "service/metrics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <string_view>

namespace fade::service {
namespace {

constexpr double kSecond = 1e9;

// https://github.com/OpenObservability/OpenMetrics, specification 1.0: a family has a type and a help text, a sample of
// a counter ends in _total.
class Page {
 public:
  void family(std::string_view name, std::string_view type, std::string_view help, std::string_view unit = {}) {
    name_ = name;
    is_counter_ = type == "counter";
    text_ += fmt::format("# TYPE {} {}\n", name, type);
    if (!unit.empty()) text_ += fmt::format("# UNIT {} {}\n", name, unit);
    text_ += fmt::format("# HELP {} {}\n", name, help);
  }
  template <class Number>
  void sample(const std::string& labels, Number value) {
    text_ += fmt::format("{}{}{} {}\n", name_, is_counter_ ? "_total" : "", labels, value);
  }
  void info(const std::string& labels) { text_ += fmt::format("{}_info{} 1\n", name_, labels); }
  std::string finish() { return text_ + "# EOF\n"; }

 private:
  std::string text_, name_;
  bool is_counter_ = false;
};

// The name of a program may have any bytes, and one that is no text would make the whole page unreadable. Without
// control characters, JSON writes a text as OpenMetrics wants it.
std::string label_value(std::string_view text) { return ipc::to_text(ipc::Json(ipc::one_line(text))); }

std::string label(std::string_view name, std::string_view value) {
  return fmt::format("{{{}={}}}", name, label_value(value));
}

std::string labels_of(const SessionRecord& r) {
  return fmt::format(R"({{session="{}",uid="{}",pid="{}",program={}}})", r.id, r.uid, r.pid.value(),
                     label_value(r.program));
}

// A number of sessions: the sum of all, and for each session that runs.
struct Measure {
  std::string_view name, type, unit, help;
  double (*of_session)(const SessionRecord&);
  double (*of_ended)(const Counters&);  // nullptr: a session that ended has none
};
constexpr Measure kMeasures[] = {
    {"calls", "counter", "", "Calls of watched functions.",
     [](const SessionRecord& r) { return static_cast<double>(r.calls); },
     [](const Counters& c) { return static_cast<double>(c.calls); }},
    {"launches", "counter", "", "Kernels given to the GPU.",
     [](const SessionRecord& r) { return static_cast<double>(r.launches); },
     [](const Counters& c) { return static_cast<double>(c.launches); }},
    {"errors", "counter", "", "Calls that failed.",
     [](const SessionRecord& r) { return static_cast<double>(r.errors); },
     [](const Counters& c) { return static_cast<double>(c.errors); }},
    {"dropped", "counter", "", "Calls that are missing from recordings.",
     [](const SessionRecord& r) { return static_cast<double>(r.dropped); },
     [](const Counters& c) { return static_cast<double>(c.dropped); }},
    {"gpu_busy_seconds", "counter", "seconds",
     "Time in which GPUs worked for recorded processes, devices added up; only of sessions with --gpu-times.",
     [](const SessionRecord& r) { return static_cast<double>(r.gpu_busy_ns) / kSecond; },
     [](const Counters& c) { return static_cast<double>(c.gpu_busy_ns) / kSecond; }},
    {"memory_bytes", "gauge", "bytes", "GPU memory that recorded processes hold, as far as fade saw it allocated.",
     [](const SessionRecord& r) { return static_cast<double>(r.memory_bytes); }, nullptr},
    {"recording_bytes", "gauge", "bytes", "Size of recordings under way.",
     [](const SessionRecord& r) { return static_cast<double>(r.database_bytes); }, nullptr},
};

void add_sum(Page& page, const Measure& measure, const Metrics& metrics) {
  page.family(fmt::format("fade_{}", measure.name), measure.type, measure.help, measure.unit);
  double all = measure.of_ended ? measure.of_ended(metrics.ended) : 0;
  for (const SessionRecord& record : metrics.live) all += measure.of_session(record);
  page.sample({}, all);
}

void add_series(Page& page, const Measure& measure, const std::vector<SessionRecord>& sessions) {
  if (sessions.empty()) return;
  page.family(fmt::format("fade_session_{}", measure.name), measure.type, measure.help, measure.unit);
  for (const SessionRecord& record : sessions) page.sample(labels_of(record), measure.of_session(record));
}

std::vector<SessionRecord> with_series(const Metrics& metrics) {
  std::vector<SessionRecord> out = metrics.live;
  std::ranges::stable_sort(out, std::ranges::greater{}, &SessionRecord::calls);
  if (out.size() > kMostSeries) out.resize(kMostSeries);
  std::ranges::sort(out, {}, &SessionRecord::id);
  return out;
}

void add_sessions(Page& page, const Metrics& metrics) {
  constexpr State kLive[] = {State::Attaching, State::Recording, State::Paused, State::Stopping};
  page.family("fade_sessions", "gauge", "Sessions that run, by their state.");
  for (const State state : kLive)
    page.sample(label("state", state_word(state)), std::ranges::count(metrics.live, state, &SessionRecord::state));
  page.family("fade_sessions_started", "counter", "Sessions that began, by what asked for them.");
  for (const auto& [via, n] : metrics.started) page.sample(label("via", via), n);
  page.family("fade_sessions_ended", "counter", "Sessions that ended, by how.");
  for (const auto& [state, n] : metrics.finished) page.sample(label("state", state), n);
  page.family("fade_watches", "gauge", "Rules that attach to programs.");
  page.sample({}, metrics.watches);
}

// Each session reads the sensors of all GPUs of the machine; the last one that tells counts.
std::map<std::int64_t, GpuUse> gpus_of(const Metrics& metrics) {
  std::map<std::int64_t, GpuUse> out;
  for (const SessionRecord& record : metrics.live)
    for (const GpuUse& gpu : record.gpus) out[gpu.node] = gpu;
  return out;
}

void add_gpus(Page& page, const Metrics& metrics) {
  const auto gpus = gpus_of(metrics);
  page.family("fade_gpu_busy_ratio", "gauge", "How busy a GPU is for all processes, by its sensor; node of the driver.",
              "ratio");
  for (const auto& [node, gpu] : gpus)
    if (gpu.busy_percent)
      page.sample(label("node", std::to_string(node)), static_cast<double>(*gpu.busy_percent) / 100);
  page.family("fade_gpu_memory_bytes", "gauge", "Memory of a GPU in use by all processes, by its sensor.", "bytes");
  for (const auto& [node, gpu] : gpus)
    if (gpu.memory_bytes) page.sample(label("node", std::to_string(node)), *gpu.memory_bytes);
}

}  // namespace

void Counters::add(const SessionRecord& r) {
  calls += r.calls;
  errors += r.errors;
  launches += r.launches;
  dropped += r.dropped;
  gpu_busy_ns += r.gpu_busy_ns;
}

std::string open_metrics(const Metrics& metrics) {
  Page page;
  page.family("fade_build", "info", "The version of faded.");
  page.info(label("version", FADE_VERSION));
  add_sessions(page, metrics);
  add_gpus(page, metrics);
  const auto sessions = with_series(metrics);
  page.family("fade_sessions_without_series", "gauge", "Sessions that count in sums only, because there are many.");
  page.sample({}, metrics.live.size() - sessions.size());
  for (const Measure& measure : kMeasures) {
    add_sum(page, measure, metrics);
    add_series(page, measure, sessions);
  }
  return page.finish();
}

}  // namespace fade::service
