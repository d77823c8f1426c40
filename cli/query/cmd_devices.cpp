// devices for people: each device with what was told, what the driver says and what the reference table says side by
// side, the variables that choose devices, and what there is to say about all that.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "cli/query/page.hpp"
#include "cli/query/report.hpp"
#include "cli/table/human.hpp"
#include "cli/table/text.hpp"

namespace fade::query {
namespace {

using table::Value;

constexpr std::size_t kMostLines = 20;  // of a list that grows with the processes

std::string with_unit(const std::string& number, const std::string& unit) {
  if (unit != "bytes") return unit.empty() ? number : number + " " + unit;
  char* end = nullptr;
  const long long bytes = std::strtoll(number.c_str(), &end, 10);
  return *end == '\0' ? table::human_bytes(bytes) : number;
}

// Numbers of a list "36,72" each with its unit.
std::string shown(const Value& value, const std::string& unit) {
  std::string out;
  std::string_view rest =
      std::get_if<std::string>(&value) ? std::string_view(std::get<std::string>(value)) : std::string_view();
  if (rest.empty() && !table::is_null(value)) return with_unit(table::raw_text(value), unit);
  while (!unit.empty() && rest.find(',') != rest.npos) {
    out += with_unit(std::string(rest.substr(0, rest.find(','))), unit) + ", ";
    rest.remove_prefix(rest.find(',') + 1);
  }
  return rest.empty() ? out : out + with_unit(std::string(rest), unit);
}

Value cell(std::string text) { return text.empty() ? Value{} : Value{std::move(text)}; }

// A row of "place, fact, unit, told, counts, received, driver, reference, told_by_zluda, received_from_zluda,
// told_by_nvml" as cells of the table.
std::vector<Value> fact_cells(const Row& row) {
  const std::string fact = table::raw_text(row[1]), unit = table::raw_text(row[2]), counts = table::raw_text(row[4]);
  const bool is_count = fact == "multiprocessors";
  std::string told = shown(row[3], is_count ? counts : unit), zluda = shown(row[8], is_count ? "" : unit);
  if (fact == "name" && !told.empty() && zluda.size() > told.size() && zluda.starts_with(told))
    zluda.replace(0, told.size(), "...");  // "... [ZLUDA]"
  const auto add_received = [&](std::string& text, const Value& value) {
    if (!table::is_null(value)) text += (text.empty() ? "" : " -> ") + shown(value, is_count ? "" : unit);
  };
  add_received(told, row[5]);
  add_received(zluda, row[9]);
  std::string reference = shown(row[7], is_count ? "CU" : unit);
  if (fact == "clock" && !reference.empty()) reference += " boost";
  return {fact,
          cell(std::move(told)),
          cell(std::move(zluda)),
          cell(shown(row[10], unit)),
          cell(shown(row[6], is_count ? "CU" : unit)),
          cell(std::move(reference))};
}

Result<void> print_facts(Context& context, Recording& recording, const std::string& ids) {
  auto rows = rows_for(
      context, recording,
      "SELECT place, fact, unit, group_concat(DISTINCT told), max(counts), group_concat(DISTINCT received), "
      "max(driver), max(reference), group_concat(DISTINCT told_by_zluda), group_concat(DISTINCT received_from_zluda), "
      "group_concat(DISTINCT told_by_nvml) "
      "FROM device_facts WHERE instr(',' || :word || ',', ',' || device_id || ',') > 0 GROUP BY place ORDER BY place",
      ids);
  if (!rows) return tl::unexpected(rows.error());
  table::Style style = context.output.style;
  style.indent = "  ";
  style.hide_empty = true;
  const auto sink = table::make_table(style, *context.output.bytes);
  using table::Kind;
  if (auto begun = sink->begin({{"fact", Kind::Text},
                                {"HIP_told", Kind::Text},
                                {"ZLUDA_told", Kind::Text},
                                {"NVML_told", Kind::Text},
                                {"driver_says", Kind::Text},
                                {"reference_table", Kind::Text}});
      !begun)
    return begun;
  for (const Row& row : *rows) {
    const auto cells = fact_cells(row);
    const bool empty = std::all_of(cells.begin() + 1, cells.end(), [](const Value& v) { return table::is_null(v); });
    if (empty) continue;
    if (auto done = sink->row(cells); !done) return done;
  }
  return sink->end();
}

Result<void> print_callers(Context& context, Recording& recording, const std::string& ids) {
  auto told = rows_for(context, recording,
                       "SELECT group_concat(DISTINCT substr(source, 5)) FROM device_properties p JOIN devices d "
                       "ON d.session = p.session AND d.pid = p.pid AND d.ordinal = p.device WHERE instr(',' || :word "
                       "|| ',', ',' || d.id || ',') > 0 AND p.source LIKE 'api:%'",
                       ids);
  auto changed = rows_for(context, recording,
                          "SELECT h.target, h.was, h.became, sum(h.n), coalesce(h.caller_library, h.caller) FROM "
                          "override_hits h JOIN devices d "
                          "ON d.session = h.session AND d.pid = h.pid AND d.ordinal = h.device WHERE instr(',' || "
                          ":word || ',', ',' || d.id || ',') > 0 GROUP BY 1, 2, 3, 5 ORDER BY 1, 5 LIMIT 20",
                          ids);
  if (!told || !changed) return tl::unexpected(told ? changed.error() : told.error());
  std::string names = told->empty() ? "" : page_text((*told)[0][0]);
  for (std::size_t at = 0; (at = names.find(',', at)) != names.npos; at += 2) names.replace(at, 1, ", ");
  std::string text = names.empty() ? "" : "  reported by " + paragraph(context, names, 10) + "\n";
  for (const Row& c : *changed)
    text += "  " +
            paragraph(context,
                      fmt::format("overwritten by fade: {} {} -> {}, {} times, for calls from {}", page_text(c[0]),
                                  page_text(c[1]), page_text(c[2]), page_text(c[3]), page_text(c[4])),
                      4) +
            "\n";
  return context.output.bytes->write(text);
}

std::string place_of(const Row& d) {
  std::string text = table::is_null(d[2]) ? "PCI address not asked for" : "at " + page_text(d[2]);
  if (!table::is_null(d[3]))
    return text + fmt::format(", node {} of the driver (found by {})", page_text(d[3]), page_text(d[4]));
  return text + ", not found in what the driver says";
}

// One device of all processes that were told the same of it. Their ids come from the file: they are bound, not pasted.
Result<void> print_device(Context& context, Recording& recording, const Row& d) {
  const std::string pids = page_text(d[6]);
  std::string text = bold(context, fmt::format("Device {}: {}", page_text(d[0]),
                                               table::is_null(d[1]) ? "its name was not asked for" : page_text(d[1]))) +
                     "\n";
  text +=
      "  " +
      paragraph(context,
                place_of(d) + (pids.find(',') == pids.npos ? ", told to process " : ", told to processes ") + pids, 2) +
      "\n";
  if (!table::is_null(d[5])) text += "  " + paragraph(context, page_text(d[5]), 2) + "\n";
  if (auto done = context.output.bytes->write(text); !done) return done;
  const std::string ids = table::raw_text(d[7]);
  if (auto done = print_facts(context, recording, ids); !done) return done;
  return print_callers(context, recording, ids);
}

Result<std::size_t> print_devices(Context& context, Recording& recording) {
  auto devices = rows_for(context, recording,
                          "SELECT device, name, pci, node, matched_by, driver_problem, group_concat(DISTINCT pid), "
                          "group_concat(device_id) FROM device_truth "
                          "WHERE session = coalesce(:session, session) AND (:pid IS NULL OR pid = :pid) AND (:device "
                          "IS NULL OR device = :device) "
                          "AND (:name IS NULL OR name REGEXP :name) GROUP BY session, device, name, pci, node ORDER BY "
                          "session, device, node");
  if (!devices) return tl::unexpected(devices.error());
  for (const Row& device : *devices) {
    if (auto done = print_device(context, recording, device); !done) return tl::unexpected(done.error());
    if (auto done = context.output.bytes->write("\n"); !done) return tl::unexpected(done.error());
  }
  return devices->size();
}

// The GPUs of the driver that no program was told about.
Result<void> print_others(Context& context, Recording& recording) {
  auto rows =
      rows_for(context, recording,
               "SELECT k.node, coalesce(g.name, k.name, 'unknown GPU'), k.arch, k.compute_units, nullif(k.memory, 0), "
               "k.pci, k.problem FROM kfd_nodes k LEFT JOIN node_gpus n ON n.node_id = k.id "
               "LEFT JOIN reference_gpus g ON g.id = n.gpu_id WHERE k.kind = 'gpu' AND k.session = coalesce(:session, "
               "k.session) "
               "AND k.id NOT IN (SELECT node_id FROM device_nodes) ORDER BY k.session, k.node LIMIT 64");
  if (!rows || rows->empty()) return rows ? Result<void>{} : tl::unexpected(rows.error());
  std::string text = bold(context, "GPUs that no program was told about") + "\n";
  for (const Row& r : *rows) {
    std::string line = fmt::format("node {}: {}", page_text(r[0]), page_text(r[1]));
    if (!table::is_null(r[2])) line += ", " + page_text(r[2]);
    if (!table::is_null(r[3])) line += ", " + page_text(r[3]) + " CU";
    if (!table::is_null(r[4])) line += ", " + shown(r[4], "bytes");
    if (!table::is_null(r[5])) line += ", at " + page_text(r[5]);
    if (!table::is_null(r[6])) line += ": " + page_text(r[6]);
    text += "  " + paragraph(context, line, 4) + "\n";
  }
  return context.output.bytes->write(text + "\n");
}

// The variables in the order in which they are looked at, and what they leave.
std::string choice_of(const Row& r) {
  std::string text;
  if (!table::is_null(r[0])) text += fmt::format("ROCR_VISIBLE_DEVICES={} comes first", page_text(r[0]));
  if (!table::is_null(r[1]))
    text += fmt::format("{}{}={}{}", text.empty() ? "" : ", then ", page_text(r[2]), page_text(r[1]),
                        text.empty() ? "" : " counts within what is left");
  if (!table::is_null(r[3])) text += fmt::format(" (CUDA_VISIBLE_DEVICES={} is not looked at)", page_text(r[3]));
  return text + (table::is_null(r[4]) ? ": no device is left" : ": device " + page_text(r[4])) + ", for process " +
         page_text(r[5]);
}

Result<void> print_choices(Context& context, Recording& recording) {
  auto rows = rows_for(context, recording,
                       "SELECT rocr, hip, variable, cuda, nodes, group_concat(pid, ', ') FROM ("
                       "SELECT session, pid, max(rocr_visible_devices) AS rocr, max(hip_visible_devices) AS hip, "
                       "max(hip_variable) AS variable, max(ignored_cuda_visible_devices) AS cuda, "
                       "group_concat(device || ' is node ' || node, ', device ') AS nodes FROM visible_gpus WHERE "
                       "session = coalesce(:session, session) AND (:pid IS NULL OR pid = :pid) "
                       "GROUP BY process_id) WHERE rocr IS NOT NULL OR hip IS NOT NULL GROUP BY session, rocr, hip, "
                       "variable, cuda, nodes ORDER BY min(pid)");
  if (!rows || rows->empty()) return rows ? Result<void>{} : tl::unexpected(rows.error());
  std::string text = bold(context, "Variables that choose devices") + "\n";
  for (std::size_t i = 0; i < std::min(rows->size(), kMostLines); ++i)
    text += "  " + paragraph(context, choice_of((*rows)[i]), 4) + "\n";
  if (rows->size() > kMostLines)
    text += fmt::format("  ... and {} more: SELECT * FROM visible_gpus\n", rows->size() - kMostLines);
  return context.output.bytes->write(text + "\n");
}

}  // namespace

Result<void> show_devices(Context& context, Recording& recording) {
  if (auto fine = check_filters(context.settings, *find_report("devices")); !fine) return fine;
  auto devices = print_devices(context, recording);
  if (!devices) return tl::unexpected(devices.error());
  if (*devices == 0)
    if (auto done = context.output.bytes->write("No program was told about a device.\n\n"); !done) return done;
  if (auto done = print_others(context, recording); !done) return done;
  if (auto done = print_choices(context, recording); !done) return done;
  if (auto done = context.output.bytes->write(bold(context, "Findings") + "\n"); !done) return done;
  return print_findings(context, recording, Advice::LeftOut);
}

}  // namespace fade::query
