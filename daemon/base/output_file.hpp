// Files that fade writes under a name of the user's. Another user may have put something under that name, wherever
// both may write (/tmp). So links of other users are not followed, whatever fs.protected_symlinks says, and their
// FIFOs, devices and planted files are not written. The user's own links and root's (/dev/stdout) are followed.
#pragma once
#include <sys/types.h>

#include <string>

#include "base/fd.hpp"
#include "base/result.hpp"

namespace fade {

enum class OutputMode {
  New,        // a file that is there is an error with code EEXIST; a FIFO, a terminal or /dev/null is written to
  Overwrite,  // a file that is there loses its content
  Append,
};

// Opens `path` for writing; a file that is made has `permissions`. A FIFO of the user's own waits for its reader, as
// ever. The code is EPERM where something stands there that fade does not write to.
Result<Fd> open_output_file(const std::string& path, OutputMode mode, mode_t permissions);

// Fails with code EPERM where open_output_file would. For files that a library opens by their name.
Result<void> check_output_file(const std::string& path);

}  // namespace fade
