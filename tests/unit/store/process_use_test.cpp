// What each process does over time: seconds with calls, launches and failures; CPU time.
#include "store_fixture.hpp"

namespace fade::store {
namespace {

using testing::ElementsAre;

constexpr std::int64_t kSecond = 1'000'000'000;

class ProcessUses : public Recording {
 protected:
  // A call that begins at that time and succeeds.
  void at(std::int64_t ns, const std::string& symbol, std::uint16_t flags = kReturned, ThreadId thread = 1) {
    CallRecord record = tracee->begin(symbol, {}, thread);
    record.entry_ns = ns;
    record.exit_ns = ns + 500;
    record.flags = flags;
    if (flags & kFailed) record.result = 719;
    tracee->put(record);
  }
};

TEST_F(ProcessUses, AreSecondsWithTheirLaunches) {
  open();
  at(10, "hipMalloc");
  at(20, "hipLaunchKernel");
  at(30, "hipLaunchKernel");
  at(2 * kSecond + 5, "hipLaunchKernel", kReturned | kFailed);
  at(2 * kSecond + 7, "hipGraphLaunch");
  at(2 * kSecond + 9, "hipGraphCreate");
  finish();
  EXPECT_THAT(rows("SELECT pid, sec, calls, errors, launches, failed_launches, first_launch, last_launch FROM "
                   "process_use ORDER BY sec"),
              ElementsAre("100|0|3|0|2|0|20|30", "100|2|3|1|1|1|2000000007|2000000007"));
}

TEST_F(ProcessUses, TellProcessesApart) {
  open();
  tracee->process(2, 200);
  tracee->thread(2, 2, 200);
  at(10, "hipLaunchKernel");
  at(20, "hipLaunchKernel", kReturned, 2);
  at(30, "hipLaunchKernel");
  finish();
  EXPECT_THAT(rows("SELECT pid, launches, last_launch FROM process_use ORDER BY pid"),
              ElementsAre("100|2|30", "200|1|20"));
}

TEST_F(ProcessUses, ASecondThatIsWrittenTwiceAddsUp) {
  open();
  at(5 * kSecond + 3, "hipLaunchKernel");
  at(6 * kSecond, "hipMalloc");
  at(5 * kSecond + 9, "hipLaunchKernel");  // of a thread that was slower
  at(5 * kSecond + 1, "hipMalloc");
  finish();
  EXPECT_THAT(rows("SELECT sec, calls, launches, first_launch, last_launch FROM process_use ORDER BY sec"),
              ElementsAre("5|3|2|5000000003|5000000009", "6|1|0||"));
}

TEST_F(ProcessUses, CpuTimeHasRows) {
  open();
  tracee->notice(CpuUsed{1, 7, 30});
  tracee->notice(CpuUsed{1, 9, 40});
  finish();
  EXPECT_THAT(rows("SELECT pid, start, cpu_ns FROM cpu_samples ORDER BY start"), ElementsAre("100|7|30", "100|9|40"));
}

}  // namespace
}  // namespace fade::store
