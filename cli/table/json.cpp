#include <nlohmann/json.hpp>

#include "cli/table/text.hpp"

namespace fade::table {

std::string json_value(std::string_view text) {
  // Looks at the UTF-8 as well, and does not recurse.
  if (!nlohmann::json::accept(text)) return json_quote(text);
  return json_on_one_line(text);
}

}  // namespace fade::table
