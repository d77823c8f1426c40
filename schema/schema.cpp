#include "schema/schema.hpp"

namespace fade::schema {

const Report* find_report(std::string_view name) {
  for (const Report& report : reports())
    if (report.name == name) return &report;
  return nullptr;
}

}  // namespace fade::schema
