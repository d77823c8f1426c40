#include "supervisor/targets.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <set>

#include "base/glob.hpp"
#include "base/regex.hpp"
#include "proc/proc_files.hpp"
#include "supervisor/cgroup.hpp"
#include "supervisor/container_names.hpp"
#include "supervisor/program_kind.hpp"

namespace fade {
namespace {

constexpr std::size_t kMostOfAPidfile = 4096;
constexpr int kMostScans = 10;
constexpr int kMostParents = 100'000;

using Pids = std::vector<Pid>;

void add(Pids& to, Pid pid) {
  if (std::ranges::find(to, pid) == to.end()) to.push_back(pid);
}

// A process of its own, still running: not a thread, a zombie or a part of the kernel.
bool is_living_program(const ProcFiles& proc, Pid pid) {
  const char state = proc.status(pid).state();
  return state != 0 && state != 'Z' && state != 'X' && !proc.is_kernel_thread(pid);
}

std::set<Pid> ourselves_and_ancestors(const ProcFiles& proc) {
  std::set<Pid> out;
  Pid at = own_pid();
  for (int i = 0; i < kMostParents && at > 0 && out.insert(at).second; ++i) at = proc.status(at).pid("PPid");
  return out;
}

template <class Predicate>
Pids select(const ProcFiles& proc, Predicate wanted) {
  Pids out;
  const std::set<Pid> never = ourselves_and_ancestors(proc);
  for (const Pid pid : proc.processes())
    if (!never.contains(pid) && wanted(pid) && is_living_program(proc, pid)) out.push_back(pid);
  return out;
}

Result<Pids> by_number(const ProcFiles& proc, Pid pid) {
  const StatusFile status = proc.status(pid);
  if (const Pid process = status.pid("Tgid"); process > 0) return Pids{process};
  // Not shown, but it may be there: hidepid. A later attempt to trace it gives the reason.
  if (pid > 0 && ::kill(pid.value(), 0) != 0 && errno == EPERM) return Pids{pid};
  return fail(fmt::format("no process {}", pid), "it has ended, or it lives in another PID namespace",
              "ps -e -o pid,user,args", ESRCH);
}

// The command line last: reading it waits for the holder of the lock of that process's memory map.
bool has_name(const ProcFiles& proc, Pid pid, const Regex& name) {
  if (name.found_in(proc.comm(pid))) return true;
  char exe[Regex::kMostMatched];
  const ssize_t n = ::readlink(proc.path(pid, "exe").c_str(), exe, sizeof exe);
  if (n > 0 && name.found_in(base_name({exe, static_cast<std::size_t>(n)}))) return true;
  std::string line = proc.read(fmt::format("{}/cmdline", pid));
  while (line.ends_with('\0')) line.pop_back();
  std::ranges::replace(line, '\0', ' ');
  return !line.empty() && name.found_in(line);
}

Result<Pids> by_name(const ProcFiles& proc, const std::string& text) {
  const auto name = Regex::compile(text);
  if (!name) return fail(fmt::format("--name '{}' is not a regular expression", text), name.error(), {}, EINVAL);
  Pids out = select(proc, [&](Pid pid) { return has_name(proc, pid, *name); });
  if (out.empty())
    return fail(fmt::format("no process matches --name '{}'", text), {}, "ps -e -o pid,user,args", ESRCH);
  return out;
}

Result<Pids> by_pidfile(const ProcFiles& proc, const std::string& path) {
  const auto text = read_bounded(path, kMostOfAPidfile + 1);
  if (!text) {
    const int code = errno;
    const int told = code == ENOENT ? ESRCH : code == EACCES ? EPERM : EINVAL;
    return fail(fmt::format("cannot read pidfile {}", path), std::strerror(code), {}, told);
  }
  const std::string what = fmt::format("{} is not a pidfile", path);
  if (text->size() > kMostOfAPidfile) return fail(what, "it is larger than 4 KiB", {}, EINVAL);
  const auto pid = parse_pid(*text);
  if (!pid) return fail(what, "it must hold one process number and nothing else", {}, EINVAL);
  auto found = by_number(proc, *pid);
  if (!found)
    return fail(fmt::format("no process {}, which {} names", *pid, path), "the pidfile is a leftover", {}, ESRCH);
  return found;
}

bool is_id(std::string_view text) {
  return text.size() >= 8 && text.size() <= 64 && text.find_first_not_of("0123456789abcdef") == text.npos;
}

CgroupContainers containers_of(const ProcFiles& proc, Pid pid) {
  return containers_in(proc.read(fmt::format("{}/cgroup", pid)));
}

// The ids that begin so, of all containers that have processes.
std::set<std::string> ids_beginning(const ProcFiles& proc, const std::string& prefix) {
  std::set<std::string> out;
  if (!is_id(prefix)) return out;
  for (const Pid pid : proc.processes())
    for (const std::string& id : containers_of(proc, pid).ids)
      if (id.starts_with(prefix)) out.insert(id);
  return out;
}

Pids in_container(const ProcFiles& proc, const std::string& name, const std::string& id) {
  return select(proc, [&](Pid pid) {
    const CgroupContainers in = containers_of(proc, pid);
    return std::ranges::find(in.ids, id) != in.ids.end() || std::ranges::find(in.names, name) != in.names.end();
  });
}

Result<Pids> by_container(const ProcFiles& proc, const std::string& wish, const std::string& root) {
  std::set<std::string> ids = ids_beginning(proc, wish);
  std::string cause = "it is known, but does not run: no process is in it";
  if (ids.empty()) {
    NamedContainers named = containers_named(wish, root);
    if (named.ids.empty()) cause = std::move(named.why_none);
    ids = std::move(named.ids);
  }
  if (ids.size() > 1)
    return fail(fmt::format("--container '{}' may mean {} containers", wish, ids.size()),
                fmt::format("{}", fmt::join(ids, ", ")), "give more of the id", EINVAL);
  Pids out = in_container(proc, wish, ids.empty() ? "" : *ids.begin());
  if (!out.empty()) return out;
  return fail(
      fmt::format("no running container '{}'", wish), std::move(cause),
      fmt::format("fade-attach --container \"$(docker ps -q --no-trunc -f name={})\"      (or podman ps, crictl ps)",
                  wish),
      ESRCH);
}

// Every scan adds the children that were born meanwhile, until one finds no more. A descendant stays one when its
// parent ends.
void add_descendants(const ProcFiles& proc, Pids& pids) {
  std::set<Pid> known(pids.begin(), pids.end());
  std::size_t before = 0;
  for (int scan = 0; scan < kMostScans && known.size() != before; ++scan) {
    before = known.size();
    std::multimap<Pid, Pid> children;
    for (const Pid pid : proc.processes()) children.emplace(proc.status(pid).pid("PPid"), pid);
    Pids open(known.begin(), known.end());
    while (!open.empty()) {
      const auto [begin, end] = children.equal_range(open.back());
      open.pop_back();
      for (auto it = begin; it != end; ++it)
        if (known.insert(it->second).second) open.push_back(it->second);
    }
  }
  known.erase(own_pid());  // fade-attach --tree $$
  for (const Pid pid : known)
    if (std::ranges::find(pids, pid) == pids.end() && is_living_program(proc, pid)) pids.push_back(pid);
}

Result<void> add_all(const std::vector<Result<Pids>>& parts, Pids& out) {
  for (const Result<Pids>& part : parts) {
    if (!part) return tl::unexpected(part.error());
    std::ranges::for_each(*part, [&](Pid pid) { add(out, pid); });
  }
  return {};
}

bool may_load_hip(const ProcFiles& proc, Pid pid) {
  const ProgramKind kind = program_kind(proc.path(pid, "exe"));
  return kind == ProgramKind::Dynamic || kind == ProgramKind::Unreadable;
}

// The first process of many containers is a static program (docker run --init). A process that was asked for by itself
// stays. All stay if the list would be empty: the user is to see the reason.
void leave_out_helpers(const ProcFiles& proc, const Pids& asked_for, Pids& pids) {
  Pids left;
  for (const Pid pid : pids)
    if (std::ranges::find(asked_for, pid) != asked_for.end() || may_load_hip(proc, pid)) left.push_back(pid);
  if (!left.empty()) pids = std::move(left);
}

}  // namespace

Result<std::vector<Pid>> find_targets(const TargetWish& wish, const std::string& proc, const std::string& root) {
  const ProcFiles files(proc);
  std::vector<Result<Pids>> by_numbers, parts;
  for (const Pid pid : wish.pids) by_numbers.push_back(by_number(files, pid));
  if (!wish.pidfile.empty()) by_numbers.push_back(by_pidfile(files, wish.pidfile));
  if (!wish.name.empty()) parts.push_back(by_name(files, wish.name));
  if (!wish.container.empty()) parts.push_back(by_container(files, wish.container, root));
  if (by_numbers.empty() && parts.empty()) return fail("no process was named", {}, "fade-attach PID", EINVAL);
  Pids out;
  if (auto added = add_all(by_numbers, out); !added) return tl::unexpected(std::move(added.error()));
  const Pids asked_for = wish.tree ? Pids{} : out;  // a tree is asked for as a whole
  if (auto added = add_all(parts, out); !added) return tl::unexpected(std::move(added.error()));
  if (wish.tree) add_descendants(files, out);
  leave_out_helpers(files, asked_for, out);
  return out;
}

}  // namespace fade
