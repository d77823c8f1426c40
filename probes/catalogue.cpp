#include "probes/catalogue.hpp"

#include <algorithm>

#include "base/text_file.hpp"
#include "probes/built_in.hpp"
#include "probes/library_catalogues.hpp"
#include "probes/operators.hpp"
#include "probes/syntax/parser.hpp"

namespace fade::probes {
namespace {

bool same_place(const Probe& a, const Probe& b) {
  return a.symbol == b.symbol && a.library == b.library && a.api == b.api;
}

}  // namespace

Catalogue::Catalogue() : probes_(built_in_probes()), types_(built_in_types()) {}

void Catalogue::add_libraries(std::string_view events) {
  for (const LibraryCatalogue& library : library_catalogues()) {
    if (!is_asked_for(library, events)) continue;
    ParsedFile file = read_library(library, types_);
    types_ = file.types;
    for (Probe& probe : file.probes) probes_.push_back(std::make_shared<const Probe>(std::move(probe)));
  }
  if (!asks_for_operators(events)) return;
  for (Probe& probe : operator_families()) probes_.push_back(std::make_shared<const Probe>(std::move(probe)));
}

Result<void> Catalogue::add_file(const std::string& path) {
  auto text = read_text_file(path, "cannot read the probe file " + path);
  if (!text) return tl::unexpected(std::move(text.error()));
  return add_text(*text, path);
}

Result<void> Catalogue::add_text(std::string_view text, std::string_view name) {
  ParsedFile file = parse(text, name, types_);
  if (!file.errors.empty()) return tl::unexpected<Error>(error_of(file, name));
  types_ = file.types;
  for (Probe& probe : file.probes) insert(std::make_shared<const Probe>(std::move(probe)));
  return {};
}

void Catalogue::insert(ProbePtr probe) {
  const auto before =
      std::find_if(probes_.begin(), probes_.end(), [&](const ProbePtr& p) { return same_place(*p, *probe); });
  if (before != probes_.end()) probes_.erase(before);
  probes_.push_back(std::move(probe));
}

}  // namespace fade::probes
