// Rows whose cells are asked for by name.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "cli/query/page.hpp"

namespace fade::query {

class NamedRow {
 public:
  explicit NamedRow(std::map<std::string, table::Value, std::less<>> cells) : cells_(std::move(cells)) {}

  bool has(std::string_view column) const { return !table::is_null(at(column)); }
  std::string text(std::string_view column) const { return page_text(at(column)); }   // printable; empty for NULL
  std::int64_t number(std::string_view column) const { return integer(at(column)); }  // 0 where it is no number
  table::Value at(std::string_view column) const {
    const auto found = cells_.find(column);
    return found == cells_.end() ? table::Value{} : found->second;
  }

 private:
  std::map<std::string, table::Value, std::less<>> cells_;
};

// As rows_for(): the session, the user's filters and :word are bound.
Result<std::vector<NamedRow>> named_rows(const Context& context, Recording& recording, std::string_view sql,
                                         const std::string& word = {});

}  // namespace fade::query
