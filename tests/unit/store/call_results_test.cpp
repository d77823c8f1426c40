// Arguments by --detail, results and failures of calls.
#include <bit>

#include "probes/catalogue.hpp"
#include "probes/probe_fixtures.hpp"
#include "store_fixture.hpp"

namespace fade::store {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class CallResults : public Recording {};

TEST_F(CallResults, RepeatedOftenKeepTheArgumentsOfTheFirst200AsTextAndPackTheRest) {
  open();
  for (int i = 0; i < 250; ++i) tracee->call("hipSetDevice", {0});
  tracee->call("hipGetDevice", {0x7ffd0000});
  finish();
  EXPECT_EQ(value("SELECT count(args), count(*) FROM calls WHERE name = 'hipSetDevice'"), "200|250");
  EXPECT_EQ(value("SELECT count(args) FROM calls WHERE name = 'hipGetDevice'"), "1");
  EXPECT_EQ(value("SELECT name, calls, last_call - first_call + 1 FROM arg_blocks"), "hipSetDevice|50|50");
  EXPECT_EQ(value("SELECT calls, as_text, packed, missing FROM arguments_kept"), "251|201|50|0");
}

TEST_F(CallResults, AtFullDetailAllHaveTheirArguments) {
  open({.detail = Detail::Full});
  for (int i = 0; i < 250; ++i) tracee->call("hipSetDevice", {0});
  finish();
  EXPECT_EQ(value("SELECT count(args) FROM calls"), "250");
  EXPECT_EQ(value("SELECT detail FROM sessions"), "full");
}

TEST_F(CallResults, AtStatsDetailAreOnlyCounted) {
  open({.detail = Detail::Stats});
  tracee->malloc(0x1000, 64);
  tracee->launch(0x500);
  tracee->fail("hipSetDevice", 101);
  const Totals totals = finish();
  EXPECT_EQ(value("SELECT (SELECT count(*) FROM call_) + (SELECT count(*) FROM copy_) + (SELECT count(*) FROM alloc_) "
                  "+ (SELECT count(*) FROM arg_)"),
            "0");
  EXPECT_EQ(value("SELECT sum(calls), sum(errors) FROM top"), "3|1");
  EXPECT_EQ(value("SELECT launches FROM kernel_stats"), "1");
  EXPECT_EQ(value("SELECT error FROM errors"), "hipErrorInvalidDevice");
  EXPECT_EQ(totals.dropped, 0u);
}

TEST_F(CallResults, ThatFailHaveANameAndTheirArguments) {
  open();
  CallRecord record = tracee->begin("hipSetDevice", {9});
  record.result = 0xffffffff00000000u | 101;  // the upper half of rax means nothing
  record.flags |= kFailed;
  tracee->put(record);
  const Totals totals = finish();
  EXPECT_THAT(rows("SELECT name, code, error, repeats, args FROM errors"),
              ElementsAre(R"(hipSetDevice|101|hipErrorInvalidDevice|1|{"deviceId":9})"));
  EXPECT_THAT(rows("SELECT result, result_name, failed FROM calls"), ElementsAre("101|hipErrorInvalidDevice|1"));
  EXPECT_EQ(totals.errors, 1u);
}

TEST_F(CallResults, ThatFailAgainAndAgainAddUp) {
  open();
  for (int i = 0; i < 1000; ++i) tracee->fail("hipSetDevice", 101);
  tracee->fail("hipSetDevice", 100);
  finish();
  EXPECT_EQ(value("SELECT count(*), sum(repeats), max(repeats) FROM errors WHERE code = 101"), "101|1000|900");
  EXPECT_EQ(value("SELECT last > start FROM errors WHERE repeats > 1"), "1");
  EXPECT_EQ(value("SELECT repeats FROM errors WHERE code = 100"), "1");
}

TEST_F(CallResults, WithAResultThatIsNoFailureKeepItsName) {
  open();
  CallRecord record = tracee->begin("hipStreamQuery");
  record.result = 600;
  tracee->put(record);
  finish();
  EXPECT_THAT(rows("SELECT result, result_name, failed FROM calls"), ElementsAre("600|hipErrorNotReady|0"));
  EXPECT_THAT(rows("SELECT * FROM errors"), IsEmpty());
}

TEST_F(CallResults, WithAFloatingPointResultShowItsValue) {
  open();
  probes::Catalogue catalogue;
  ASSERT_TRUE(catalogue.add_text("library \"libmy.so\"\ndouble scale(double x)\nfloat half(float x)", "my.probes"));
  const std::tuple<std::uint32_t, const char*, std::uint64_t> results[] = {
      {8, "scale", std::bit_cast<std::uint64_t>(-2.5)}, {9, "half", std::bit_cast<std::uint32_t>(0.75f)}};
  for (const auto& [id, name, result] : results) {
    tracee->notice(
        FunctionDefined{FunctionId::of(id), probes::probe_called(name, catalogue.all()), "/opt/libmy.so", 0});
    CallRecord record = tracee->begin("hipDeviceSynchronize");
    record.function = FunctionId::of(id);
    record.result = result;
    tracee->put(record);
  }
  finish();
  EXPECT_THAT(rows("SELECT name, result_name, failed FROM calls ORDER BY id"),
              ElementsAre("scale|-2.5|0", "half|0.75|0"));
}

TEST_F(CallResults, WithManyFloatingPointResultsLeaveRoomForNamesOfErrors) {
  open();
  probes::Catalogue catalogue;
  ASSERT_TRUE(catalogue.add_text("library \"libmy.so\"\ndouble scale(double x)", "my.probes"));
  tracee->notice(FunctionDefined{8, probes::probe_called("scale", catalogue.all()), "/opt/libmy.so", 0});
  for (int i = 1; i <= 11'000; ++i) {
    CallRecord record = tracee->begin("hipDeviceSynchronize");
    record.function = 8;
    record.result = std::bit_cast<std::uint64_t>(1.0 * i);
    tracee->put(record);
  }
  tracee->fail("hipDeviceSynchronize", 709);
  finish();
  EXPECT_EQ(rows("SELECT count(result_name) FROM calls WHERE name = 'scale'").at(0), "5000");
  EXPECT_EQ(rows("SELECT result_name FROM calls WHERE failed").at(0), "hipErrorContextIsDestroyed");
}

}  // namespace
}  // namespace fade::store
