#include "cli/timeline/json_events.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <unordered_map>

#include "cli/table/text.hpp"
#include "cli/timeline/nesting.hpp"
#include "cli/timeline/utf8.hpp"

namespace fade::timeline {
namespace {

// Numbers above those of Linux's processes and threads (PID_MAX_LIMIT), for lanes that are neither.
constexpr std::int64_t kOwnNumbers = std::int64_t{1} << 22;

struct Category {
  std::string_view ours, kinetos;
};
constexpr Category kCategories[] = {
    {"hip", "cuda_runtime"}, {"hiprtc", "cuda_runtime"}, {"cudart", "cuda_runtime"},   {"cuda", "cuda_driver"},
    {"nvml", "cuda_driver"}, {"user", "cpu_op"},         {"range", "user_annotation"}, {"step", "user_annotation"},
    {"kernel", "kernel"},    {"copy", "gpu_memcpy"},     {"fill", "gpu_memset"},       {"operator", "cpu_op"},
};

// The place of a track's events: a process and a thread as the format knows them.
struct Spot {
  std::int64_t pid = 0, tid = 0;
  std::string name;  // of a counter
  bool is_bytes = false;
};

class JsonWriter : public Writer {
 public:
  JsonWriter(table::Bytes& out, bool kineto) : out_(out), kineto_(kineto) {}

  Result<void> begin(const Head& head) override;
  Result<void> track(const Track& track) override;
  Result<void> slice(const Event& event) override;
  Result<void> instant(const Event& event) override;
  Result<void> count(std::uint64_t track, std::int64_t at, std::int64_t value) override;
  Result<void> end() override { return out_.write(fmt::format("\n],\n\"traceName\": {}\n}}\n", quoted(name_))); }

 private:
  static std::string quoted(std::string_view text) { return table::json_quote(cut_text(text)); }
  std::string_view category(std::string_view ours) const;
  Spot spot_of(const Track& track);
  Result<void> name_track(const Track& track, const Spot& spot);
  Result<void> meta(std::string_view what, const Spot& spot, std::string_view key, const std::string& value);
  void add_time(std::int64_t at);
  void add_head(char phase, const Event& event);
  void add_arguments(const Event& event);
  void add_argument(const Argument& argument);
  void add_flow(char phase, std::string_view binding, const Event& event, std::uint64_t flow);
  void add_kinetos_head(const Head& head);
  Result<void> write_event();
  template <class... Args>
  void add(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(line_), format, std::forward<Args>(args)...);
  }

