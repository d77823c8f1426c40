// devices for people: each device with what was told, what the driver says and what the reference table says side by
// side, the variables that choose devices, and what there is to say about all that.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "cli/query/doubts.hpp"
#include "cli/query/page.hpp"
#include "cli/query/report.hpp"
#include "cli/table/human.hpp"
#include "cli/table/text.hpp"
#include "schema/schema.hpp"

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

// One fact as cells of the table.
std::vector<Value> fact_cells(const NamedRow& row) {
  const std::string fact = row.raw("fact"), unit = row.raw("unit"), counts = row.raw("counts");
  const bool is_count = fact == "multiprocessors";
  std::string told = shown(row.at("told"), is_count ? counts : unit),
              zluda = shown(row.at("told_by_zluda"), is_count ? "" : unit);
  if (fact == "name" && !told.empty() && zluda.size() > told.size() && zluda.starts_with(told))
    zluda.replace(0, told.size(), "...");  // "... [ZLUDA]"
  const auto add_received = [&](std::string& text, const Value& value) {
    if (!table::is_null(value)) text += (text.empty() ? "" : " -> ") + shown(value, is_count ? "" : unit);
  };
  add_received(told, row.at("received"));
  add_received(zluda, row.at("received_from_zluda"));
  std::string reference = shown(row.at("reference"), is_count ? "CU" : unit);
  if (fact == "clock" && !reference.empty()) reference += " boost";
  return {fact,
          cell(std::move(told)),
          cell(std::move(zluda)),
          cell(shown(row.at("told_by_nvml"), unit)),
          cell(shown(row.at("driver"), is_count ? "CU" : unit)),
          cell(std::move(reference))};
}

Result<void> print_facts(Context& context, Recording& recording, const std::vector<Binding>& devices) {
  auto facts = named_rows(context, recording, schema::page_sql("device_facts"), devices);
  if (!facts) return tl::unexpected(facts.error());
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
  bool is_known = false;
  for (const NamedRow& fact : *facts) {
    const auto cells = fact_cells(fact);
    const bool empty = std::all_of(cells.begin() + 1, cells.end(), [](const Value& v) { return table::is_null(v); });
    if (empty) continue;
    is_known = true;
    if (auto done = sink->row(cells); !done) return done;
  }
  return is_known ? sink->end() : Result<void>{};
}

Result<void> print_callers(Context& context, Recording& recording, const std::vector<Binding>& devices) {
  auto sources = named_rows(context, recording, schema::page_sql("device_sources"), devices);
  auto changes = named_rows(context, recording, schema::page_sql("device_changes"), devices);
  if (!sources || !changes) return tl::unexpected(sources ? changes.error() : sources.error());
  std::string names = sources->empty() ? "" : sources->front().text("functions");
  for (std::size_t at = 0; (at = names.find(',', at)) != names.npos; at += 2) names.replace(at, 1, ", ");
  std::string text = names.empty() ? "" : "  reported by " + paragraph(context, names, 10) + "\n";
  for (const NamedRow& c : *changes) {
    const std::string words =
        fmt::format("overwritten by fade: {} {} -> {}, {} times, for calls from {}", c.text("target"), c.text("was"),
                    c.text("became"), c.text("n"), c.text("caller"));
    text += "  " + paragraph(context, words, 4) + "\n";
  }
  return context.output.bytes->write(text);
}

std::string place_of(const NamedRow& device) {
  const std::string text =
      device.has("pci") ? "at " + device.text("pci") : "no recorded call asked for its PCI address";
  if (!device.has("node")) return text + ", not found in what the driver says";
  return text + fmt::format(", node {} of the driver (found by {})", device.text("node"), device.text("matched_by"));
}

// One device of all processes that were told the same of it. Their ids come from the file: they are bound, not pasted.
Result<void> print_device(Context& context, Recording& recording, const NamedRow& device) {
  const std::string pids = device.text("pids");
  const std::string name = device.has("name") ? device.text("name") : "no recorded call asked for its name";
  const std::string told = pids.find(',') == pids.npos ? ", told to process " : ", told to processes ";
  std::string text = bold(context, fmt::format("Device {}: {}", device.text("device"), name)) + "\n";
  text += "  " + paragraph(context, place_of(device) + told + pids, 2) + "\n";
  if (device.has("driver_problem")) text += "  " + paragraph(context, device.text("driver_problem"), 2) + "\n";
  if (auto done = context.output.bytes->write(text); !done) return done;
  const std::vector<Binding> devices{{":devices", device.raw("ids")}};
  if (auto done = print_facts(context, recording, devices); !done) return done;
  return print_callers(context, recording, devices);
}

