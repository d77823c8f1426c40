// Files that fade writes under a name from the user. In folders that several users may write (/tmp), another user may
// have made something under that name. Therefore fade follows no links of other users, even if fs.protected_symlinks is
// off. FIFOs, devices and files of other users are not written. Links of the user and of root (/dev/stdout) are
// followed.
#pragma once
#include <sys/types.h>

#include <string>

#include "base/fd.hpp"
#include "base/result.hpp"

namespace fade {

enum class OutputMode {
  New,        // an existing file is an error with code EEXIST; a FIFO, a terminal or /dev/null is written
  Overwrite,  // an existing file loses its content
  Append,
};

// Opens `path` for writing; a new file has `permissions`. A FIFO of the user waits for its reader, as usual. The code
// is EPERM if fade must not write to the existing file.
Result<Fd> open_output_file(const std::string& path, OutputMode mode, mode_t permissions);

// Returns an Error with code EPERM under the same conditions as open_output_file. For files that a library opens by
// name.
Result<void> check_output_file(const std::string& path);

}  // namespace fade
