// fade-query --on URL diff JOB JOB.
#pragma once
#include <string>

#include "base/result.hpp"
#include "cli/push/server.hpp"
#include "cli/query/command.hpp"

namespace fade::query {

std::string diff_of_jobs(const std::string& before, const std::string& after);  // the statement
Result<void> compare_jobs(Context& context, push::Server& server, const std::string& before_name,
                          const std::string& after_name);

}  // namespace fade::query
