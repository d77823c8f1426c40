#include "cli/attach/ending.hpp"

#include "cli/options/program.hpp"

namespace fade::cli::attach {

int status_of(int code) {
  switch (code) {
    case EINVAL: return kUsageStatus;
    case EPERM: return kNotPermitted;
    case ESRCH: return kNoProcess;
    case ENOTSUP: return kNotSupported;
    default: return kFailed;
  }
}

}  // namespace fade::cli::attach
