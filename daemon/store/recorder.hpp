// Turns batches into rows: sums every call up and hands it to the recorder of its family. Knows the tables; knows no
// threads, files or transactions: its owner opens a transaction around apply() and commits when it likes.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "base/event_queue.hpp"
#include "base/recording.hpp"
#include "store/books.hpp"
#include "store/call_account.hpp"
#include "store/call_rows.hpp"
#include "store/family_recorders.hpp"
#include "store/lane_cache.hpp"
#include "store/notice_recorder.hpp"
#include "store/recorded_call.hpp"
#include "store/row_ring.hpp"
#include "store/totals.hpp"

namespace fade::store {

class Recorder {
 public:
  Recorder(sqlite::Db& db, SessionRow session, const DetailLevels& levels, KernelFilter filter, StepRule step = {},
           DetailRule rule = {});

  // `look` is called with nothing waiting to be inserted, each time so many calls or bytes were; it may flush_sums()
  // and keep() less.
  using Look = std::function<void()>;
  void apply(const Batch& batch, const Look& look = {});
  void flush_sums();  // about every second
  std::uint64_t sums_waiting() const {
    return lanes_.waiting();
  }               // at most so many of functions in threads are new since
  void finish();  // live allocations and everything that waits
  // Sets how many more bytes may be written of dispensable data: allocations that were never freed, names of frames.
  void set_room(Room room);

  FrameNamer& names() { return books_.names; }  // of frames; finish() names the remaining ones

  // No call has a row for a while yet (DetailWindow). `now`: session time.
  bool is_quiet(std::int64_t now) const { return books_.detail.is_quiet(now); }
  void keep(Keep keep);
  void fail(const Error& error) { failure_.note(error); }                 // no data are written from now on
  std::uint64_t rows_left_out() const { return rows_.left_out(); }        // calls that got no row because of keep()
  std::uint64_t only_counted() const { return notices_.only_counted(); }  // calls of CallsCounted
  Applied applied() const { return {rows_.written(), tally_.applied - rows_.written(), tally_.dropped}; }
  const std::optional<Error>& failure() const { return failure_.error; }
  // The totals of the applied calls. `dropped` of the totals: only calls that the tracing side did not hand over.
  Totals totals() const;
  LiveTotals live() const;

  // Session time of the latest event that was recorded.
  std::int64_t last_ns() const;

 private:
  // The second of a time. Calls come nearly in order, so most are in the second of the call before.
  class Second {
   public:
    std::int64_t of(std::int64_t at) {
      if (at >= begins_ && at - begins_ < kSecond) return second_;
      second_ = at / kSecond;
      begins_ = second_ * kSecond;
      return second_;
    }
    std::int64_t last() const { return second_; }

   private:
    static constexpr std::int64_t kSecond = 1'000'000'000;
    std::int64_t second_ = 0, begins_ = 0;
  };
  // The next notice and the next run of a batch.
  struct Applying {
    std::size_t notice = 0, run = 0;
  };
  // The calls so far.
  struct Tally {
    CallRow last_id = 0;
    std::int64_t last_ns = 0;  // the latest end
    std::uint64_t applied = 0, calls = 0, failed = 0, tapped = 0, dropped = 0;
    std::uint64_t unknown = 0;  // of an unknown function or thread; since the last flush
  };

  void apply_notice(const Notice& notice);
  std::size_t apply_until(const Batch& batch, std::size_t call, Applying& at);
  void summed(const CallBatch& batch, const SummedRun& run);
  void summed(std::span<const SummedCall> calls, const CallView& first, Lane& lane);
  std::uint64_t record_family(std::span<const SummedCall> calls, CallId id, const CallView& like, const Lane& lane);
  void end_summed(std::span<const SummedCall> calls, const CallRecord& first, const Lane& lane);
  CallRecord without_row(CallRecord record);
  std::size_t in_same_second(std::span<const SummedCall> calls);
  bool is_sum_enough(const Lane& lane, const CallRecord& record) const;
  void call(const CallRecord& record, std::span<const std::byte> payload);
  RecordedCall recorded(const CallView& view, const Lane& lane) const;
  void record(RecordedCall& call, Lane& lane);
  std::int64_t sum_up(RecordedCall& call, Lane& lane);
  Rollups::Net add_time(const RecordedCall& call, Lane& lane);
  void follow_work(const RecordedCall& call, const Lane& lane, std::int64_t self);
  void write_unknown();
  void follow_detail(std::int64_t at);
  void look_for_trigger(const RecordedCall& call);
  void forget_rows();

  const SessionRow session_;
  Failure failure_;
  Books books_;
  LaneCache lanes_;
  FamilyRecorders families_;
  CallRows rows_;
  NoticeRecorder notices_;
  std::optional<RowRing> ring_;  // with --trigger
  Write last_call_;

  Second second_;  // of the calls that come now
  Tally tally_;
  std::uint64_t late_ = 0;  // calls that came as sums in times of detail
};

}  // namespace fade::store
