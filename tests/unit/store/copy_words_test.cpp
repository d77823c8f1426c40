#include "store/copy_words.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "probes/built_in.hpp"
#include "probes/call_facts.hpp"
#include "probes/copy_block.hpp"

namespace fade::store {
namespace {

using probes::Kind;
using probes::Role;

bool is_copy(const probes::Probe& probe) { return probe.kind == Kind::Copy || probe.kind == Kind::Set; }

CallRecord some_call(std::uint64_t kind) {
  CallRecord record;
  for (std::size_t i = 0; i < record.words.size(); ++i) record.words[i] = 0xF00D'0000'0000'0000 | (i + 1) << 32 | kind;
  return record;
}

TEST(CopyWordsTest, tell_the_same_as_the_arguments) {
  for (const probes::ProbePtr& probe : probes::built_in_probes()) {
    const CopyWords words(*probe);
    if (!words.are_known()) continue;
    for (const std::uint64_t kind : {0u, 1u, 4u, 1024u, 0xFFFF'FFFFu}) {
      const CallRecord record = some_call(kind);
      EXPECT_EQ(probes::byte_count(*probe, record, {}).value_or(0), words.bytes(record)) << probe->symbol;
      EXPECT_EQ(probes::value_with_role(*probe, Role::Source, record, {}), words.source(record)) << probe->symbol;
      EXPECT_EQ(probes::value_with_role(*probe, Role::Destination, record, {}), words.destination(record))
          << probe->symbol;
      if (probe->kind == Kind::Copy) {
        EXPECT_EQ(probes::copy_kind(*probe, record, {}), words.kind(record)) << probe->symbol;
      }
      EXPECT_FALSE(probes::copy_block(*probe, record, {}, 6)) << probe->symbol;
    }
  }
}

TEST(CopyWordsTest, are_known_for_plain_copies_only) {
  std::set<std::string> known;
  for (const probes::ProbePtr& probe : probes::built_in_probes()) {
    const bool are_known = CopyWords(*probe).are_known();
    EXPECT_TRUE(is_copy(*probe) || !are_known) << probe->symbol;
    if (are_known) known.insert(probe->symbol);
  }
  for (const char* plain : {"hipMemcpy", "hipMemcpyAsync", "hipMemcpyHtoD", "hipMemset"})
    EXPECT_TRUE(known.contains(plain)) << plain;
  for (const char* other : {"hipMemcpy2D", "hipMemcpy3D", "hipMemcpyParam2D", "hipMemset3D"})
    EXPECT_FALSE(known.contains(other)) << other;
}

}  // namespace
}  // namespace fade::store
