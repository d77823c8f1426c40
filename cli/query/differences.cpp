#include "cli/query/differences.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

namespace fade::query {
namespace {

using ItemKey = std::tuple<std::int64_t, std::string, std::string>;

// A session without a call of a function has spent no time in it; a session without steps has no mean of them.
bool is_zero_without_rows(const std::string& unit) { return unit != "mean ns"; }

void add(Side& side, const NamedRow& row) {
  if (row.has("number")) side.numbers.push_back(static_cast<double>(row.number("number")));
  const std::string text = row.text("text");
  if (text.empty() || side.text.find(text) != std::string::npos) return;
  (side.text += side.text.empty() ? "" : "; ") += text;
}

using Items = std::map<ItemKey, Difference>;

Difference& item_of(Items& all, const ItemKey& key, std::string unit) {
  Difference& d = all[key];
  std::tie(d.rank, d.section, d.item) = key;
  d.unit = std::move(unit);
  return d;
}

void fill_up(Items& all, std::size_t sessions, Side Difference::*side) {
  for (auto& [key, d] : all)
    if (Side& s = d.*side; !s.numbers.empty() && is_zero_without_rows(d.unit)) s.numbers.resize(sessions, 0);
}

void take(Items& all, const NamedRows& rows, std::size_t sessions, Side Difference::*side) {
  for (const NamedRow& row : rows) {
    const ItemKey key{row.number("rank"), row.text("section"), row.text("item")};
    add(item_of(all, key, row.text("unit")).*side, row);
  }
  fill_up(all, sessions, side);
}

void take(Items& all, const std::vector<ItemValues>& items, std::size_t sessions, Side Difference::*side) {
  for (const ItemValues& one : items) item_of(all, {one.rank, one.section, one.item}, one.unit).*side = one.values;
  fill_up(all, sessions, side);
}

bool is_same(const Difference& d) {
  if (d.before.seen() != d.after.seen()) return false;
  return d.is_text() ? d.before.text == d.after.text : d.more() == 0;
}

bool comes_before(const Difference& a, const Difference& b) {
  if (a.rank != b.rank) return a.rank < b.rank;
  if (a.is_text() || b.is_text()) return std::tuple(a.is_text(), a.item) < std::tuple(b.is_text(), b.item);
  if (a.unit != b.unit) return a.unit > b.unit;  // times, then numbers, then sizes
  return std::fabs(a.more()) > std::fabs(b.more());
}

template <class Values>
std::vector<Difference> different(const Values& before, std::size_t sessions_before, const Values& after,
                                  std::size_t sessions_after, std::size_t& same) {
  Items all;
  take(all, before, sessions_before, &Difference::before);
  take(all, after, sessions_after, &Difference::after);
  std::vector<Difference> out;
  same = 0;
  for (auto& [key, d] : all)
    if (is_same(d)) ++same;
    else out.push_back(std::move(d));
  std::ranges::stable_sort(out, comes_before);
  return out;
}

}  // namespace

std::vector<Difference> differences(const NamedRows& before, std::size_t sessions_before, const NamedRows& after,
                                    std::size_t sessions_after, std::size_t& same) {
  return different(before, sessions_before, after, sessions_after, same);
}

std::vector<Difference> differences(const std::vector<ItemValues>& before, std::size_t sessions_before,
                                    const std::vector<ItemValues>& after, std::size_t sessions_after,
                                    std::size_t& same) {
  return different(before, sessions_before, after, sessions_after, same);
}

}  // namespace fade::query
