// The SQL box: SQL under the rules of fade-query sql, with a bound on rows and on bytes.
#include <algorithm>
#include <utility>

#include "cli/query/engine.hpp"
#include "cli/query/serve_data.hpp"

namespace fade::query::live {
namespace {

constexpr std::int64_t kMostSqlRows = 1000;
constexpr std::size_t kMostSqlBytes = 8 << 20;

// Rows as the page's tables have them. Two columns may have one name, so rows are no objects.
class TableSink : public table::RowSink {
 public:
  Result<void> begin(std::vector<table::Column> columns) override {
    for (const table::Column& c : columns)
      columns_.push_back({{"name", html::shown(c.name)},
                          {"heading", html::shown(c.name)},
                          {"kind", std::string(table::kind_word(c.kind))},
                          {"help", ""},
                          {"leave", false}});
    return {};
  }
  Result<void> row(std::span<const table::Value> cells) override {
    Json row = Json::array();
    for (const table::Value& cell : cells) {
      row.push_back(cell_of(cell));
      if (row.back().is_string()) bytes_ += row.back().get_ref<const std::string&>().size();
    }
    bytes_ += 16 * cells.size();
    if (bytes_ > kMostSqlBytes) return fail("cannot show this result", "it has more than 8 MB", "select less");
    rows_.push_back(std::move(row));
    return {};
  }
  Result<void> end() override { return {}; }
  // Numbers without a unit are as SQLite has them, at the right.
  Json take() {
    for (std::size_t i = 0; i < columns_.size(); ++i)
      if (columns_[i]["kind"] == "text" && !rows_.empty() &&
          std::ranges::none_of(rows_, [&](const Json& row) { return row[i].is_string(); }))
        columns_[i]["kind"] = "plain";
    return {{"columns", std::move(columns_)}, {"rows", std::move(rows_)}};
  }

 private:
  static Json cell_of(const table::Value& cell) {
    constexpr std::int64_t kLargest = std::int64_t{1} << 53;  // that JavaScript holds exactly
    if (const auto* n = std::get_if<std::int64_t>(&cell))
      return *n > kLargest || *n < -kLargest ? Json(std::to_string(*n)) : Json(*n);
    if (const auto* x = std::get_if<double>(&cell)) return *x;
    return table::is_null(cell) ? Json() : Json(html::shown(table::raw_text(cell)));
  }
  Json columns_ = Json::array(), rows_ = Json::array();
  std::size_t bytes_ = 0;
};

// The place of the error in the statement, in characters. The page marks it.
serve::Answer refused(Recording& recording, const Error& error, std::optional<std::size_t> place) {
  const Error with_view = with_nearest_view(recording, error);
  Json out{{"error", html::shown(with_view.message)},
           {"cause", html::shown(with_view.cause)},
           {"fix", html::shown(with_view.fix)}};
  if (place) out["place"] = *place;
  return json_answer(out);
}

}  // namespace

// The time limit is that of fade-query sql, or --timeout.
serve::Answer SqlBox::answer(const serve::Request& request, const serve::Cancelled& cancelled) {
  const std::string sql = request.text("sql");
  TableSink sink;
  recording_.database.stop_with(&cancelled);
  Settings settings = context_.settings;
  settings.tell_waiting = false;
  const auto begin = std::chrono::steady_clock::now();
  const auto outcome = run_sql(recording_, sql, settings, kMostSqlRows, sink);
  const auto place = outcome ? std::nullopt : recording_.database.error_place();
  recording_.database.limit_time(std::nullopt);
  recording_.database.stop_with(nullptr);
  if (!outcome) return refused(recording_, outcome.error(), place);
  Json out = sink.take();
  out["more"] = outcome->more;
  out["ns"] = std::chrono::nanoseconds(std::chrono::steady_clock::now() - begin).count();
  return json_answer(out);
}

}  // namespace fade::query::live