  table::Bytes& out_;
  const bool kineto_;
  std::string name_;
  std::int64_t end_ = 0;
  std::unordered_map<std::uint64_t, Spot> spots_;
  Nesting nesting_{[](std::uint64_t, std::int64_t) { return Result<void>{}; }};
  bool has_event_ = false;
  std::string line_;
};

void JsonWriter::add_kinetos_head(const Head& head) {
  add("\"schemaVersion\": 1,\n\"deviceProperties\": [");
  for (std::size_t i = 0; i < head.devices.size(); ++i) {
    const Device& d = head.devices[i];
    add("{}\n  {{\"id\": {}, \"name\": {}, \"arch\": {}, \"totalGlobalMem\": {}, \"numSms\": {}}}", i == 0 ? "" : ",",
        d.id, quoted(d.name), quoted(d.arch), d.memory, d.multiprocessors);
  }
  add("],\n");
  // Holistic Trace Analysis looks for the rank with its space.
  if (head.rank)
    add("\"distributedInfo\": {{\"rank\": {}, \"world_size\": {}}},\n", *head.rank, head.world.value_or(1));
  add("\"baseTimeNanoseconds\": {},\n", head.epoch_ns);
}

Result<void> JsonWriter::begin(const Head& head) {
  name_ = head.name;
  end_ = head.end;
  line_ = "{\n";
  if (kineto_) add_kinetos_head(head);
  add("\"displayTimeUnit\": \"{}\",\n\"otherData\": {{\"start_ns\": \"{}\"", kineto_ ? "ms" : "ns", head.epoch_ns);
  for (const auto& [name, text] : head.notes) add(", {}: {}", quoted(name), quoted(text));
  add("}},\n\"traceEvents\": [");
  return out_.write(line_);
}

std::string_view JsonWriter::category(std::string_view ours) const {
  for (const Category& c : kCategories)
    if (kineto_ && c.ours == ours) return c.kinetos;
  return kineto_ ? "cpu_instant_event" : ours;
}

// Lanes get a number of their own in the process of their parent; in Kineto's form those that nest with calls are part
// of the thread, and the work of a GPU stands under its number and its stream.
Spot JsonWriter::spot_of(const Track& track) {
  const auto parent = spots_.find(track.parent);
  const bool known = parent != spots_.end();
  const auto own = kOwnNumbers + static_cast<std::int64_t>(track.id % (std::uint64_t{1} << 30));
  if (track.place == Place::Process) return {track.pid, track.pid};
  if (track.place == Place::Thread) return {track.pid, track.tid};
  if (track.place == Place::Counter) return {known ? parent->second.pid : kOwnNumbers, 0, track.name, track.is_bytes};
  if (kineto_ && track.place == Place::Device) return {track.device, track.stream};
  if (kineto_ && track.folds && known) return parent->second;
  return {known ? parent->second.pid : kOwnNumbers, own};
}

Result<void> JsonWriter::track(const Track& track) {
  const Spot spot = spot_of(track);
  spots_[track.id] = spot;
  return name_track(track, spot);
}

Result<void> JsonWriter::name_track(const Track& track, const Spot& spot) {
  if (track.place == Place::Counter || (kineto_ && track.folds)) return {};
  if (track.place == Place::Process) {
    if (auto done = meta("process_name", spot, "name", quoted(track.name)); !done) return done;
    return meta("process_labels", spot, "labels", quoted(track.command));
  }
  if (kineto_ && track.place == Place::Device)
    if (auto done = meta("process_name", spot, "name", quoted(fmt::format("GPU {}", track.device))); !done) return done;
  const bool is_global = spot.pid == kOwnNumbers;
  if (is_global)
    if (auto done = meta("process_name", spot, "name", "\"fade\""); !done) return done;
  if (auto done = meta("thread_name", spot, "name", quoted(track.name)); !done) return done;
  return meta("thread_sort_index", spot, "sort_index", std::to_string(spot.tid));
}

Result<void> JsonWriter::meta(std::string_view what, const Spot& spot, std::string_view key, const std::string& value) {
  line_.clear();
  add("{{\"ph\":\"M\",\"name\":\"{}\",\"pid\":{},\"tid\":{},\"ts\":0,\"args\":{{\"{}\":{}}}}}", what, spot.pid,
      spot.tid, key, value);
  return write_event();
}

// In microseconds; three decimals are nanoseconds.
void JsonWriter::add_time(std::int64_t ns) {
  add("{}{}.{:03}", ns < 0 ? "-" : "", std::abs(ns) / 1000, std::abs(ns) % 1000);
}

void JsonWriter::add_head(char phase, const Event& event) {
  const Spot& spot = spots_[event.track];
  line_.clear();
  add("{{\"ph\":\"{}\",\"cat\":\"{}\",\"name\":{},\"pid\":{},\"tid\":{},\"ts\":", phase, category(event.category),
      quoted(event.name), spot.pid, spot.tid);
  add_time(event.start);
}

void JsonWriter::add_argument(const Argument& argument) {
  add("{}:", quoted(argument.name));
  if (const auto* n = std::get_if<std::int64_t>(&argument.value)) return add("{}", *n);
  if (const auto* x = std::get_if<double>(&argument.value))
    return add("{}", std::isfinite(*x) ? fmt::format("{}", *x) : "null");
  if (const auto* b = std::get_if<bool>(&argument.value)) return add("{}", *b);
  if (const auto* json = std::get_if<Json>(&argument.value); json && json->text.size() <= kMostText)
    return add("{}", table::json_on_one_line(json->text));
  else if (json) return add("{}", quoted(json->text));
  add("{}", quoted(std::get<std::string_view>(argument.value)));
}

void JsonWriter::add_arguments(const Event& event) {
  std::string_view comma;
  add(",\"args\":{{");
  for (const Argument& argument : event.arguments) {
    line_ += comma;
    add_argument(argument);
    comma = ",";
  }
  const std::uint64_t flow = event.flow_out != 0 ? event.flow_out : event.flow_in;
  if (kineto_ && flow != 0) add("{}\"correlation\":{}", comma, flow), comma = ",";
  if (!event.call_arguments.empty()) {
    add("{}\"arguments\":{{", comma);
    comma = "";
    for (const Argument& argument : event.call_arguments) {
      line_ += comma;
      add_argument(argument);
      comma = ",";
    }
    line_ += '}';
  }
  line_ += '}';
}

void JsonWriter::add_flow(char phase, std::string_view binding, const Event& event, std::uint64_t flow) {
  if (flow == 0) return;
  const Spot& spot = spots_[event.track];
  add(",\n{{\"ph\":\"{}\",\"cat\":\"ac2g\",\"name\":\"ac2g\",\"id\":{},\"pid\":{},\"tid\":{},\"ts\":", phase, flow,
      spot.pid, spot.tid);
  add_time(event.start);
  add("{}}}", binding);
}

Result<void> JsonWriter::slice(const Event& event) {
  const auto end = nesting_.open(event.track, event.start, event.end);
  if (!end) return tl::unexpected(end.error());
  add_head('X', event);
  add(",\"dur\":");
  add_time(end->value_or(std::max(end_, event.start)) - event.start);
  add_arguments(event);
  line_ += '}';
  add_flow('s', "", event, event.flow_out);
  add_flow('f', ",\"bp\":\"e\"", event, event.flow_in);
  return write_event();
}

Result<void> JsonWriter::instant(const Event& event) {
  add_head('i', event);
  add(",\"s\":\"t\"");
  add_arguments(event);
  line_ += '}';
  return write_event();
}

Result<void> JsonWriter::count(std::uint64_t track, std::int64_t at, std::int64_t value) {
  const Spot& spot = spots_[track];
  line_.clear();
  add("{{\"ph\":\"C\",\"name\":{},\"pid\":{},\"tid\":{},\"ts\":", quoted(spot.name), spot.pid, spot.tid);
  add_time(at);
  add(",\"args\":{{\"{}\":{}}}}}", spot.is_bytes ? "bytes" : "value", value);
  return write_event();
}

Result<void> JsonWriter::write_event() {
  if (auto done = out_.write(has_event_ ? ",\n" : "\n"); !done) return done;
  has_event_ = true;
  return out_.write(line_);
}

}  // namespace

std::unique_ptr<Writer> make_chrome_writer(table::Bytes& out) { return std::make_unique<JsonWriter>(out, false); }
std::unique_ptr<Writer> make_kineto_writer(table::Bytes& out) { return std::make_unique<JsonWriter>(out, true); }

}  // namespace fade::timeline
