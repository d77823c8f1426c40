#include "elf/notes.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

namespace fade::elf {
namespace {
namespace notes {

using Bytes = std::vector<std::byte>;

void add(Bytes& out, std::string_view text, std::uint64_t align) {
  for (const char c : text) out.push_back(static_cast<std::byte>(c));
  while (out.size() % align != 0) out.push_back({});
}

// `owner` with its zero.
void add_note(Bytes& out, std::string_view owner, std::uint32_t type, std::string_view content,
              std::uint64_t align = 4) {
  const std::uint32_t header[]{static_cast<std::uint32_t>(owner.size()), static_cast<std::uint32_t>(content.size()),
                               type};
  Bytes note(sizeof header);
  std::memcpy(note.data(), header, sizeof header);
  const auto padded = [&](std::string_view text) {
    Bytes bytes;
    add(bytes, text, align);
    note.insert(note.end(), bytes.begin(), bytes.end());
  };
  padded(owner);
  padded(content);
  out.insert(out.end(), note.begin(), note.end());
}

std::optional<std::string> found(std::span<const std::byte> notes, std::uint64_t align = 4) {
  const auto content = find_note(notes, align, "GNU", 3);
  if (!content) return std::nullopt;
  return std::string(reinterpret_cast<const char*>(content->data()), content->size());
}

TEST(Notes, TheFirstOfAnOwnerAndATypeIsFound) {
  using namespace std::literals;
  for (const std::uint64_t align : {4, 8}) {
    Bytes notes;
    add_note(notes, "GNU\0"sv, 1, "other", align);
    add_note(notes, "GNUX\0"sv, 3, "another", align);
    add_note(notes, "GNU\0"sv, 3, "wanted", align);
    add_note(notes, "GNU\0"sv, 3, "late", align);
    EXPECT_EQ(found(notes, align), "wanted");
  }
}

TEST(Notes, AnOwnerEndsWithAZero) {
  Bytes notes;
  add_note(notes, "GNU", 3, "none");
  EXPECT_EQ(found(notes), std::nullopt);
}

TEST(Notes, ANoteThatIsCutOffIsNone) {
  using namespace std::literals;
  Bytes notes;
  add_note(notes, "GNU\0"sv, 3, "wanted");
  const std::size_t end = 12 + 4 + 6;  // without the last padding
  for (std::size_t n = 0; n < end; ++n) EXPECT_EQ(found(std::span(notes).first(n)), std::nullopt) << n;
  EXPECT_EQ(found(std::span(notes).first(end)), "wanted");
}

TEST(Notes, AHostileSizeLeadsNowhere) {
  using namespace std::literals;
  Bytes notes;
  add_note(notes, "GNU\0"sv, 3, "wanted");
  const std::uint32_t huge = ~std::uint32_t{0};
  for (const std::size_t at : {0, 4}) {
    Bytes bad = notes;
    std::memcpy(bad.data() + at, &huge, sizeof huge);
    EXPECT_EQ(found(bad), std::nullopt);
  }
}

}  // namespace notes
}  // namespace
}  // namespace fade::elf
