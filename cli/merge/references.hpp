// The columns of a recording's tables that hold row ids (schema/references.tsv). Data only: opens no database.
#pragma once
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace fade::merge {

struct Holds {
  enum class What { Numbers, Ids, PackedCalls };
  What what = What::Numbers;
  std::string table;  // whose ids
};

class References {
 public:
  // `text`: as schema::references(), and lives as long as the object.
  explicit References(std::string_view text);

  // The kind of values in an integer column or a blob. nullopt: the list has no line for the column.
  std::optional<Holds> in(std::string_view table, std::string_view column) const;
  bool is_shared(std::string_view table) const { return shared_.contains(table); }    // equal rows are one row
  bool is_of_file(std::string_view table) const { return of_file_.contains(table); }  // not of a session

 private:
  void add(std::string_view word, std::string_view column);

  std::map<std::string, std::string_view, std::less<>> words_;  // by "column" or "table.column"
  std::set<std::string_view> shared_, of_file_;
};

}  // namespace fade::merge
