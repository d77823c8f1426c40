// The options of a recording that a client may set, as words of fade-attach's command line. One row per option; none of
// them names a file, because the worker may read files that the client may not.
#pragma once
#include <string>
#include <vector>

#include "base/result.hpp"
#include "ipc/json.hpp"

namespace fade::service {

// `options`: {"detail":"stats","events":["mem"],"set":["device.*.warpSize=64"],"duration_ns":1000000,"tree":true}
Result<std::vector<std::string>> worker_words(const ipc::Json& options);

}  // namespace fade::service
