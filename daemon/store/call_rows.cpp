#include "store/call_rows.hpp"

namespace fade::store {
namespace {

constexpr std::uint64_t kCallsWithText = 200;  // of each function have their arguments as text, later ones packed
constexpr std::int64_t kNotTaken = -1;         // in unwound_: recorded at its entry alone

}  // namespace

CallRows::CallRows(sqlite::Db& db, Failure& failure, Books& books)
    : books_(books),
      has_rows_(books.levels.has_rows()),
      unwound_(db, failure, "INSERT OR REPLACE INTO unwound_ VALUES (?,?)"),
      arguments_as_text_(db, failure, "INSERT OR REPLACE INTO arg_ VALUES (?,?)") {}

void CallRows::write(const RecordedCall& call) {
  left_out_ += !books_.allowed.calls;
  if (call.result != 0) note_result(call);
  if (books_.keep.calls && call.wanted) write_row(call);
}

void CallRows::write_row(const RecordedCall& call) {
  const CallRecord& record = call.record;
  ++written_;
  const std::int64_t up =
      record.parent == 0 ? kNull : static_cast<std::int64_t>(record.id.value() - record.parent.value());
  books_.call_rows.add(call.call, call.at, call.timed ? call.end - call.at : kNull, call.thread.row, call.function.row,
                       or_null(books_.directory.site_row(record.caller)), up, call.result == 0 ? kNull : call.result,
                       or_null(call.launch));
  if (record.stack != 0) books_.stacks.call(call.call, record.stack);
  if (record.flags & kUnwound) unwound_(call.call, call.end);
  if (record.flags & kEntryOnly) unwound_(call.call, kNotTaken);
  if (record.flags & kUnseen) unwound_(call.call, std::optional<std::int64_t>());
  write_arguments(call);
}

void CallRows::write_arguments(const RecordedCall& call) {
  const bool as_text = call.function.detail == Detail::Full || call.function.with_args < kCallsWithText;
  if (!as_text) return books_.arguments.add(call.function.row, call.call, call.view);
  ++call.function.with_args;
  arguments_as_text_(call.call, call.view.args_json());
}

void CallRows::note_result(const RecordedCall& call) {
  const FunctionEntry& function = call.function;
  if (call.view.returns_text()) books_.errors.name_text(function.row, call.result, call.view.result_name());
  const bool is_number = function.probe->returns_sse();
  if (!call.failed && function.probe->result.cls != probes::TypeClass::Enum && !is_number) return;
  if (!books_.errors.knows_result(function.row, call.result) && (!is_number || books_.errors.has_room_for_numbers()))
    books_.errors.name_result(function.row, call.result, call.view.result_name(), call.is_failure);
  if (call.failed) note_error(call);
}

// A told error keeps its stack also if the call itself has no row.
void CallRows::note_error(const RecordedCall& call) {
  const FailedCall failed{call.call,
                          call.thread.row,
                          call.function.row,
                          books_.directory.site_row(call.record.caller),
                          call.end,
                          call.result,
                          call.view.result_name(),
                          (call.record.flags & kInjected) != 0,
                          (call.record.flags & (kInjected | kReplaced)) == kReplaced};
  const bool told = books_.errors.add(failed, [&] { return call.view.args_json(); });
  if (told && call.record.stack != 0) books_.stacks.call(call.call, call.record.stack);
}

}  // namespace fade::store
