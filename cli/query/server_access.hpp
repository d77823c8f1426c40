// User, password and authorities for a ClickHouse server, from options, files and the environment: never from a command
// line's address.
#pragma once
#include "base/result.hpp"
#include "cli/push/http.hpp"
#include "cli/query/settings.hpp"

namespace fade::query {

Result<push::Access> read_server_access(const Settings& settings);

}  // namespace fade::query
