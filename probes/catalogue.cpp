#include "probes/catalogue.hpp"

#include <algorithm>
#include <cstring>
#include <unordered_map>

#include "base/glob.hpp"
#include "base/text_file.hpp"
#include "probes/built_in.hpp"
#include "probes/syntax/parser.hpp"

namespace fade::probes {
namespace {

bool same_place(const Probe& a, const Probe& b) {
  return a.symbol == b.symbol && a.library == b.library && a.api == b.api;
}

bool matches_library(const std::string& pattern, const Library& library) {
  return glob_match(pattern, std::string(base_name(library.path))) || glob_match(pattern, library.soname) ||
         glob_match(pattern, library.path);
}

}  // namespace

bool applies(const Probe& probe, const Library& library) {
  if (!probe.library.empty()) return matches_library(probe.library, library);
  // Up to HIP 6 libamdhip64 exports hiprtc too.
  if (probe.api == "hiprtc") return library.role == "hiprtc" || library.role == "hip";
  if (probe.api == "cuda") return library.role == "zluda" || library.role == "cuda";
  return probe.api == library.role;
}

Catalogue::Catalogue() : probes_(built_in_probes()), types_(built_in_types()) {}

Result<void> Catalogue::add_file(const std::string& path) {
  auto text = read_text_file(path, "cannot read the probe file " + path);
  if (!text) return tl::unexpected(std::move(text.error()));
  return add_text(*text, path);
}

Result<void> Catalogue::add_text(std::string_view text, std::string_view name) {
  ParsedFile file = parse(text, name, types());
  if (!file.errors.empty()) return tl::unexpected<Error>(error_of(file, name));
  const std::lock_guard lock(mutex_);
  types_ = file.types;
  for (Probe& probe : file.probes) insert(std::make_shared<const Probe>(std::move(probe)));
  return {};
}

ProbePtr Catalogue::add(Probe probe) {
  auto added = std::make_shared<const Probe>(std::move(probe));
  const std::lock_guard lock(mutex_);
  insert(added);
  return added;
}

void Catalogue::insert(ProbePtr probe) {
  const auto before =
      std::find_if(probes_.begin(), probes_.end(), [&](const ProbePtr& p) { return same_place(*p, *probe); });
  if (before != probes_.end()) probes_.erase(before);
  probes_.push_back(std::move(probe));
}

std::vector<ProbePtr> Catalogue::all() const {
  const std::lock_guard lock(mutex_);
  return probes_;
}

std::vector<ProbePtr> Catalogue::by_symbol(std::string_view symbol) const {
  const std::lock_guard lock(mutex_);
  std::vector<ProbePtr> out;
  std::copy_if(probes_.rbegin(), probes_.rend(), std::back_inserter(out),
               [&](const ProbePtr& p) { return p->symbol == symbol; });
  return out;
}

std::vector<ProbePtr> Catalogue::for_library(const Library& library) const {
  std::vector<ProbePtr> out;
  std::unordered_map<std::string_view, std::size_t> places;
  for (const ProbePtr& probe : all()) {
    if (!applies(*probe, library)) continue;
    const auto [place, is_new] = places.try_emplace(probe->symbol, out.size());
    if (is_new) {
      out.push_back(probe);
    } else {
      out[place->second] = probe;
    }
  }
  return out;
}

std::shared_ptr<const Types> Catalogue::types() const {
  const std::lock_guard lock(mutex_);
  return types_;
}

}  // namespace fade::probes
