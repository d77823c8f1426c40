#include <gmock/gmock.h>

#include "base/page_cache.hpp"
#include "base/remote.hpp"

namespace fade {
namespace {

// One readable piece of memory.
struct Piece : Memory {
  std::uint64_t begin = 0;
  std::string content;
  mutable std::vector<std::pair<std::uint64_t, std::size_t>> reads;

  Piece(std::uint64_t at, std::string text) : begin(at), content(std::move(text)) {}
  std::size_t read(RemoteAddr from, std::span<std::byte> into) const override {
    reads.emplace_back(from.value, into.size());
    if (from.value < begin || from.value >= begin + content.size()) return 0;
    const std::size_t at = from.value - begin, n = std::min(into.size(), content.size() - at);
    std::memcpy(into.data(), content.data() + at, n);
    return n;
  }
};

constexpr std::uint64_t kPageEnd = 0x10000;

struct Text {
  std::optional<std::string> text;
  bool cut = false;
  bool operator==(const Text&) const = default;
};
void PrintTo(const Text& t, std::ostream* out) { *out << t.text.value_or("none") << (t.cut ? " cut" : ""); }

Text c_string(const Memory& memory, std::uint64_t at, std::size_t limit) {
  bool cut = true;
  auto text = memory.c_string({at}, limit, &cut);
  return {std::move(text), cut};
}

TEST(CString, EndsAtTheNul) {
  const Piece memory(0x1000, std::string("hello\0rest", 10));
  EXPECT_EQ(c_string(memory, 0x1000, 100), (Text{"hello", false}));
  EXPECT_EQ(c_string(memory, 0x1005, 100), (Text{"", false}));
}

TEST(CString, RightBeforeMemoryThatCannotBeRead) {
  const Piece with_nul(kPageEnd - 6, std::string("hello\0", 6)), without(kPageEnd - 5, "hello");
  EXPECT_EQ(c_string(with_nul, kPageEnd - 6, 256), (Text{"hello", false}));
  EXPECT_EQ(c_string(without, kPageEnd - 5, 256), (Text{"hello", true}));
  EXPECT_EQ(c_string(without, kPageEnd, 256), (Text{std::nullopt, false}));
}

TEST(CString, LongerThanOneChunkAtAnyOffset) {
  const std::string text(700, 'x');
  for (const std::uint64_t offset : {0, 1, 255, 256, 257}) {
    const Piece memory(0x1000 + offset, text + '\0');
    EXPECT_EQ(c_string(memory, 0x1000 + offset, 1000), (Text{text, false})) << offset;
    EXPECT_EQ(c_string(memory, 0x1000 + offset, 699), (Text{text.substr(1), true})) << offset;
  }
}

TEST(CString, LimitIsKept) {
  const Piece memory(0x1000, std::string("abcdef\0", 7));
  EXPECT_EQ(c_string(memory, 0x1000, 3), (Text{"abc", true}));
  EXPECT_EQ(c_string(memory, 0x1000, 7), (Text{"abcdef", false}));
  for (const auto& [at, size] : memory.reads) EXPECT_LE(at + size, 0x1007u);
}

TEST(CString, NoReadCrossesAPage) {
  const Piece memory(kPageEnd - 300, std::string(600, 'x'));
  c_string(memory, kPageEnd - 300, 600);
  for (const auto& [at, size] : memory.reads) EXPECT_EQ(at / 4096, (at + size - 1) / 4096);
}

TEST(MemoryValue, IsWholeOrNothing) {
  const Piece memory(0x1000, "12345678");
  EXPECT_TRUE(memory.value<std::uint64_t>({0x1000}));
  EXPECT_FALSE(memory.value<std::uint64_t>({0x1001}));
  EXPECT_TRUE(memory.value<char>({0x1007}));
}

TEST(PageCache, ReadsEachPageOnceAndAsFarAsThereIsMemory) {
  std::string content(0x3000, '\0');
  for (std::size_t i = 0; i < content.size(); ++i) content[i] = static_cast<char>(i / 3);
  const Piece memory(0x1000, content);
  const PageCache cache(memory);
  for (const std::uint64_t at : {0x1000, 0x1ffd, 0x1500, 0x2ffe, 0x3ff8}) {
    std::array<char, 8> got{};
    EXPECT_EQ(cache.read({at}, std::as_writable_bytes(std::span(got))), 8u) << at;
    EXPECT_EQ(std::string_view(got.data(), got.size()), std::string_view(content).substr(at - 0x1000, 8)) << at;
  }
  EXPECT_EQ(memory.reads.size(), 3u);
  std::array<std::byte, 16> rest;
  EXPECT_EQ(cache.read({0x3ffa}, rest), 6u);
  EXPECT_EQ(cache.read({0x4000}, rest), 0u);
  EXPECT_EQ(cache.read({0x10}, rest), 0u);
  EXPECT_EQ(cache.read({~std::uint64_t{7}}, rest), 0u) << "behind the end of all addresses";
  std::vector<std::byte> much(0x8000);
  EXPECT_EQ(cache.read({0x1000}, much), 0x3000u) << "at once";
}

}  // namespace
}  // namespace fade
