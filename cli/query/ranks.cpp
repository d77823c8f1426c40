#include "cli/query/ranks.hpp"

#include <fmt/format.h>

#include "cli/table/formats.hpp"

namespace fade::query {

bool has_ranks(Database& database) {
  const auto found = database.one("SELECT EXISTS (SELECT 1 FROM process_ranks)");
  return found && *found == table::Value{std::int64_t{1}};
}

std::string process_words(const table::Value& rank, const std::string& pid) {
  return table::is_null(rank) ? "process " + pid : fmt::format("rank {} (process {})", table::raw_text(rank), pid);
}

}  // namespace fade::query
