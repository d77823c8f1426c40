// The checks of `fade doctor` as data: a table of rows, each a name and a function from the examined machine to
// answers. A check reads and changes nothing; each path has a root before it, so that tests lay out a machine in a
// folder.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/pid.hpp"
#include "proc/proc_files.hpp"
#include "supervisor/kernel_answers.hpp"
#include "supervisor/permission.hpp"
#include "supervisor/privilege.hpp"

namespace fade::doctor {

// Problem: tracing, or the GPU, will not work. Warning: it works with a limit, or numbers will mislead. None: the check
// does not apply here, or the answer is unknown; there is nothing to do.
enum class Verdict : std::uint8_t { Ok, Warning, Problem, None };
std::string_view word_for(Verdict verdict);  // "ok", "warning", "problem", "-"

struct Answer {
  Verdict verdict = Verdict::Ok;
  std::string text;    // one sentence without a full stop; may hold what a process chose, unescaped
  std::string fix{};   // a command to paste or a step; empty: there is nothing to do
  std::string name{};  // of the line; empty: the check's
};
inline Answer ok(std::string text) { return {Verdict::Ok, std::move(text)}; }
inline Answer none(std::string text) { return {Verdict::None, std::move(text)}; }
inline Answer warning(std::string text, std::string fix) { return {Verdict::Warning, std::move(text), std::move(fix)}; }
inline Answer problem(std::string text, std::string fix) { return {Verdict::Problem, std::move(text), std::move(fix)}; }
using Answers = std::vector<Answer>;

// The subject of an examination; each check belongs to some subjects.
inline constexpr unsigned kMachine = 1, kProcess = 2, kProgram = 4, kAlways = kMachine | kProcess | kProgram;

struct Space {
  std::uint64_t free = 0, size = 0;  // bytes
};

// The machine, and a process or a program on it. A value, so that a test can be any machine.
struct Examined {
  std::string root;  // a prefix of /proc, /sys, /dev and /etc; empty: this machine
  Asker asker;
  KernelAnswers kernel;
  std::function<std::optional<Space>(const std::string& path)> space;  // of the file system below a path
  Pid pid = 0;                                                         // a process; 0: none
  std::string program;  // the path of a program that is not running; empty: none
  std::string refused;  // why the program cannot be run; empty: it can
  // VAR=VALUE: of the process, else fade's own, which a program would get. nullopt: it may not be read.
  std::optional<std::vector<std::string>> environment;
  std::string folder;  // where a recording would be written

  unsigned kind() const { return pid != 0 ? kProcess : program.empty() && refused.empty() ? kMachine : kProgram; }

  ProcFiles proc() const { return ProcFiles(root + "/proc"); }
  // The process whose rights and limits count.
  Pid subject() const { return pid != 0 ? pid : asker.pid; }
  std::optional<std::string> variable(std::string_view name) const;
  bool exists(const std::string& path) const;  // of this machine, also if it is a dangling link
  bool is_in_container() const { return !container_sign(proc()).empty(); }
};

struct Row {
  std::string_view group, name;  // "GPU", "/dev/kfd"
  Answers (*find)(const Examined&);
  unsigned when = kAlways;
};

// In the order for a user to read them; a group's rows are together.
std::span<const Row> rows();

struct Line {
  std::string_view group;
  std::string name;
  Verdict verdict;
  std::string text, fix;
};
std::vector<Line> examine(const Examined& examined);

}  // namespace fade::doctor
