#include "service/acl.hpp"

#include <linux/posix_acl.h>
#include <linux/posix_acl_xattr.h>
#include <sys/xattr.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace fade::service {
namespace {

struct Entry {
  std::uint16_t tag, permissions;
  std::uint32_t id;
};
constexpr std::uint32_t kNoId = ACL_UNDEFINED_ID;
constexpr std::uint16_t kRead = ACL_READ, kEnter = ACL_READ | ACL_EXECUTE, kAll = ACL_READ | ACL_WRITE | ACL_EXECUTE;

// In the order that the kernel asks for. Its numbers are little endian, as this machine's are.
Result<void> set(int folder, const char* name, uid_t uid, std::uint16_t reader, std::uint16_t mask) {
  const std::array<Entry, 5> entries{Entry{ACL_USER_OBJ, kAll, kNoId}, Entry{ACL_USER, reader, uid},
                                     Entry{ACL_GROUP_OBJ, 0, kNoId}, Entry{ACL_MASK, mask, kNoId},
                                     Entry{ACL_OTHER, 0, kNoId}};
  const std::uint32_t version = POSIX_ACL_XATTR_VERSION;
  std::array<std::byte, sizeof version + sizeof entries> value;
  std::memcpy(value.data(), &version, sizeof version);
  std::memcpy(value.data() + sizeof version, entries.data(), sizeof entries);
  if (::fsetxattr(folder, name, value.data(), value.size(), 0) == 0) return {};
  return fail("the folder for recordings cannot be opened to their owner",
              errno == EOPNOTSUPP ? "its file system has no access control lists" : std::strerror(errno),
              "run faded as root, or put its --state-dir on another file system", errno);
}

}  // namespace

Result<void> let_read(int folder, uid_t uid) {
  if (auto done = set(folder, "system.posix_acl_access", uid, kEnter, kEnter); !done) return done;
  return set(folder, "system.posix_acl_default", uid, kRead, kEnter);
}

}  // namespace fade::service
