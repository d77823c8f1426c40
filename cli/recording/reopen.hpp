// A terminal or pipe that must never make us wait: while we wait, a stopped thread waits for us.
#pragma once
#include "base/fd.hpp"

namespace fade::cli::recording {

// The terminal or pipe behind `fd`, opened once more for `access` (O_RDONLY or O_WRONLY) without waiting: O_NONBLOCK
// belongs to an open file, which we share with whoever started us. Holds nothing where that cannot be done (a socket, a
// terminal of another user) or need not (a file would be written from its begin).
Fd reopen_without_waiting(int fd, int access);

}  // namespace fade::cli::recording
