// What is said about the mode of kernels, on the seed recording: 72 compute units, of which HIP counts 36 pairs, and a
// rule that says 72.
#include <gmock/gmock.h>

#include "cli/query/database.hpp"
#include "cli/query_seed.hpp"
#include "cli/table/formats.hpp"

namespace fade::query {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class KernelFindings : public testing::Test {
 protected:
  // The findings, with line breaks between them.
  std::string found(const std::string& change) {
    TemporaryDirectory directory;
    const std::string path = make_recording(directory, "fade-modes.db");
    execute(path, change);
    auto db = Database::open(path);
    EXPECT_TRUE(db) << db.error().text();
    auto value = db->one(
        "SELECT coalesce(group_concat(finding || ' ' || device || ': ' || text, char(10)), '') FROM findings WHERE "
        "finding IN ('cu-mode', 'count-over-kernels')");
    EXPECT_TRUE(value) << value.error().text();
    return value ? table::raw_text(*value) : "";
  }
};

TEST_F(KernelFindings, CuModeIsExplainedWhereTheCountIsOfPairs) {
  EXPECT_THAT(found("UPDATE kernel_code_ SET wgp_mode = 0 WHERE problem IS NULL"),
              testing::AllOf(StartsWith("cu-mode 0: add(float*, float*, int)"), HasSubstr("36 multiprocessors"),
                             Not(HasSubstr("count-over-kernels"))));
}

TEST_F(KernelFindings, WgpModeIsAWarningWhereTheCountIsOfComputeUnits) {
  EXPECT_THAT(found("UPDATE kernel_code_ SET wgp_mode = 1 WHERE problem IS NULL"),
              testing::AllOf(StartsWith("count-over-kernels 0: add(float*, float*, int)"), Not(HasSubstr("cu-mode"))));
}

TEST_F(KernelFindings, NothingIsSaidWhereTheModeIsNotKnownOrTheCodeIsForAnotherGpu) {
  EXPECT_EQ(found("UPDATE kernel_code_ SET wgp_mode = NULL"), "");
  EXPECT_EQ(found("UPDATE kernel_code_ SET arch = 'gfx1100'"), "");
}

TEST_F(KernelFindings, KernelsWithoutANameAreToldWithTheReason) {
  TemporaryDirectory directory;
  const std::string path = make_recording(directory, "fade-unnamed.db");
  const auto unnamed = [&] {
    auto db = Database::open(path);
    auto value = db->one("SELECT coalesce(max(text), '') FROM findings WHERE finding = 'kernels-unnamed'");
    return value ? table::raw_text(*value) : value.error().text();
  };
  EXPECT_EQ(unnamed(), "");
  execute(path, "UPDATE kernel_ SET name = '0x7f0012345678', demangled = NULL WHERE id = 1;");
  EXPECT_THAT(unnamed(), testing::AllOf(StartsWith("1 of 2 kernels have no name"),
                                        HasSubstr("were not recorded or were not understood")));
  execute(path, "INSERT INTO lifecycle_ (session, ts, process, kind) VALUES (1, 100000000, 1, 'attach');");
  EXPECT_THAT(unnamed(), HasSubstr("before fade recorded it"));
}

TEST_F(KernelFindings, WgpModeIsInOrderWhereTheCountIsOfPairs) {
  EXPECT_EQ(found("DELETE FROM device_prop_ WHERE source LIKE 'override:%'"), "");
}

}  // namespace
}  // namespace fade::query
