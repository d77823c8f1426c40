// A folder with files that one more user may read, if the daemon is not root and cannot give them away (acl(5)).
#pragma once
#include <sys/types.h>

#include "base/result.hpp"

namespace fade::service {

// `uid` may enter `folder` (an open directory of ours) and read files made in it from now on. No other user may. A file
// that was made with mode 0600 becomes readable with chmod 0640: the group's bits are the mask of the list.
Result<void> let_read(int folder, uid_t uid);

}  // namespace fade::service
