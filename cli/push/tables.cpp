#include "cli/push/tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "base/result.hpp"
#include "schema/schema.hpp"

namespace fade::push {
namespace {

constexpr std::array<std::string_view, 6> kAdded{"day", "job", "host", "recording", "rank", "snapshot"};
constexpr std::string_view kCreate = "CREATE TABLE IF NOT EXISTS ", kEngine = "ENGINE = MergeTree", kAll = "_all",
                           kSection = "-- section: ", kLookup = "lookup ", kLocalOnly = "fade_schema";

struct TypeName {
  std::string_view word;
  Type type;
};
constexpr TypeName kTypes[] = {{"Int64", Type::Int64},
                               {"UInt64", Type::UInt64},
                               {"Float64", Type::Float64},
                               {"String", Type::String},
                               {"Date", Type::Date}};

std::string_view trimmed(std::string_view text) {
  const std::size_t from = text.find_first_not_of(" \n");
  return from == text.npos ? std::string_view() : text.substr(from, text.find_last_not_of(" \n") + 1 - from);
}

std::vector<std::string_view> pieces_of(std::string_view text) {
  std::vector<std::string_view> out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    out.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

std::string without_comments(std::string_view text) {
  std::string out;
  for (const std::string_view line : pieces_of(text))
    if (!line.starts_with("--")) (out += line) += '\n';
  return std::string(trimmed(out));
}

void replace(std::string& text, std::string_view word, std::string_view by) {
  for (std::size_t at = 0; (at = text.find(word, at)) != text.npos; at += by.size()) text.replace(at, word.size(), by);
}

// A column's words: its name, its type, and ALIAS with an expression if it is computed.
struct Words {
  std::string name, type;
  bool is_computed = false;
};

Words column_words(std::string_view column) {
  Words out;
  column = trimmed(column);
  const std::size_t space = std::min(column.find(' '), column.size());
  out.name = column.substr(0, space);
  std::erase(out.name, '"');
  out.type = trimmed(column.substr(space));
  const std::size_t alias = out.type.find(" ALIAS ");
  out.is_computed = alias != out.type.npos;
  out.type.resize(std::min(alias, out.type.size()));
  return out;
}

ColumnShape shape_of(const Words& words) {
  constexpr std::string_view kNullable = "Nullable(";
  ColumnShape out{words.name, Type::String, words.type.starts_with(kNullable), words.type};
  std::string_view plain = words.type;
  if (out.nullable) plain = plain.substr(kNullable.size(), plain.size() - kNullable.size() - 1);
  const auto* const known = std::ranges::find(kTypes, plain, &TypeName::word);
  if (known != std::end(kTypes)) out.type = known->type;
  return out;
}

struct Created {
  std::string name, sql;
  std::vector<ColumnShape> stored;
};

// Commas inside of types do not occur.
Created created_by(std::string sql) {
  Created out;
  const std::size_t open = sql.find('('), close = sql.find(")\nENGINE");
  FADE_CHECK(sql.starts_with(kCreate) && open != sql.npos && close != sql.npos);
  out.name = trimmed(std::string_view(sql).substr(kCreate.size(), open - kCreate.size()));
  std::string_view columns = std::string_view(sql).substr(open + 1, close - open - 1);
  while (!columns.empty()) {
    const std::size_t end = std::min(columns.find(','), columns.size());
    const Words words = column_words(columns.substr(0, end));
    if (!words.is_computed) out.stored.push_back(shape_of(words));
    columns.remove_prefix(std::min(end + 1, columns.size()));
  }
  out.sql = std::move(sql);
  return out;
}

const std::vector<Created>& created() {
  static const std::vector<Created> all = [] {
    std::vector<Created> out;
    std::string text = without_comments(schema::clickhouse("tables.sql"));
    for (std::string_view rest = text; !rest.empty();) {
      const std::size_t end = std::min(rest.find(';'), rest.size());
      const std::string_view sql = trimmed(rest.substr(0, end));
      if (!sql.empty()) out.push_back(created_by(without_comments(sql)));
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return out;
  }();
  return all;
}

Source read_source(std::string_view text) {
  Source out;
  std::string* to = nullptr;
  for (const std::string_view line : pieces_of(text)) {
    if (line.starts_with(kSection)) {
      const std::string_view name = line.substr(kSection.size());
      if (name.starts_with(kLookup)) out.lookups.push_back({std::string(name.substr(kLookup.size())), {}});
      to = name == "ids" ? &out.ids : name == "rows" ? &out.rows : &out.lookups.back().sql;
    } else if (to) {
      (*to += line) += '\n';
    }
  }
  return out;
}

// The file of a table's rows, with schema/clickhouse/parts/NAME.sql instead of {NAME}. Such parts have no parts.
std::string rows_file(std::string_view table) {
  std::string out(schema::clickhouse(fmt::format("rows/{}.sql", table)));
  for (std::size_t open = 0; (open = out.find('{', open)) != out.npos;) {
    const std::size_t close = out.find('}', open);
    FADE_CHECK(close != out.npos);
    const std::string_view part =
        schema::clickhouse(fmt::format("parts/{}.sql", out.substr(open + 1, close - open - 1)));
    FADE_CHECK(!part.empty());
    const std::string text = without_comments(part);
    out.replace(open, close + 1 - open, text);
    open += text.size();
  }
  return out;
}

Source from_view(const Table& table) {
  std::string columns;
  for (const ColumnShape& column : table.stored)
    if (!is_added(column.name)) columns += fmt::format("{}\"{}\"", columns.empty() ? "" : ", ", column.name);
  return {{}, fmt::format("SELECT {} FROM \"{}\" WHERE session = :session", columns, table.name), {}};
}

Table read_table(std::string_view line) {
  const std::size_t tab = line.find('\t');
  Table out;
  out.name = line.substr(0, tab);
  out.is_snapshot = line.substr(tab + 1) == "snapshot";
  out.into = out.name + std::string(out.is_snapshot ? kAll : "");
  const auto made = std::ranges::find(created(), out.into, &Created::name);
  FADE_CHECK(made != created().end());
  out.stored = made->stored;
  const std::string source = rows_file(out.name);
  out.source = source.empty() ? from_view(out) : read_source(source);
  return out;
}

// {word} in a template.
std::string filled(std::string_view file, const std::vector<std::pair<std::string_view, std::string>>& words) {
  std::string out = without_comments(schema::clickhouse(file));
  for (const auto& [word, by] : words) replace(out, "{" + std::string(word) + "}", by);
  return out;
}

std::string engine(const std::string& name, bool replicated) {
  if (!replicated) return std::string(kEngine);
  return fmt::format("ENGINE = ReplicatedMergeTree('/clickhouse/tables/{{shard}}/{{database}}/{}', '{{replica}}')",
                     name);
}

// A view of the newest snapshots. In a cluster it is local, and has a Distributed table of its own.
void add_view(std::vector<Made>& out, const Table& table, std::string_view local) {
  const std::string name = table.name + std::string(local);
  out.push_back({name,
                 filled("latest.sql", {{"name", name},
                                       {"all", table.into + std::string(local)},
                                       {"snapshots", "snapshots" + std::string(local)},
                                       {"view", table.name}}),
                 {},
                 false});
}

}  // namespace

bool is_added(std::string_view column) { return std::ranges::find(kAdded, column) != kAdded.end(); }

const std::vector<Table>& tables() {
  static const std::vector<Table> all = [] {
    std::vector<Table> out;
    for (const std::string_view line : pieces_of(schema::clickhouse("push.tsv")))
      if (!line.empty() && !line.starts_with('#')) out.push_back(read_table(line));
    return out;
  }();
  return all;
}

std::vector<Made> to_make(const std::string& cluster, const std::string& database, bool replicated) {
  std::vector<Made> out;
  const std::string_view local = cluster.empty() ? "" : "_";
  std::vector<std::string> shared;  // names of Distributed tables
  for (const Created& one : created()) {
    const bool is_local_only = one.name == kLocalOnly;
    const std::string name = one.name + std::string(is_local_only ? "" : local);
    std::string sql = one.sql;
    sql.replace(kCreate.size(), one.name.size(), name);
    if (!is_local_only) {
      std::string with = engine(one.name, replicated);
      replace(with, "{database}", database);
      replace(sql, kEngine, with);
      shared.push_back(one.name);
    }
    out.push_back({name, std::move(sql), one.stored, true});
  }
  for (const Table& table : tables()) {
    if (!table.is_snapshot) continue;
    add_view(out, table, local);
    shared.push_back(table.name);
  }
  if (cluster.empty()) return out;
  for (const std::string& name : shared)
    out.push_back(
        {name,
         filled("distributed.sql",
                {{"name", name}, {"local", name + "_"}, {"cluster", sql_text(cluster)}, {"database", database}}),
         {},
         false});
  return out;
}

std::string sql_text(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\\' || c == '\'') out += '\\';
    out += c;
  }
  return out + "'";
}

}  // namespace fade::push
