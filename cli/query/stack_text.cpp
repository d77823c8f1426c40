#include "cli/query/stack_text.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

namespace fade::query {
namespace {

constexpr std::size_t kLongest = std::size_t{64} << 20;  // of one stack's text

std::string_view text_at(sqlite3_stmt* s, int column) {
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(s, column));
  return text ? std::string_view(text, static_cast<std::size_t>(sqlite3_column_bytes(s, column))) : std::string_view();
}

// Semicolons separate frames.
void add(std::string& out, std::string_view text) {
  const std::size_t from = out.size();
  out += text;
  std::replace(out.begin() + static_cast<std::ptrdiff_t>(from), out.end(), ';', ':');
}

// SQLITE_ROW or SQLITE_DONE, or an error.
int ask(sqlite3_stmt* s, std::int64_t key) {
  sqlite3_reset(s);
  sqlite3_bind_int64(s, 1, key);
  return sqlite3_step(s);
}

}  // namespace

std::string_view file_name(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  const bool named_by_folder = path.ends_with("/__init__.py") || path.ends_with("/__main__.py");
  return path.substr((named_by_folder && slash > 0 ? path.rfind('/', slash - 1) : slash) + 1);
}

void StackTexts::function(sqlite3_context* context, int, sqlite3_value** args) {
  auto* self = static_cast<StackTexts*>(sqlite3_user_data(context));
  if (sqlite3_value_type(args[0]) == SQLITE_NULL) return;
  std::string& out = self->last_text_;
  const std::int64_t stack = sqlite3_value_int64(args[0]);
  const bool own = sqlite3_value_int(args[1]) != 0,
             known = stack != 0 && stack == self->last_stack_ && own == self->last_own_;
  if (!known) out.clear();
  const int code = known ? SQLITE_OK : self->text(stack, own, out);
  self->last_stack_ = code == SQLITE_OK ? stack : 0;
  self->last_own_ = own;
  if (code == SQLITE_TOOBIG) return sqlite3_result_error_toobig(context);
  if (code != SQLITE_OK) {
    sqlite3_result_error(context, sqlite3_errmsg(self->db_), -1);
    return sqlite3_result_error_code(context, code);
  }
  if (!out.empty()) sqlite3_result_text64(context, out.data(), out.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
}

int StackTexts::text(std::int64_t stack, bool own, std::string& out) {
  if (const int code = prepare(); code != SQLITE_OK) return code;
  std::vector<const Frame*> frames;
  std::size_t length = 0;
  for (std::int64_t at = stack; at != 0 && frames.size() < kMostFrames;) {
    Node found;
    if (const int code = node(at, found); code != SQLITE_OK) return code;
    if (found.frame == 0) break;
    const Frame* one = nullptr;
    if (const int code = frame(found.frame, one); code != SQLITE_OK) return code;
    if ((length += one->text.size() + 1) > kLongest) return SQLITE_TOOBIG;
    frames.push_back(one);
    at = found.parent;
  }
  const auto is_own = [](const Frame* f) { return !f->system; };
  if (own && std::any_of(frames.begin(), frames.end(), is_own))
    frames.erase(std::stable_partition(frames.begin(), frames.end(), is_own), frames.end());
  out.reserve(length);
  for (std::size_t i = frames.size(); i-- > 0;) (out += frames[i]->text) += i == 0 ? "" : ";";
  return SQLITE_OK;
}

int StackTexts::node(std::int64_t stack, Node& out) {
  if (const auto known = nodes_.find(stack); known != nodes_.end()) {
    out = known->second;
    return SQLITE_OK;
  }
  const int code = ask(node_.get(), stack);
  if (code == SQLITE_ROW) out = {sqlite3_column_int64(node_.get(), 0), sqlite3_column_int64(node_.get(), 1)};
  sqlite3_reset(node_.get());
  if (code != SQLITE_ROW && code != SQLITE_DONE) return code;
  if (nodes_.size() < kMostKept) nodes_.emplace(stack, out);
  return SQLITE_OK;
}

int StackTexts::frame(std::int64_t id, const Frame*& out) {
  auto known = frames_.find(id);
  if (known == frames_.end()) {
    if (frames_.size() >= kMostKept) return SQLITE_TOOBIG;
    Frame fresh;
    if (const int code = write_frame(id, fresh); code != SQLITE_OK) return code;
    known = frames_.emplace(id, std::move(fresh)).first;
  }
  out = &known->second;
  return SQLITE_OK;
}

// "label (file:line)", and behind it the functions that were inlined there, outermost first.
int StackTexts::write_frame(std::int64_t id, Frame& to) {
  std::string& out = to.text;
  int code = ask(frame_.get(), id);
  if (code == SQLITE_ROW) {
    add(out, text_at(frame_.get(), 0));
    to.system = sqlite3_column_int(frame_.get(), 4) != 0;
    const std::string_view file = text_at(frame_.get(), 2), line = text_at(frame_.get(), 3);
    if (text_at(frame_.get(), 1) == "python" && !file.empty()) {
      out += " (";
      add(out, file_name(file));
      ((out += ':') += line.empty() ? "?" : line) += ')';
    }
  } else {
    out = "?";
  }
  sqlite3_reset(frame_.get());
  if (code != SQLITE_ROW && code != SQLITE_DONE) return code;
  for (code = ask(inlined_.get(), id); code == SQLITE_ROW; code = sqlite3_step(inlined_.get())) {
    const std::string_view name = text_at(inlined_.get(), 0);
    add(out += ';', name.empty() ? "?" : name);
    if (out.size() > kLongest) break;
  }
  sqlite3_reset(inlined_.get());
  return code == SQLITE_DONE ? SQLITE_OK : code == SQLITE_ROW ? SQLITE_TOOBIG : code;
}

int StackTexts::prepare() {
  struct Query {
    Prepared& to;
    const char* sql;
  };
  const Query queries[] = {{node_, "SELECT parent, frame FROM stack_tree WHERE stack = ?1"},
                           {frame_, "SELECT label, kind, file, line, system FROM frames WHERE id = ?1"},
                           {inlined_, "SELECT function FROM inlined_functions WHERE frame = ?1 ORDER BY depth DESC"}};
  for (const Query& query : queries) {
    if (query.to) continue;
    sqlite3_stmt* raw = nullptr;
    const int code = sqlite3_prepare_v2(db_, query.sql, -1, &raw, nullptr);
    query.to.reset(raw);
    if (code != SQLITE_OK) return code;
  }
  return SQLITE_OK;
}

}  // namespace fade::query
