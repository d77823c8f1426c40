#include "supervisor/recording.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/log.hpp"
#include "base/own_memory.hpp"
#include "probes/device_properties.hpp"
#include "supervisor/call_cost.hpp"
#include "supervisor/coverage_plan.hpp"
#include "supervisor/detail_rule.hpp"
#include "supervisor/kfd_topology.hpp"
#include "supervisor/output_name.hpp"
#include "supervisor/preparation.hpp"
#include "supervisor/step_rule.hpp"

namespace fade {
namespace {

constexpr std::int64_t kMemoryPeriod = 100'000'000;

}  // namespace

Result<void> Recording::open(std::string kind, std::vector<std::string> command, Pid pid) {
  const OutputNameFacts facts = output_name_facts(command[0], pid.value());
  const bool may_choose = options_.output.empty() && options_.open_mode == OpenMode::Create;
  auto name = may_choose ? free_default_name(facts) : expand_output_name(options_.output, facts);
  if (!name) return tl::unexpected(std::move(name.error()));
  database_ = std::move(*name);
  std::error_code ignored;
  auto step = parse_step(step_of(options_));
  if (!step) return tl::unexpected(std::move(step.error()));
  auto detail_rule = parse_detail_rule(options_);
  if (!detail_rule) return tl::unexpected(std::move(detail_rule.error()));
  const std::string folder = std::filesystem::current_path(ignored).string();
  using live::Announcer;
  announcer_ = std::make_unique<Announcer>(
      folder, [](const std::string& sentence) { log::announce(sentence); },
      log::level() >= log::Level::Debug ? Announcer::Failures::FirstOfEachKind : Announcer::Failures::OutOfMemory);
  std::vector<BatchReader*> readers = options_.readers;
  readers.push_back(announcer_.get());
  for (BatchReader* reader : readers) reader->begins(clock_);
  const KfdTopology topology = KfdReader(options_.sysfs_root).read();
  auto writer = store::Writer::open({.path = database_,
                                     .open_mode = options_.open_mode,
                                     .max_bytes = options_.max_bytes,
                                     .on_full = options_.on_full,
                                     .detail = options_.detail,
                                     .kernel_include = options_.kernel_include,
                                     .kernel_exclude = options_.kernel_exclude,
                                     .step = std::move(*step),
                                     .detail_rule = std::move(*detail_rule),
                                     .readers = std::move(readers)},
                                    {.kind = std::move(kind),
                                     .cwd = folder,
                                     .command = std::move(command),
                                     .options = shown_options(options_.typed),
                                     .coverage = coverage_,
                                     .clock = clock_,
                                     .kfd = topology},
                                    queue_);
  if (!writer) return tl::unexpected(std::move(writer.error()));
  writer_ = std::move(*writer);
  auto started = writer_->start();
  if (!started && options_.open_mode != OpenMode::Append) std::filesystem::remove(database_, ignored);
  if (started && options_.sensors) watch_sensors(topology);
  return started;
}

// A recording without sensors is better than none.
void Recording::watch_sensors(const KfdTopology& topology) {
  sensors_ = std::make_unique<SensorWatch>(sensors_of(options_.sysfs_root, topology), clock_);
  sensors_->pause(options_.delay_ns.has_value());
  if (const auto started = sensors_->start(); !started) log::error("{}", started.error().text());
}

void Recording::store_sensors(std::vector<GpuSample> samples) {
  for (GpuSample& sample : samples) queue_.notice(std::move(sample));
}

void Recording::begin(Session& session, const Tracer& tracer) {
  stop_ = measure_call_cost(tracer, queue_);
  if (session.engine() != CaptureEngine::Breakpoints) taps_ = measure_tap_cost(queue_, session.has_budget());
  session.know_prices({stop_.here_ns, taps_.tap_ns, taps_.gate_ns}, stop_.run_ns);
  for (const probes::Rule& rule : overrides_.rules())
    queue_.notice(OverrideRule{rule.id, rule.spec, rule.target, rule.value, rule.origin});
  const probes::Injections& injections = session.injections();
  for (const probes::Injection& rule : injections.rules())
    queue_.notice(InjectionRule{rule.id, rule.spec, rule.function, rule.action, rule.origin, injections.seed()});
  session.begin_actions(database_);
  session.begin_checks(database_);
  if (options_.delay_ns) session.set_recording(recording_ = false);
}

void Recording::began_without(const std::vector<HiddenDevice>& devices) {
  for (const HiddenDevice& one : devices)
    queue_.notice(InjectionHit{
        .rule = one.rule, .at = clock_.now(), .action = "environment", .was = one.was, .became = one.became});
}

void Recording::mark() { queue_.notice(Lifecycle{.at = clock_.now(), .kind = "mark", .detail = "fadectl mark"}); }

// --delay and --duration: events outside of the window are not recorded.
void Recording::keep_window(Session& session, std::int64_t now) {
  const bool wanted = !paused_ && now >= options_.delay_ns.value_or(0) && !window_is_over(now);
  if (wanted == recording_) return;
  session.set_recording(recording_ = wanted);
  if (sensors_) sensors_->pause(!wanted);
  // After the window a call need not cost anything, unless rules go on being applied.
  if (window_is_over(now) && overrides_.empty() && session.injections().empty()) session.stop_watching();
}

void Recording::now_and_then(Session& session, std::int64_t now) {
  keep_window(session, now);
  if (sampling_ && recording_ && sampling_->is_due(now)) session.take_samples();
  session.tick(now);
  if (now - last_memory_look_ < kMemoryPeriod) return;
  last_memory_look_ = now;
  look_after_memory();
  if (!sensors_) return;
  sensors_->watch(session.pids());
  store_sensors(sensors_->take());
}

std::chrono::milliseconds Recording::tick() const {
  constexpr std::int64_t kUsual = 50, kSecond = 1000;
  return std::chrono::milliseconds(
      options_.sample_hz ? std::clamp(kSecond / *options_.sample_hz, std::int64_t{1}, kUsual) : kUsual);
}

// Reported once, at once: the following work may not come to its end.
void Recording::look_after_memory() {
  if (runs_short_ || !own_memory::is_scarce()) return;
  runs_short_ = true;
  log::error("{}", own_memory::scarcity().text());
}

namespace {

std::string why_no_rule_was_applied(const probes::Overrides& rules, const Session::Totals& seen) {
  const auto is_of_preset = [](const probes::Rule& rule) { return rule.origin.starts_with(kOfPreset); };
  if (std::ranges::all_of(rules.rules(), is_of_preset))
    return fmt::format("{} changed no answer: the program never asked how much memory its devices have",
                       rules.rules().front().origin);
  if (seen.excluded.empty()) return "no --set rule took effect; the program never read these properties";
  const std::string more = seen.excluded.size() > 1 ? fmt::format(" ({} more)", seen.excluded.size() - 1) : "";
  return fmt::format("no --set rule took effect: {}{}", seen.excluded.front(), more);
}

// The causes of the first rules; fade-query injections shows all rules.
std::vector<std::string> why_idle(const probes::Injections& rules, const Session::Totals& seen) {
  constexpr std::size_t kMostTold = 3;
  std::vector<std::string> out{"no --inject or --replace rule took effect (fade-query injections)"};
  for (const probes::Injection& rule : rules.rules().first(std::min(kMostTold, rules.rules().size())))
    out.push_back(fmt::format("{}: {}", probes::escaped(rule.spec), rules.why_idle(rule, seen.rules_seen)));
  return out;
}

}  // namespace

RunSummary Recording::finish(Session& session) {
  session.report_costs(true);
  if (sensors_) store_sensors(sensors_->finish());
  const store::Totals totals = writer_->finish();
  const Session::Totals seen = session.totals();
  RunSummary out{.database = database_,
                 .duration_ns = clock_.now(),
                 .calls = totals.calls,
                 .errors = totals.errors,
                 .dropped = totals.dropped,
                 .overrides_applied = totals.overrides,
                 .launches = totals.launches,
                 .gpu_busy_ns = totals.gpu_busy_ns,
                 .injected = totals.injections,
                 .stops = seen.stops,
                 .stopped_ns = seen.stopped_ns,
                 .processes = seen.processes,
                 .threads = seen.threads,
                 .functions_armed = seen.functions_armed,
                 .is_filtered = is_filtered(coverage_),
                 .vanished = seen.vanished,
                 .libraries = seen.libraries,
                 .peak_memory = totals.peak_memory,
                 .postmortems = seen.postmortems,
                 .notes = seen.notes};
  const CostOfStops stop = stop_.as_seen(seen);
  const auto whole = [&](std::uint64_t stops, std::int64_t held_ns, std::uint64_t crossed = 0) {
    return held_ns + static_cast<std::int64_t>(stops - crossed) * stop.here_ns +
           static_cast<std::int64_t>(crossed) * stop.apart_ns;
  };
  out.cost = {.is_measured = stop.here_ns > 0,
              .threads = seen.stopped_threads,
              .calls_ns = whole(seen.call_stops, seen.call_held_ns, seen.crossed_stops),
              .tapped = totals.tapped + totals.counted,
              .taps_ns = static_cast<std::int64_t>(totals.tapped) * taps_.tap_ns +
                         static_cast<std::int64_t>(totals.counted) * taps_.gate_ns,
              .other_ns = whole(seen.stops - seen.call_stops, seen.stopped_ns - seen.call_held_ns),
              .busiest_ns = whole(seen.busiest_stops, seen.busiest_held_ns, seen.busiest_crossed),
              .life_ns = seen.main_life_ns > 0 ? seen.life_ns : clock_.now()};
  if (seen.main_life_ns > 0) out.duration_ns = seen.main_life_ns;
  for (const auto& one : totals.top) out.top.push_back({one.name, one.calls, one.errors, one.total_ns, one.untimed});
  for (const std::string& note : overrides_.notes()) out.notes.push_back(note);
  if (!overrides_.empty() && totals.overrides == 0 && session.cached().changed == 0)
    out.notes.push_back(why_no_rule_was_applied(overrides_, seen));
  if (!session.injections().empty() && totals.injections == 0)
    for (std::string& note : why_idle(session.injections(), seen)) out.notes.push_back(std::move(note));
  return out;
}

void Recording::discard() {
  sensors_.reset();
  writer_->finish();
  std::error_code ignored;
  if (options_.open_mode != OpenMode::Append) std::filesystem::remove(database_, ignored);
}

}  // namespace fade