Result<std::size_t> print_devices(Context& context, Recording& recording) {
  auto devices = named_rows(context, recording, schema::page_sql("devices"));
  if (!devices) return tl::unexpected(devices.error());
  for (const NamedRow& device : *devices) {
    if (auto done = print_device(context, recording, device); !done) return tl::unexpected(done.error());
    if (auto done = context.output.bytes->write("\n"); !done) return tl::unexpected(done.error());
  }
  return devices->size();
}

std::string untold_gpu(const NamedRow& gpu) {
  std::string line = fmt::format("node {}: {}", gpu.text("node"), gpu.text("name"));
  if (gpu.has("arch")) line += ", " + gpu.text("arch");
  if (gpu.has("compute_units")) line += ", " + gpu.text("compute_units") + " CU";
  if (gpu.has("memory")) line += ", " + shown(gpu.at("memory"), "bytes");
  if (gpu.has("pci")) line += ", at " + gpu.text("pci");
  if (gpu.has("problem")) line += ": " + gpu.text("problem");
  return line;
}

// The GPUs of the driver that no program was told about.
Result<void> print_others(Context& context, Recording& recording) {
  auto gpus = named_rows(context, recording, schema::page_sql("untold_gpus"));
  if (!gpus || gpus->empty()) return gpus ? Result<void>{} : tl::unexpected(gpus.error());
  std::string text = bold(context, "GPUs that no program was told about") + "\n";
  for (const NamedRow& gpu : *gpus) text += "  " + paragraph(context, untold_gpu(gpu), 4) + "\n";
  return context.output.bytes->write(text + "\n");
}

// The variables in the order in which they are looked at, and what they leave.
std::string choice_of(const NamedRow& choice) {
  std::string text;
  if (choice.has("rocr")) text += fmt::format("ROCR_VISIBLE_DEVICES={} comes first", choice.text("rocr"));
  if (choice.has("hip"))
    text += fmt::format("{}{}={}{}", text.empty() ? "" : ", then ", choice.text("variable"), choice.text("hip"),
                        text.empty() ? "" : " counts within what is left");
  if (choice.has("cuda")) text += fmt::format(" (CUDA_VISIBLE_DEVICES={} is not looked at)", choice.text("cuda"));
  return text + (choice.has("nodes") ? ": device " + choice.text("nodes") : ": no device is left") + ", for process " +
         choice.text("pids");
}

Result<void> print_choices(Context& context, Recording& recording) {
  auto choices = named_rows(context, recording, schema::page_sql("device_choices"));
  if (!choices || choices->empty()) return choices ? Result<void>{} : tl::unexpected(choices.error());
  std::string text = bold(context, "Variables that choose devices") + "\n";
  for (std::size_t i = 0; i < std::min(choices->size(), kMostLines); ++i)
    text += "  " + paragraph(context, choice_of((*choices)[i]), 4) + "\n";
  if (choices->size() > kMostLines)
    text += fmt::format("  ... and {} more: SELECT * FROM visible_gpus\n", choices->size() - kMostLines);
  return context.output.bytes->write(text + "\n");
}

Result<void> say_no_device(Context& context, Recording& recording) {
  const auto session = chosen_session(context.settings, recording);
  if (!session) return tl::unexpected(session.error());
  const std::string partial = why_partial(recording, *session, "queries");
  context.told_doubts = !partial.empty();
  const std::string text =
      partial.empty() ? "No program was told about a device." : "No answer about a device was seen: " + partial + ".";
  return context.output.bytes->write(paragraph(context, text, 0) + "\n\n");
}

}  // namespace

Result<void> show_devices(Context& context, Recording& recording) {
  if (auto fine = check_filters(context.settings, *find_report("devices")); !fine) return fine;
  auto devices = print_devices(context, recording);
  if (!devices) return tl::unexpected(devices.error());
  if (*devices == 0)
    if (auto done = say_no_device(context, recording); !done) return done;
  if (auto done = print_others(context, recording); !done) return done;
  if (auto done = print_choices(context, recording); !done) return done;
  if (auto done = context.output.bytes->write(bold(context, "Findings") + "\n"); !done) return done;
  return print_findings(context, recording, Advice::LeftOut);
}

}  // namespace fade::query
