// processes as a page: helpers are folded where there are many, and nothing that tells something is.
#include <gmock/gmock.h>

#include "cli/query/command.hpp"
#include "cli/query_seed.hpp"

namespace fade::query {
namespace {

using testing::HasSubstr;
using testing::Not;

class ProcessesPage : public testing::Test {
 protected:
  std::string page(const std::string& sql, Settings settings = {}) {
    const std::string path = make_recording(directory_, "fade-run.db");
    execute(path, sql);
    auto recording = open_recording(path);
    EXPECT_TRUE(recording) << recording.error().text();
    table::StringBytes out;
    Context context{settings, {}, path, false, {}};
    context.output.bytes = &out;
    context.output.style.terminal = {.tty = true, .color = false, .utf8 = true, .width = 100};
    auto done = show_processes(context, *recording);
    EXPECT_TRUE(done) << done.error().text();
    std::filesystem::remove(path);
    return out.text;
  }
  // `n` children of process 1 that ran for a tenth of a second.
  static std::string children(int n, const char* exe, const char* ended = "0, 0") {
    return "WITH RECURSIVE t(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM t WHERE i < " + std::to_string(n) +
           ")\n"
           "INSERT INTO process_ (session, parent, pid, ppid, uid, ts, ts_end, exe, command, exit_code, exit_signal)\n"
           "SELECT 1, 1, 5000 + (SELECT max(id) FROM process_) * 100 + i, 4242, 1000, 4000000000, 4100000000, '" +
           exe + "', '" + exe + " -x', " + ended + " FROM t;";
  }
  TemporaryDirectory directory_;
};

TEST_F(ProcessesPage, FoldsManyHelpers) {
  const std::string text = page(children(12, "/bin/sh") + children(5, "/usr/bin/gcc"));
  EXPECT_THAT(text, AllOf(HasSubstr("python3 train.py --epochs 2"), Not(HasSubstr("gcc -x"))));
  EXPECT_THAT(text, HasSubstr("17 helpers folded (12 x sh, 5 x gcc): fade-query processes --limit 0"));
}

TEST_F(ProcessesPage, ShowsFewHelpers) {
  EXPECT_THAT(page(children(3, "/bin/sh")), AllOf(HasSubstr("sh -x"), Not(HasSubstr("folded"))));
}

TEST_F(ProcessesPage, ShowsWhatDied) {
  EXPECT_THAT(page(children(12, "/bin/sh") + children(1, "/opt/worker", "-1, 11")),
              AllOf(HasSubstr("worker -x"), HasSubstr("SIGSEGV"), HasSubstr("12 helpers folded")));
}

}  // namespace
}  // namespace fade::query
