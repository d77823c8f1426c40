#include "cli/query/number_differences.hpp"

#include <map>
#include <tuple>

namespace fade::query {
namespace {

using PairKey = std::tuple<std::int64_t, std::string, std::string, std::int64_t>;

PairKey pair_key(const NumberCopy& copy) { return {copy.part, copy.direction, copy.place, copy.bytes}; }

class StepTable {
 public:
  explicit StepTable(std::vector<NumberSteps::Step>& all) : all_(all) {}
  NumberSteps::Step& of(const NumberCopy& copy) {
    const auto [known, is_new] = places_.try_emplace({copy.part, copy.step.value_or(-1)}, all_.size());
    if (is_new) all_.push_back({.part = copy.part, .step = copy.step});
    return all_[known->second];
  }

 private:
  std::vector<NumberSteps::Step>& all_;
  std::map<std::pair<std::int64_t, std::int64_t>, std::size_t> places_;
};

}  // namespace

NumberSteps number_steps(const std::vector<NumberCopy>& before, const std::vector<NumberCopy>& after) {
  std::map<PairKey, std::vector<const NumberCopy*>> partners;
  for (const NumberCopy& copy : after) partners[pair_key(copy)].push_back(&copy);
  NumberSteps out;
  StepTable steps(out.steps);
  std::map<PairKey, std::size_t> taken;
  std::map<std::int64_t, std::int64_t> equal;  // by process
  for (const NumberCopy& copy : before) {
    const auto known = partners.find(pair_key(copy));
    const std::size_t place = taken[pair_key(copy)]++;
    NumberSteps::Step& step = steps.of(copy);
    if (known == partners.end() || place >= known->second.size()) {
      ++step.only_before;
      ++out.only_before;
      continue;
    }
    const NumberCopy& partner = *known->second[place];
    ++step.compared;
    ++out.compared;
    if (partner.checksum == copy.checksum && partner.scanned == copy.scanned) {
      ++equal[copy.part];
      continue;
    }
    ++step.different;
    ++out.different;
    if (!out.first) out.first = {copy, partner, equal[copy.part]};
  }
  for (const auto& [key, copies] : partners)
    for (std::size_t i = taken[key]; i < copies.size(); ++i) {
      ++steps.of(*copies[i]).only_after;
      ++out.only_after;
    }
  return out;
}

}  // namespace fade::query
