// porting: the functions of CUDA that a program uses, with their replacements in ROCm. The rows without one come first:
// these are the work of a port.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <set>

#include "cli/query/command.hpp"
#include "cli/query/page.hpp"
#include "cli/query/porting.hpp"
#include "cli/query/target.hpp"
#include "cli/table/human.hpp"
#include "probes/porting_table.hpp"

namespace fade::query {
namespace {

using table::Kind;
using table::Value;

struct Todo {
  CudaUse use;
  const probes::Port* port;  // nullptr: the name is in no table
  bool has_hip() const { return port && !port->hip.empty(); }
  // First functions without a replacement, then replacements that AMD's tables do not have.
  int order() const { return !has_hip() && !is_from_compiler() ? 0 : port->how == "name" ? 1 : 2; }
  bool is_from_compiler() const { return port && port->how == "compiler"; }
};

std::vector<Todo> todos_of(std::vector<CudaUse> uses) {
  std::vector<Todo> out;
  for (CudaUse& use : uses) {
    const probes::Port* port = probes::find_port(use.name);
    out.push_back({std::move(use), port});
  }
  std::ranges::stable_sort(out, {}, &Todo::order);
  return out;
}

Value text_or_null(std::string_view text) { return text.empty() ? Value{} : Value{std::string(text)}; }

std::string note_of(const Todo& todo) {
  if (!todo.port) return "in none of AMD's tables";
  if (todo.order() == 0) return "no replacement";
  if (todo.port->how == "name") return "by its name alone";
  return std::string(todo.port->note);
}

std::vector<Value> row_of(const Todo& todo, bool is_recorded) {
  std::vector<Value> row{todo.use.name, std::string(probes::cuda_library_of(todo.use.name)),
                         text_or_null(todo.port ? todo.port->hip : ""), text_or_null(todo.port ? todo.port->since : ""),
                         text_or_null(todo.port ? todo.port->how : "")};
  if (is_recorded) {
    row.emplace_back(todo.use.calls.value_or(0));
    row.emplace_back(todo.use.total_ns);
  } else {
    row.emplace_back(todo.use.module);
  }
  row.push_back(text_or_null(note_of(todo)));
  return row;
}

std::vector<table::Column> columns_of(bool is_recorded) {
  std::vector<table::Column> out{
      {"cuda", Kind::Text}, {"library", Kind::Text}, {"hip", Kind::Text}, {"since", Kind::Text}, {"how", Kind::Text}};
  if (is_recorded) out.insert(out.end(), {{"calls", Kind::Count}, {"total_ns", Kind::Duration}});
  if (!is_recorded) out.push_back({"module", Kind::Text});
  out.push_back({"note", Kind::Text});
  return out;
}

// Several libraries may import one function.
std::vector<Todo> distinct(std::vector<Todo> todos) {
  std::set<std::string> seen;
  std::erase_if(todos, [&](const Todo& todo) { return !seen.insert(todo.use.name).second; });
  return todos;
}

std::string headline(const std::vector<Todo>& uses, bool is_recorded) {
  if (uses.empty())
    return fmt::format("No {} of a function of CUDA's libraries was {}.", is_recorded ? "call" : "import",
                       is_recorded ? "recorded" : "found");
  const std::vector<Todo> todos = distinct(uses);
  const auto missing = std::ranges::count(todos, 0, &Todo::order);
  const auto by_name = std::ranges::count(todos, 1, &Todo::order);
  const auto all = static_cast<std::ptrdiff_t>(todos.size());
  std::string text = fmt::format("{} functions of CUDA: {} have a replacement in ROCm, {} have none.",
                                 table::human_count(all), all - missing, missing);
  if (by_name == 0) return text;
  return text +
         fmt::format(" {} of these replacements {} in none of AMD's tables.", by_name, by_name == 1 ? "is" : "are");
}

Result<CudaUses> uses_in(Context& context, const std::string& path) {
  if (!is_recording(path)) return cuda_imports(path, context.settings.with_libraries);
  if (context.settings.with_libraries)
    return usage("a recording has no --with-libraries", "it has the calls of all libraries", "name a program");
  auto recording = open_recording(path);
  return recording ? cuda_calls(context, *recording) : tl::unexpected(recording.error());
}

Result<std::string> path_of(const Context& context) {
  if (!context.words.empty()) return context.words.front();
  if (!context.path.empty()) return context.path;
  return default_recording(::getenv("FADE_OUTPUT"), ".");
}

}  // namespace

Result<void> list_porting(Context& context) {
  const auto path = path_of(context);
  if (!path) return tl::unexpected(path.error());
  auto uses = uses_in(context, *path);
  if (!uses) return tl::unexpected(uses.error());
  const auto todos = todos_of(std::move(uses->all));
  const bool is_recorded = is_recording(*path), is_for_people = context.output.format == table::Format::Table;
  std::vector<std::vector<Value>> rows;
  for (const Todo& todo : todos) rows.push_back(row_of(todo, is_recorded));
  if (is_for_people)
    if (auto done = context.output.bytes->write(bold(context, headline(todos, is_recorded)) + "\n\n"); !done)
      return done;
  if (!rows.empty() || !is_for_people)
    if (auto done = print_rows(context, "porting", columns_of(is_recorded), rows, "/*? AND cuda REGEXP :name */",
                               {"how", "total_ns", "library", "module", "note"});
        !done)
      return done;
  for (const std::string& limit : uses->limits) tell_below(context, limit);
  return {};
}

}  // namespace fade::query
