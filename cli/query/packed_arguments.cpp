#include "cli/query/packed_arguments.hpp"

#include <algorithm>
#include <string_view>

#include "probes/decode.hpp"

namespace fade::query {
namespace {

struct Finalize {
  void operator()(sqlite3_stmt* s) const { sqlite3_finalize(s); }
};
using Prepared = std::unique_ptr<sqlite3_stmt, Finalize>;

Prepared prepare(sqlite3* db, const std::string& sql) {
  sqlite3_stmt* raw = nullptr;
  sqlite3_prepare_v2(db, sql.c_str(), -1, &raw, nullptr);
  return Prepared(raw);
}

bool step(const Prepared& statement) { return statement && sqlite3_step(statement.get()) == SQLITE_ROW; }

std::string_view text_at(const Prepared& statement, int column) {
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement.get(), column));
  return text ? std::string_view(text, static_cast<std::size_t>(sqlite3_column_bytes(statement.get(), column)))
              : std::string_view();
}

}  // namespace

void PackedArguments::install() {
  constexpr int kFlags =
      SQLITE_UTF8 | SQLITE_INNOCUOUS;  // a view of the file may ask: it reads two tables, and never itself
  sqlite3_create_function_v2(db_, "fade_args", 2, kFlags, this, function, nullptr, nullptr, nullptr);
  if (!step(prepare(db_, "SELECT 1 FROM arg_block_ LIMIT 1"))) return;
  sqlite3_exec(db_, "PRAGMA temp_store=MEMORY", nullptr, nullptr,
               nullptr);  // a later change of it would drop the views
  shadow("calls", "a.args,", "coalesce(a.args, fade_args(c.id, c.fn)) AS args,");
  shadow("postmortem_calls", "r.name, NULL), a.args,", "r.name, NULL), coalesce(a.args, fade_args(l.call, f.id)),");
}

// The file's own view, but for one column. Where it is not as expected, it stays.
void PackedArguments::shadow(const std::string& view, const std::string& from, const std::string& to) {
  const Prepared master =
      prepare(db_, "SELECT sql FROM main.sqlite_master WHERE type = 'view' AND name = '" + view + "'");
  if (!step(master)) return;
  std::string sql(text_at(master, 0));
  const std::string head = "CREATE VIEW " + view + " AS";
  const std::size_t at = sql.find(from);
  if (!sql.starts_with(head) || at == sql.npos) return;
  sql.replace(at, from.size(), to);
  const Prepared create = prepare(db_, "CREATE TEMP VIEW " + view + " AS" + sql.substr(head.size()));
  if (create) sqlite3_step(create.get());
}

void PackedArguments::function(sqlite3_context* context, int, sqlite3_value** args) {
  auto* self = static_cast<PackedArguments*>(sqlite3_user_data(context));
  if (self->is_busy_) return;  // a table of the file is a view that asks for this
  self->is_busy_ = true;
  const auto out = self->text(sqlite3_value_int64(args[0]), sqlite3_value_int64(args[1]));
  self->is_busy_ = false;
  if (out) sqlite3_result_text64(context, out->data(), out->size(), SQLITE_TRANSIENT, SQLITE_UTF8);
}

std::optional<std::string> PackedArguments::text(std::int64_t call, std::int64_t function) {
  if (!is_read_) read_ranges();
  const auto known = functions_.find(function);
  if (known == functions_.end() || !known->second.signature) return std::nullopt;
  const std::vector<Range>& ranges = known->second.ranges;
  auto at = std::ranges::upper_bound(ranges, call, {}, &Range::first);
  while (at != ranges.begin() && (--at)->highest >= call) {
    const probes::CallBlock* calls = at->last >= call ? block(at->id) : nullptr;
    const auto found = calls ? calls->find(call) : std::nullopt;
    if (!found) continue;
    const probes::Signature& signature = *known->second.signature;
    return probes::args_json(signature.probe, found->record, found->payload, signature.library_major);
  }
  return std::nullopt;
}

void PackedArguments::read_ranges() {
  is_read_ = true;
  const Prepared rows = prepare(db_, "SELECT fn, first, last, id FROM main.arg_block_");
  while (step(rows)) {
    const auto number = [&](int column) { return sqlite3_column_int64(rows.get(), column); };
    functions_[number(0)].ranges.push_back({number(1), number(2), number(3), number(2)});
  }
  for (auto& [fn, one] : functions_) {
    std::ranges::sort(one.ranges, {}, &Range::first);
    for (std::size_t i = 1; i < one.ranges.size(); ++i)
      one.ranges[i].highest = std::max(one.ranges[i].last, one.ranges[i - 1].highest);
  }
  read_signatures();
}

void PackedArguments::read_signatures() {
  const Prepared rows = prepare(db_, "SELECT fn, text FROM main.arg_signature_");
  while (step(rows))
    if (const auto known = functions_.find(sqlite3_column_int64(rows.get(), 0)); known != functions_.end())
      known->second.signature = probes::signature_from(text_at(rows, 1));
}

const probes::CallBlock* PackedArguments::block(std::int64_t id) {
  if (const auto known = blocks_.find(id); known != blocks_.end()) return known->second ? &*known->second : nullptr;
  if (blocks_.size() >= kMostBlocks) blocks_.clear();
  auto& out = blocks_[id];
  const Prepared row = prepare(db_, "SELECT data FROM main.arg_block_ WHERE id = ?1");
  if (row) sqlite3_bind_int64(row.get(), 1, id);
  if (!step(row)) return nullptr;
  const auto* data = static_cast<const std::byte*>(sqlite3_column_blob(row.get(), 0));
  out = probes::CallBlock::unpack({data, data ? static_cast<std::size_t>(sqlite3_column_bytes(row.get(), 0)) : 0});
  return out ? &*out : nullptr;
}

}  // namespace fade::query
