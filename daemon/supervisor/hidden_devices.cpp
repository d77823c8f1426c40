#include "supervisor/hidden_devices.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <set>
#include <string_view>

#include "probes/device_properties.hpp"
#include "supervisor/kfd_topology.hpp"

namespace fade {
namespace {

// HIP's own variable counts if it is not empty, else CUDA's (facts of rocdevice.cpp).
constexpr std::string_view kOwn = "HIP_VISIBLE_DEVICES", kCuda = "CUDA_VISIBLE_DEVICES";
// HIP stops at the first number that no device has, so a list may be longer than there are devices.
constexpr std::size_t kMostGpus = 64;

std::string_view value_of(const std::vector<std::string>& environment, std::string_view name) {
  for (const std::string& item : environment)
    if (item.starts_with(name) && item.size() > name.size() && item[name.size()] == '=')
      return std::string_view(item).substr(name.size() + 1);
  return {};
}

std::vector<std::string> cut(std::string_view list) {
  std::vector<std::string> out;
  for (std::size_t at = 0; at <= list.size();) {
    const std::size_t end = std::min(list.find(',', at), list.size());
    out.emplace_back(list.substr(at, end - at));
    at = end + 1;
  }
  return out;
}

std::vector<std::string> numbers_below(std::size_t n) {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < n; ++i) out.push_back(std::to_string(i));
  return out;
}

tl::unexpected<Error> no_such_device(const probes::Injection& rule, std::size_t known) {
  const std::string there =
      known == 1 ? "the program would see one device" : fmt::format("the program would see {} devices", known);
  return fail(fmt::format("cannot use --inject '{}'", probes::escaped(rule.spec)), there,
              known == 1 ? "use hide-device=0" : fmt::format("use a number from 0 to {}", known - 1), EINVAL);
}

const probes::Injection* first_that_hides(const probes::Injections& rules) {
  const auto found =
      std::ranges::find_if(rules.rules(), [](const probes::Injection& rule) { return rule.hidden_device.has_value(); });
  return found == rules.rules().end() ? nullptr : &*found;
}

}  // namespace

Result<std::vector<HiddenDevice>> hide_devices(const probes::Injections& rules, std::optional<std::size_t> gpus,
                                               std::vector<std::string>& environment) {
  std::vector<HiddenDevice> out;
  if (!first_that_hides(rules)) return out;
  const std::string_view name = value_of(environment, kOwn).empty() ? kCuda : kOwn;
  const std::string was(value_of(environment, name));
  const std::vector<std::string> seen = was.empty() ? numbers_below(gpus.value_or(kMostGpus)) : cut(was);
  std::set<std::size_t> hidden;
  for (const probes::Injection& rule : rules.rules()) {
    if (!rule.hidden_device) continue;
    if (*rule.hidden_device >= seen.size()) return no_such_device(rule, seen.size());
    hidden.insert(*rule.hidden_device);
    out.push_back({rule.id, was.empty() ? std::string() : fmt::format("{}={}", name, was), {}});
  }
  std::vector<std::string> left;
  for (std::size_t i = 0; i < seen.size(); ++i)
    if (!hidden.contains(i)) left.push_back(seen[i]);
  if (left.empty()) left.emplace_back("-1");  // an empty list is no list
  const std::string became = fmt::format("{}={}", kOwn, fmt::join(left, ","));
  std::erase_if(environment, [](const std::string& item) { return item.starts_with(std::string(kOwn) + "="); });
  environment.push_back(became);
  for (HiddenDevice& one : out) one.became = became;
  return out;
}

std::optional<std::size_t> number_of_gpus(const std::string& sysfs_root) {
  const KfdTopology topology = KfdReader(sysfs_root).read();
  const auto n = static_cast<std::size_t>(std::ranges::count(topology.nodes, true, &KfdNode::gpu));
  return n == 0 ? std::nullopt : std::optional(n);
}

Result<void> check_nothing_is_hidden(const probes::Injections& rules) {
  const probes::Injection* const rule = first_that_hides(rules);
  if (!rule) return {};
  return fail(fmt::format("cannot use {} '{}'", rule->origin, probes::escaped(rule->spec)),
              "a running program has its list of devices already, and device 0 is the one of each new thread",
              "start the program with: fade-run --inject hide-device=D; to hide the last devices: fewer-devices=N",
              EINVAL);
}

}  // namespace fade
