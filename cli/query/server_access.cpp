#include "cli/query/server_access.hpp"

#include <cstdlib>
#include <fstream>

namespace fade::query {
namespace {

std::string of_environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

}  // namespace

Result<push::Access> read_server_access(const Settings& settings) {
  push::Access out{settings.user.empty() ? of_environment("CLICKHOUSE_USER") : settings.user,
                   of_environment("CLICKHOUSE_PASSWORD"), settings.ca_file};
  if (settings.password_file.empty()) return out;
  std::ifstream file(settings.password_file);
  if (!file || !std::getline(file, out.password))
    return fail_errno("cannot read the password in " + settings.password_file);
  if (out.password.ends_with('\r')) out.password.pop_back();
  return out;
}

}  // namespace fade::query
