#include "store/argument_book.hpp"

#include "probes/signature.hpp"

namespace fade::store {

ArgumentBook::ArgumentBook(sqlite::Db& db, Failure& failure)
    : block_(db, failure, "INSERT INTO arg_block_ (fn, first, last, n, data) VALUES (?,?,?,?,?)"),
      signature_(db, failure, "INSERT OR REPLACE INTO arg_signature_ VALUES (?,?)") {}

void ArgumentBook::add(FunctionRow row, CallRow call, const CallView& view) {
  const auto found = functions_.find(row);
  Function& function = found != functions_.end()
                           ? found->second
                           : functions_.emplace(row, Function{probes::CallPacker(view.probe)}).first->second;
  if (!function.has_signature) signature_(row, probes::signature_text(view.probe, view.library_major));
  function.has_signature = true;
  const std::size_t before = function.calls.words();
  if (!function.calls.add(call.value(), view.record, view.payload)) return;
  words_ += function.calls.words() - before;
  if (function.calls.calls() == probes::kMostCallsInABlock) write(row, function);
  if (words_ >= kMostWords) flush();
}

void ArgumentBook::write(FunctionRow row, Function& function) {
  const std::size_t calls = function.calls.calls();
  if (calls == 0) return;
  words_ -= function.calls.words();
  const std::vector<std::byte> block = function.calls.pack();
  block_(row, function.calls.first(), function.calls.last(), calls, std::span<const std::byte>(block));
}

void ArgumentBook::flush() {
  for (auto& [row, function] : functions_) write(row, function);
}

}  // namespace fade::store
