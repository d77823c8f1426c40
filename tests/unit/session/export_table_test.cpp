// Tables of functions, as a program hands them out: read from this very process.
#include "session/export_table.hpp"

#include <gmock/gmock.h>

#include "elf/support.hpp"
#include "probes/built_in.hpp"

extern "C" const char __ehdr_start[], _end[];

namespace fade {
namespace {

using testing::HasSubstr;

int first() { return 1; }
int second() { return 2; }

RemoteAddr address_of(const void* p) { return {reinterpret_cast<std::uint64_t>(p)}; }
std::uint64_t word_of(int (*function)()) { return reinterpret_cast<std::uint64_t>(function); }

struct ExportTableTest : ::testing::Test {
  elf::test::OwnMemory memory;
  Module module{
      .id = 1, .entry = {}, .span = {address_of(__ehdr_start), address_of(_end)}, .path = "/self", .role = "zluda"};
  const std::string cudart = "\x6b\xd5\xfb\x6c____________", other = std::string("\x01\x02\x03\x04____________", 16);
};

TEST_F(ExportTableTest, FunctionsStandBehindTheSize) {
  const std::uint64_t words[] = {5 * 8, word_of(first), 0, 12345, word_of(second), word_of(first)};
  const auto found = read_table(memory, module, {address_of(words), cudart});
  ASSERT_TRUE(found) << found.error().text();
  ASSERT_EQ(found->size(), 2U) << "neither what is no code nor what stands behind the size";
  EXPECT_EQ((*found)[0].index, 1U);
  EXPECT_EQ((*found)[0].address, RemoteAddr{word_of(first)});
  EXPECT_EQ((*found)[1].index, 4U);
  EXPECT_EQ((*found)[1].address, RemoteAddr{word_of(second)});
}

TEST_F(ExportTableTest, SizesThatAreNoneAreRefused) {
  for (const std::uint64_t size :
       {std::uint64_t{0}, std::uint64_t{8}, std::uint64_t{17}, std::uint64_t{1} << 40, ~std::uint64_t{7}}) {
    const std::vector<std::uint64_t> words = {size, word_of(first), word_of(second), 0};
    const auto found = read_table(memory, module, {address_of(words.data()), cudart});
    ASSERT_FALSE(found) << size;
    EXPECT_THAT(found.error().message, HasSubstr("CUDART_INTERFACE"));
  }
  EXPECT_FALSE(read_table(memory, module, {{16}, cudart})) << "nothing is mapped there";
}

TEST_F(ExportTableTest, FunctionsAreNamedByTableAndPlace) {
  const auto giver = probes::built_in_probes().front();
  EXPECT_EQ(table_probe(*giver, {{1}, cudart}, 3)->symbol, "CUDART_INTERFACE[3]");
  EXPECT_EQ(table_probe(*giver, {{1}, other}, 1)->symbol, "export_table_01020304[1]");
  EXPECT_FALSE(table_probe(*giver, {{1}, cudart}, 3)->known_signature);
  EXPECT_FALSE(table_probe(*giver, {{1}, cudart}, 3)->failed(801));
}

TEST_F(ExportTableTest, WhatWasGivenIsInTheCallsOutParameter) {
  const auto& all = probes::built_in_probes();
  const auto giver = std::ranges::find(all, "cuGetExportTable", [](const auto& p) { return p->symbol; });
  ASSERT_NE(giver, all.end());
  CallRecord record;
  record.words = {0x1000, 0x2000};
  std::vector<std::byte> payload;
  EXPECT_FALSE(table_given(**giver, record, payload));
  append_piece(payload, {.kind = PieceKind::In, .param = 1}, std::as_bytes(std::span(cudart)));
  const std::uint64_t at = 0x7000;
  append_piece(payload, {.kind = PieceKind::Out, .param = 0}, std::as_bytes(std::span(&at, 1)));
  const auto given = table_given(**giver, record, payload);
  ASSERT_TRUE(given);
  EXPECT_EQ(given->at, RemoteAddr{0x7000});
  EXPECT_EQ(given->id, cudart);
}

}  // namespace
}  // namespace fade
