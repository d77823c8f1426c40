#include "cli/handover/handover.hpp"

#include <array>
#include <chrono>

#include "base/log.hpp"
#include "cli/table/text.hpp"
#include "ipc/client.hpp"

namespace fade::cli::handover {
namespace {

using ipc::Json;

constexpr std::chrono::minutes kAttachTime{2};  // a big program takes a while to look at
constexpr std::array<const char*, 3> kOnFull{"stop", "stats", "drop-calls"};
constexpr std::array<const char*, 3> kEngines{"auto", "breakpoints", "taps"};

void put(Json& json, const char* key, const std::vector<std::string>& values) {
  if (!values.empty()) json[key] = values;
}

std::string path_of(const Json& session) {
  return table::printable(ipc::text(session, "folder").value_or("") + "/" +
                          ipc::text(session, "database").value_or(""));
}

}  // namespace

Json recording_json(const RecordingOptions& o, bool tree) {
  const RecordingOptions usual;
  Json json = Json::object();
  put(json, "events", o.events);
  put(json, "include", o.include);
  put(json, "exclude", o.exclude);
  put(json, "kernel_include", o.kernel_include);
  put(json, "kernel_exclude", o.kernel_exclude);
  put(json, "set", o.set_rules);
  if (o.find_cached) json["find_cached"] = true;
  if (o.set_cached) json["set_cached"] = true;
  put(json, "inject", o.inject_rules);
  put(json, "replace", o.replace_rules);
  if (o.replaces_dry) json["replace_dry"] = true;
  if (o.seed) json["seed"] = static_cast<std::uint64_t>(*o.seed);
  put(json, "probe", o.probe_symbols);
  put(json, "only_ranks", o.only_ranks);
  if (!o.step.empty()) json["step"] = o.step;
  if (!o.schedule.empty()) json["schedule"] = o.schedule;
  if (!o.window.empty()) json["window"] = o.window;
  put(json, "triggers", o.triggers);
  if (!o.numbers.empty()) json["numbers"] = o.numbers;
  if (!o.check.empty()) json["check"] = o.check;
  if (o.keep_ns) json["keep_ns"] = static_cast<std::uint64_t>(*o.keep_ns);
  put(json, "stacks", o.stacks);
  if (o.stack_depth) json["stack_depth"] = static_cast<std::uint64_t>(*o.stack_depth);
  if (!o.native_stacks) json["native_stacks"] = false;
  if (!o.sensors) json["sensors"] = false;
  if (!o.python_stacks) json["python_stacks"] = false;
  if (o.detail != usual.detail) json["detail"] = o.detail.text();
  if (o.engine) json["engine"] = kEngines[static_cast<std::size_t>(*o.engine)];
  if (!o.budget.empty()) json["budget"] = o.budget;
  if (o.on_full != usual.on_full) json["on_full"] = kOnFull[static_cast<std::size_t>(o.on_full)];
  if (o.max_bytes != usual.max_bytes) json["max_size"] = o.max_bytes;
  if (o.duration_ns) json["duration_ns"] = static_cast<std::uint64_t>(*o.duration_ns);
  if (o.delay_ns) json["delay_ns"] = static_cast<std::uint64_t>(*o.delay_ns);
  if (o.hang_ns) json["hang_ns"] = static_cast<std::uint64_t>(*o.hang_ns);
  if (o.sample_hz) json["sample_hz"] = static_cast<std::uint64_t>(*o.sample_hz);
  if (o.gpu_times) json["gpu_times"] = true;
  if (o.operator_shapes) json["operator_shapes"] = true;
  if (!o.follow) json["follow"] = false;
  if (tree) json["tree"] = true;
  if (!json.empty()) put(json, "typed", o.typed);  // nothing else asks for anything: options of the client alone
  return json;
}

Result<void> check_options(const RecordingOptions& o) {
  const std::pair<const char*, bool> kinds[] = {{"--output", !o.output.empty()},
                                                {"--force or --append", o.open_mode != OpenMode::Create},
                                                {"--probes", !o.probe_files.empty()},
                                                {"--override-file", !o.rule_files.empty()},
                                                {"--inject-plan", !o.inject_plans.empty()},
                                                {"--actions", !o.actions.empty()},
                                                {"--exe", !o.child_filter.empty()},
                                                {"--sysfs-root", o.sysfs_root != RecordingOptions{}.sysfs_root}};
  for (const auto& [name, given] : kinds)
    if (given)
      return fail(std::string("--daemon and ") + name + " exclude each other",
                  "the daemon names its recordings itself and reads no files for others", {}, EINVAL);
  return {};
}

Result<Json> attach(const Handover& handover) {
  auto client = ipc::Client::connect(ipc::socket_path(handover.socket));
  if (!client) return tl::unexpected(std::move(client.error()));
  Json params{{"pid", handover.pid.value()}, {"options", handover.options}};
  if (!handover.name.empty()) params.update({{"run", true}, {"name", handover.name}});
  return client->call("attach", std::move(params), kAttachTime);
}

void say_session(const Json& session) {
  log::info("session {}: recording {} (pid {}) to {}", ipc::integer(session, "id").value_or(0),
            table::printable(ipc::text(session, "program").value_or("")), ipc::integer(session, "pid").value_or(0),
            path_of(session));
  for (const std::string& note : ipc::texts(session, "notes").value_or(std::vector<std::string>{}))
    log::info("note: {}", table::printable(note));
}

}  // namespace fade::cli::handover
