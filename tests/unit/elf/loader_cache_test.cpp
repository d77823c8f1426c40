#include "elf/loader_cache.hpp"

#include <gmock/gmock.h>

#include <cstdint>
#include <cstring>

namespace fade::elf {
namespace {

void put(std::string& to, std::uint32_t value) { to.append(reinterpret_cast<const char*>(&value), sizeof value); }

// Two entries; the texts follow them.
std::string cache(std::uint32_t flags) {
  std::string out = "glibc-ld.so.cache1.1";
  const std::string texts("libx.so.1\0/lib/libx.so.1\0", 25);
  put(out, 2);
  put(out, static_cast<std::uint32_t>(texts.size()));
  out.resize(48);
  for (int i = 0; i < 2; ++i)
    for (const std::uint32_t word : {i == 0 ? flags : 0x0303u, 96u, 106u, 0u, 0u, 0u}) put(out, word);
  return out + texts;
}

TEST(LoaderCache, NamesAndPaths) {
  const auto found = read_loader_cache(cache(0x0303));
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].name, "libx.so.1");
  EXPECT_EQ(found[0].path, "/lib/libx.so.1");
}

TEST(LoaderCache, BehindATableOfTheOldForm) { EXPECT_EQ(read_loader_cache("ld.so-1.7.0" + cache(0x0303)).size(), 2u); }

TEST(LoaderCache, OtherMachinesAreLeftOut) { EXPECT_EQ(read_loader_cache(cache(0x0003)).size(), 1u); }

TEST(LoaderCache, NonsenseIsHarmless) {
  const std::string good = cache(0x0303);
  for (std::size_t size = 0; size < good.size(); ++size)
    (void)read_loader_cache(std::string_view(good).substr(0, size));
  std::string many = good;
  std::memset(many.data() + 20, 0xff, 4);
  EXPECT_LE(read_loader_cache(many).size(), 4u);
  EXPECT_TRUE(read_loader_cache("").empty());
}

}  // namespace
}  // namespace fade::elf
