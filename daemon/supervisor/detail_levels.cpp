#include "supervisor/detail_levels.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <set>
#include <string_view>

#include "base/suggest.hpp"
#include "probes/catalogue.hpp"
#include "probes/selection.hpp"

namespace fade {
namespace {

constexpr Detail kLevels[] = {Detail::Stats, Detail::Calls, Detail::Full};
constexpr const char* kExample = "--detail calls,mem=full,sync=stats";

std::optional<Detail> level_of(std::string_view word) {
  const auto found = std::ranges::find(kLevels, word, [](Detail level) { return word_for(level); });
  return found == std::end(kLevels) ? std::nullopt : std::optional(*found);
}

tl::unexpected<Error> unknown_level(std::string_view word) {
  const std::vector<std::string> levels{"stats", "calls", "full"};
  return fail(fmt::format("--detail: '{}' is not one of stats, calls, full{}", word, did_you_mean(word, levels)), {},
              fmt::format("--detail full, or with levels of groups: {}", kExample), EINVAL);
}

tl::unexpected<Error> unknown_group(std::string_view word, const std::vector<std::string>& known) {
  return fail(fmt::format("--detail: no group is called '{}'{}", word, did_you_mean(word, known)),
              fmt::format("groups are {}", fmt::join(known, ", ")), kExample, EINVAL);
}

// The words of one list.
class Reader {
 public:
  explicit Reader(const std::vector<std::string>& probe_files) : probe_files_(probe_files) {}

  Result<void> read(std::string_view word) {
    const std::size_t at = word.find('=');
    const std::string_view level = at == word.npos ? word : word.substr(at + 1);
    const auto value = level_of(level);
    if (!value) return unknown_level(level);
    return at == word.npos ? set_rest(*value) : set_group(word.substr(0, at), *value);
  }
  DetailLevels levels() && {
    if (std::ranges::all_of(out_.by_name, [&](const auto& e) { return e.second == out_.rest; })) out_.by_name.clear();
    return std::move(out_);
  }

 private:
  Result<void> set_rest(Detail level) {
    if (has_rest_)
      return fail("--detail: two levels are for all other groups", "a word without = is the level of these", kExample,
                  EINVAL);
    has_rest_ = true;
    out_.rest = level;
    return {};
  }

  Result<void> set_group(std::string_view word, Detail level) {
    if (known_.empty())
      if (auto looked = look_up_groups(); !looked) return looked;
    const std::string name = probes::plain_group(word);
    if (std::ranges::find(known_, name) == known_.end()) return unknown_group(word, known_);
    if (!out_.by_name.emplace(name, level).second)
      return fail(fmt::format("--detail: the group '{}' is named twice", name), "a group has one level", kExample,
                  EINVAL);
    return {};
  }

  Result<void> look_up_groups() {
    probes::Catalogue catalogue;
    for (const std::string& file : probe_files_)
      if (auto added = catalogue.add_file(file); !added) {
        added.error().code = EINVAL;
        return added;
      }
    const auto groups = probes::known_groups(catalogue.all());
    std::set<std::string> all(groups.begin(), groups.end());
    all.insert({"hip", "cuda", "nvml", "user"});  // user: of --probe
    known_.assign(all.begin(), all.end());
    return {};
  }

  const std::vector<std::string>& probe_files_;
  std::vector<std::string> known_;
  DetailLevels out_;
  bool has_rest_ = false;
};

}  // namespace

Result<DetailLevels> parse_detail(const std::string& text, const std::vector<std::string>& probe_files) {
  Reader reader(probe_files);
  for (std::string_view left = text; !left.empty();) {
    const std::size_t comma = std::min(left.find(','), left.size());
    if (auto done = reader.read(left.substr(0, comma)); !done) return tl::unexpected(std::move(done.error()));
    left.remove_prefix(std::min(comma + 1, left.size()));
  }
  return std::move(reader).levels();
}

}  // namespace fade
