#include "session/gpu_nodes.hpp"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>

namespace fade {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// A procfs with one process, number 7, and the nodes below its root.
class Nodes : public ::testing::Test {
 protected:
  ~Nodes() override { std::filesystem::remove_all(folder_); }

  void who(const std::string& uid, const std::string& gid, const std::string& groups,
           const std::string& capabilities = "0000000000000000") {
    file("7/status", "Name:\tx\nUid:\t" + four(uid) + "\nGid:\t" + four(gid) + "\nGroups:\t" + groups + " \nCapEff:\t" +
                         capabilities + "\n");
  }
  std::filesystem::path node(const std::string& name, mode_t mode) {
    const auto path = file("7/root" + name, "");
    EXPECT_EQ(::chmod(path.c_str(), mode), 0);
    return path;
  }
  void open(const std::string& target) {
    std::filesystem::create_directories(folder_ / "7/fd");
    std::filesystem::create_symlink(target, folder_ / "7/fd" / std::to_string(++descriptors_));
  }
  std::vector<GpuNode> look() const { return look_at_gpu_nodes(7, folder_.string()); }
  std::string state(std::size_t index = 0) const {
    const auto nodes = look();
    return index < nodes.size() ? nodes[index].state : "";
  }

  std::filesystem::path file(const std::string& name, const std::string& content) const {
    const auto path = folder_ / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << content;
    return path;
  }
  static std::string four(const std::string& id) { return id + "\t" + id + "\t" + id + "\t" + id; }

  const std::string own_uid_ = std::to_string(::getuid()), own_gid_ = std::to_string(::getgid());
  int descriptors_ = 2;
  std::filesystem::path folder_ = [] {
    std::string name = ::testing::TempDir() + "fade-nodes-XXXXXX";
    return std::filesystem::path(::mkdtemp(name.data()));
  }();
};

TEST_F(Nodes, OfAProcessThatIsGoneThereAreNone) { EXPECT_THAT(look(), IsEmpty()); }

TEST_F(Nodes, WithoutTheDriverThereIsNone) {
  who("70001", "70001", "");
  EXPECT_THAT(look(), ElementsAre(AllOf(Field(&GpuNode::state, "device-missing"),
                                        Field(&GpuNode::detail, "/dev/kfd does not exist where the process looks"))));
}

TEST_F(Nodes, WhatIsOpenIsOpen) {
  who("70001", "70001", "");
  node("/dev/kfd", 0600);
  node("/dev/dri/renderD128", 0600);
  node("/dev/dri/card0", 0600);
  open("/dev/kfd");
  open("/some/root/dev/dri/renderD128");
  open("/dev/null");
  EXPECT_THAT(look(), SizeIs(2));
  EXPECT_EQ(state(0), "device-open");
  EXPECT_EQ(state(1), "device-open");
}

TEST_F(Nodes, TheUserTheGroupsAndTheOthersEachHaveTheirBits) {
  node("/dev/kfd", 0660);
  who("70001", "70001", "70002 70003");
  EXPECT_EQ(state(), "device-refused");
  EXPECT_THAT(look()[0].detail, AllOf(HasSubstr("mode 0660, user " + own_uid_ + ", group " + own_gid_),
                                      HasSubstr("user id 70001 and groups 70001, 70002, 70003")));
  who("70001", "70001", "70002 " + own_gid_);
  EXPECT_EQ(state(), "device-closed");
  who("70001", own_gid_, "");
  EXPECT_EQ(state(), "device-closed");
  who(own_uid_, "70001", "");
  EXPECT_EQ(state(), "device-closed");
  node("/dev/kfd", 0666);
  who("70001", "70001", "");
  EXPECT_EQ(state(), "device-closed");
}

TEST_F(Nodes, OnlyReadingIsNotEnough) {
  node("/dev/kfd", 0664);
  who("70001", "70001", "");
  EXPECT_EQ(state(), "device-refused");
}

TEST_F(Nodes, TheBitsOfTheUserCountBeforeThoseOfOthers) {
  node("/dev/kfd", 0066);
  who(own_uid_, "70001", "");
  EXPECT_EQ(state(), "device-refused");
}

TEST_F(Nodes, ThePowerToIgnorePermissionsOpensAll) {
  node("/dev/kfd", 0600);
  who("70001", "70001", "", "0000000000000002");
  EXPECT_EQ(state(), "device-closed");
}

// logind gives the user at the seat an entry of his own.
TEST_F(Nodes, AnAccessListMayNameTheUser) {
  struct Acl {
    std::uint32_t version = 2;
    struct Entry {
      std::uint16_t tag, allowed;
      std::uint32_t id;
    } entries[5] = {{1, 6, ~0u}, {2, 6, 70001}, {4, 0, ~0u}, {16, 6, ~0u}, {32, 0, ~0u}};
  } acl;
  const auto path = node("/dev/kfd", 0660);
  if (::setxattr(path.c_str(), "system.posix_acl_access", &acl, sizeof acl, 0) != 0)
    GTEST_SKIP() << "no access lists here: " << std::strerror(errno);
  who("70001", "70001", "");
  EXPECT_EQ(state(), "device-closed");
  who("70009", "70009", "");
  EXPECT_EQ(state(), "device-refused");
}

}  // namespace
}  // namespace fade
