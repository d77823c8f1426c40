// memory as a page: few lines however long the recording is, the peak in it, and the host's memory apart.
#include <gmock/gmock.h>

#include <algorithm>

#include "cli/query/command.hpp"
#include "cli/query_seed.hpp"

namespace fade::query {
namespace {

using testing::HasSubstr;
using testing::Not;

class MemoryPage : public testing::Test {
 protected:
  std::string page(const std::string& sql, Settings settings = {}) {
    const std::string path = make_recording(directory_, "fade-run.db");
    execute(path, sql);
    auto recording = open_recording(path);
    EXPECT_TRUE(recording) << recording.error().text();
    table::StringBytes out;
    Context context{settings, {}, path, false, {}};
    context.output.bytes = &out;
    context.output.style.terminal = {.tty = true, .color = false, .utf8 = true, .width = 110};
    auto done = show_memory(context, *recording);
    EXPECT_TRUE(done) << done.error().text();
    std::filesystem::remove(path);
    return out.text;
  }
  TemporaryDirectory directory_;
};

TEST_F(MemoryPage, IsShortAndKeepsThePeak) {
  const std::string text = page(
      "DELETE FROM mem_bucket_; WITH RECURSIVE t(ms) AS (SELECT 1 UNION ALL SELECT ms + 1 FROM t WHERE ms < 20000)\n"
      "INSERT INTO mem_bucket_ SELECT ms, 1, 0, 1048576, iif(ms = 777, 104857600, 1048576), 1, 1 FROM t;");
  EXPECT_LE(std::ranges::count(text, '\n'), 40);
  EXPECT_THAT(text, HasSubstr("at most 100 MiB at 0.777000 s, 4.00 MiB not seen to be freed"));
  EXPECT_THAT(text, HasSubstr("█▁"));
}

TEST_F(MemoryPage, HasTheHostsMemoryInAPartOfItsOwn) {
  const std::string text = page("");
  EXPECT_LT(text.find("process 4242, device 0: at most 5.00 MiB at 0.350000 s"), text.find("Memory of the host"));
  EXPECT_LT(text.find("Memory of the host"), text.find("process 4242, pinned memory: at most 64.0 KiB"));
}

TEST_F(MemoryPage, KeepsRanksApartUnlessTheyAreMerged) {
  const std::string ranks = slurp(data_directory() / "ranks.sql");
  EXPECT_THAT(page(ranks),
              AllOf(HasSubstr("rank 0 (process 4250), device 0"), HasSubstr("rank 1 (process 4242), device 0")));
  Settings settings;
  settings.merge = true;
  EXPECT_THAT(page(ranks, settings),
              AllOf(HasSubstr("all processes, device 0: at most 7.00 MiB at 0.350000 s, "), Not(HasSubstr("rank"))));
  settings.merge = false;
  settings.rank = 0;
  EXPECT_THAT(page(ranks, settings), AllOf(HasSubstr("rank 0"), Not(HasSubstr("rank 1"))));
}

TEST_F(MemoryPage, SaysThatNothingWasAllocated) {
  EXPECT_THAT(page("DELETE FROM mem_bucket_; DELETE FROM drop_"), HasSubstr("o allocation was seen"));
}

}  // namespace
}  // namespace fade::query
