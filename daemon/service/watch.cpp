#include "service/watch.hpp"

#include <dirent.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <memory>

#include "base/glob.hpp"
#include "proc/proc_files.hpp"
#include "service/process_status.hpp"

namespace fade::service {
namespace {

constexpr std::size_t kLongestText = 1024;
constexpr std::size_t kMostMaps = 8 << 20;
constexpr std::uint64_t kEveryLook = 60, kThenEvery = 10;  // at programs that may take long to load their libraries

std::string lower(std::string_view text) {
  std::string out;
  for (const char c : text) out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

// * and ?, of which * crosses slashes. In time that grows with the product of both lengths: fnmatch(3) may take for
// ever.
bool matches(std::string_view pattern, std::string_view text) {
  std::size_t p = 0, t = 0, star = std::string_view::npos, star_text = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      star_text = t;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p, ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++star_text;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

}  // namespace

bool maps_gpu_runtime(std::string_view maps) {
  for (std::size_t at = 0; at < maps.size();) {
    const std::size_t end = std::min(maps.find('\n', at), maps.size());
    const std::string_view line = maps.substr(at, end - at);
    at = end + 1;
    const std::size_t begin = line.find('/');
    if (begin == std::string_view::npos) continue;
    const std::string_view file = base_name(line.substr(begin));
    if (file.starts_with("libamdhip64")) return true;
    if (file.starts_with("libcuda.so") && lower(line.substr(begin)).find("zluda") != std::string::npos) return true;
  }
  return false;
}

ipc::Json to_json(const WatchRule& rule) {
  ipc::Json json{{"id", rule.id},
                 {"owner", rule.owner},
                 {"owner_group", rule.owner_group},
                 {"cgroup", rule.cgroup},
                 {"options", rule.options}};
  json["exe"] = rule.exe ? ipc::Json(rule.exe->text()) : ipc::Json();
  json["uid"] = rule.uid ? ipc::Json(*rule.uid) : ipc::Json();
  return json;
}

Result<WatchRule> rule_from(const ipc::Json& json) {
  WatchRule rule;
  rule.id = ipc::natural(json, "id").value_or(0);
  rule.owner = static_cast<uid_t>(ipc::natural(json, "owner").value_or(0));
  rule.owner_group = static_cast<gid_t>(ipc::natural(json, "owner_group").value_or(0));
  rule.cgroup = ipc::text(json, "cgroup").value_or("");
  if (rule.cgroup.size() > Pattern::kLongest) return fail("the pattern for the cgroup is too long", {}, {}, EINVAL);
  if (const auto uid = ipc::natural(json, "uid")) rule.uid = static_cast<uid_t>(*uid);
  if (const ipc::Json* options = ipc::member(json, "options")) rule.options = *options;
  if (const auto exe = ipc::text(json, "exe")) {
    auto pattern = Pattern::parse(*exe);
    if (!pattern) return tl::unexpected(std::move(pattern.error()));
    rule.exe = std::move(*pattern);
  }
  return rule;
}

bool is_same_wish(const WatchRule& one, const WatchRule& other) {
  WatchRule renumbered = other;
  renumbered.id = one.id;
  renumbered.owner_group = one.owner_group;
  return to_json(one) == to_json(renumbered);
}

bool Watcher::wanted_user(uid_t uid) const {
  return std::ranges::any_of(
      rules, [&](const WatchRule& rule) { return rule.uid ? *rule.uid == uid : rule.owner == 0 || rule.owner == uid; });
}

const WatchRule* Watcher::rule_for(Pid pid, uid_t uid) const {
  const ProcFiles proc(proc_);
  const std::string exe = proc.link(pid, "exe");
  if (exe.empty()) return nullptr;
  std::optional<std::string> cgroup;  // read only where a rule asks
  for (const WatchRule& rule : rules) {
    if (rule.owner != 0 && rule.owner != uid) continue;
    if (rule.uid && *rule.uid != uid) continue;
    if (rule.exe && !rule.exe->found_in(std::string_view(exe).substr(0, kLongestText))) continue;
    if (rule.cgroup.empty()) return &rule;
    if (!cgroup) cgroup = proc.read(pid, "cgroup");
    for (std::size_t at = 0; at < cgroup->size();) {  // "0::/user.slice/job.scope"
      const std::size_t end = std::min(cgroup->find('\n', at), cgroup->size());
      const std::string line = cgroup->substr(at, end - at);
      const std::size_t slash = line.find('/');
      if (slash != std::string::npos && matches(rule.cgroup, line.substr(slash))) return &rule;
      at = end + 1;
    }
  }
  return nullptr;
}

std::optional<Match> Watcher::look_at(Pid pid, uid_t uid) {
  const std::uint64_t start = start_ticks(pid, proc_);
  if (start == 0) return {};
  Seen& seen = seen_[pid];
  if (seen.start_ticks != start) seen = {.start_ticks = start};
  seen.here = true;
  if (seen.done) return {};
  ++seen.looks;
  if (seen.looks > kEveryLook && seen.looks % kThenEvery != 0) return {};
  const WatchRule* rule = rule_for(pid, uid);
  if (rule == nullptr || !maps_gpu_runtime(read_bounded(ProcFiles(proc_).path(pid, "maps"), kMostMaps).value_or("")))
    return {};
  seen.done = true;
  return Match{pid, start, *rule};
}

std::vector<Match> Watcher::look() {
  std::vector<Match> matches;
  if (rules.empty()) {
    seen_.clear();
    return matches;
  }
  for (auto& [pid, seen] : seen_) seen.here = false;
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir(proc_.c_str()), &::closedir);
  while (const dirent* entry = folder ? ::readdir(folder.get()) : nullptr) {
    const std::string_view name = entry->d_name;
    pid_t number = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
    const Pid pid = Pid::of(number);
    struct stat what {};
    if (error != std::errc{} || end != name.data() + name.size() ||
        ::stat(fmt::format("{}/{}", proc_, pid).c_str(), &what) != 0)
      continue;
    if (!wanted_user(what.st_uid)) continue;
    if (auto match = look_at(pid, what.st_uid)) matches.push_back(std::move(*match));
  }
  std::erase_if(seen_, [](const auto& entry) { return !entry.second.here; });
  return matches;
}

void Watcher::skip(Pid pid, std::uint64_t start_ticks) {
  seen_[pid] = {.start_ticks = start_ticks, .looks = 0, .done = true, .here = true};
}

}  // namespace fade::service
