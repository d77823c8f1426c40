// Bindings of imports, and copies of one library.
#include <gmock/gmock.h>

#include "store_fixture.hpp"

namespace fade::store {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class Bindings : public Recording {
 protected:
  void module(ModuleId id, const std::string& file, const std::string& role) {
    tracee->notice(ModuleLoaded{.module = id,
                                .process = 1,
                                .at = id.value(),
                                .path = file,
                                .build_id = "ab",
                                .role = role,
                                .base = 0x1000,
                                .size = 10});
  }
  void origin(ModuleId id, const std::string& family, const std::string& version, const std::string& rule) {
    const bool rocm = family == "libamdhip64";
    tracee->notice(ModuleOrigin{.module = id,
                                .family = family,
                                .kind = rocm ? "rocm" : "openmp",
                                .version = version,
                                .rocm = rocm ? version.substr(0, 3) : "",
                                .rule = rule,
                                .asker = 1,
                                .not_taken = {}});
  }
  using State = ImportsBound::State;
};

TEST_F(Bindings, AreThoseOfTheLastLook) {
  open();
  module(1, "/bin/prog", "");
  module(2, "/lib/libamdhip64.so.6", "hip");
  origin(2, "libamdhip64", "6.4.43484", "RPATH");
  tracee->notice(ImportsBound{1, 5, {{"hip", State::NotYet, 0, {"hipFree", "hipMalloc"}}}});
  tracee->notice(ImportsBound{1,
                              9,
                              {{"hip", State::Bound, 2, {"hipMalloc"}},
                               {"hip", State::NotYet, 0, {"hipFree"}},
                               {"roctx", State::Absent, 0, {"roctxMarkA"}}}});
  finish();
  EXPECT_THAT(rows("SELECT module, api, state, library, version, rocm, found_by, asked_by, functions, names, read_at "
                   "FROM bindings ORDER BY names"),
              ElementsAre("/bin/prog|hip|not called yet||||||1|hipFree|9",
                          "/bin/prog|hip|bound|/lib/libamdhip64.so.6|6.4.43484|6.4|RPATH|/bin/prog|1|hipMalloc|9",
                          "/bin/prog|roctx|not found||||||1|roctxMarkA|9"));
  EXPECT_THAT(rows("SELECT kind FROM environment_findings"), IsEmpty());
}

TEST_F(Bindings, CopiesAreFoundOnlyWhereTheyWereLoadedTogether) {
  open();
  module(1, "/bin/prog", "");
  module(2, "/a/libamdhip64.so.6", "hip");
  origin(2, "libamdhip64", "6.4.43484", "RPATH");
  tracee->notice(ModuleUnloaded{2, 3});
  module(3, "/b/libamdhip64.so.6", "hip");
  origin(3, "libamdhip64", "6.4.43484", "dlopen");
  tracee->notice(Lifecycle{4, 1, 1, "exec", 0, "/bin/other"});
  module(5, "/c/libamdhip64.so.6", "hip");
  origin(5, "libamdhip64", "6.4.43484", "system");
  finish();
  EXPECT_THAT(rows("SELECT kind FROM environment_findings"), IsEmpty());
}

TEST_F(Bindings, TellCopiesMixedReleasesAndWhatStandsBetween) {
  open();
  module(1, "/bin/prog", "");
  module(2, "/a/libamdhip64.so.6", "hip");
  origin(2, "libamdhip64", "6.4.43484", "RPATH");
  module(3, "/b/libamdhip64.so.7", "hip");
  origin(3, "libamdhip64", "7.2.53211", "LD_LIBRARY_PATH");
  module(4, "/tmp/shim.so", "");
  module(5, "/x/libgomp.so.1", "");
  origin(5, "libgomp", "1.0.0", "system");
  module(6, "/y/libomp.so", "");
  origin(6, "libomp", "", "dlopen");
  tracee->notice(ImportsBound{1, 9, {{"hip", State::Bound, 4, {"hipMalloc"}}}});
  finish();
  EXPECT_THAT(rows("SELECT kind, severity, subject FROM environment_findings ORDER BY kind"),
              ElementsAre("interposed|warning|/tmp/shim.so", "mixed-openmp|warning|libgomp,libomp",
                          "mixed-rocm|warning|ROCm 6.4, 7.2", "several-copies|warning|libamdhip64"));
  EXPECT_EQ(value("SELECT text FROM environment_findings WHERE kind = 'interposed'"),
            "1 hip function of /bin/prog is answered by /tmp/shim.so, which is no HIP runtime: hipMalloc.");
  EXPECT_EQ(value("SELECT text FROM environment_findings WHERE kind = 'mixed-rocm'"),
            "Libraries of 2 releases of ROCm are loaded in one process: 6.4: /a/libamdhip64.so.6 (6.4.43484); 7.2: "
            "/b/libamdhip64.so.7 (7.2.53211).");
  EXPECT_EQ(value("SELECT count(*) FROM environment_findings WHERE text IS NULL OR advice IS NULL"), "0");
}

}  // namespace
}  // namespace fade::store
