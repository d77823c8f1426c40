#include "cli/push/server.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>

#include "base/log.hpp"
#include "cli/push/packed_block.hpp"
#include "cli/push/refusals.hpp"

namespace fade::push {
namespace {

constexpr int kFirstWithAsync = 22;  // major version whose inserts may be asynchronous

std::int64_t number_of(std::string_view text) {
  std::int64_t out = 0;
  std::from_chars(text.data(), text.data() + text.size(), out);
  return out;
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    out.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

}  // namespace

Result<Server> Server::make(Address address, const Access& access, const std::atomic<bool>& stop) {
  auto http = Http::make(access, stop);
  return http ? Result<Server>(Server(std::move(address), std::move(*http))) : tl::unexpected(http.error());
}

Result<std::string> Server::ask(const std::string& parameters, std::string_view body, const std::string& database) {
  std::string url = address_.url + "?";
  if (!database.empty()) url += "database=" + database;
  url += parameters;
  auto answer = http_.post(url, body);
  if (!answer) return tl::unexpected(answer.error());
  // An error after the first bytes of an answer has the status of success.
  if (answer->status == 200 && !answer->body.starts_with("Code: ")) return std::move(answer->body);
  return tl::unexpected(refusal(address_.url, answer->status, answer->body));
}

Result<void> Server::run(const std::string& sql, const std::string& database) {
  auto done = ask("", sql, database);
  return done ? Result<void>() : tl::unexpected(done.error());
}

Result<std::vector<std::string>> Server::select(const std::string& sql) {
  auto text = ask("", sql + " FORMAT TabSeparated", address_.database);
  return text ? Result<std::vector<std::string>>(lines_of(*text)) : tl::unexpected(text.error());
}

Result<std::vector<std::int64_t>> Server::select_numbers(const std::string& sql) {
  auto text = ask("", sql + " FORMAT RowBinary", address_.database);
  if (!text) return tl::unexpected(text.error());
  std::vector<std::int64_t> out(text->size() / sizeof(std::int64_t));
  if (!out.empty()) std::memcpy(out.data(), text->data(), out.size() * sizeof(std::int64_t));
  return out;
}

Result<void> Server::insert(const std::string& table, const NativeBlock& block, const std::string& id) {
  block.parts([this](std::string_view part) { packer_->add(part); });
  const std::string body = packer_->take();
  std::string columns;
  for (std::size_t i = 0; i < block.columns(); ++i)
    columns += fmt::format("{}\"{}\"", i ? ", " : "", block.column(i).shape().name);
  const std::string sql = fmt::format("INSERT INTO {} ({}) FORMAT Native", table, columns);
  auto done = ask(fmt::format("&query={}&query_id={}&decompress=1&http_native_compression_disable_checksumming_on_"
                              "decompress=1&insert_distributed_sync=1{}",
                              http_.escaped(sql), http_.escaped(id), takes_async_ ? "&async_insert=0" : ""),
                  body, address_.database);
  if (!done) return tl::unexpected(done.error());
  sent_bytes_ += static_cast<std::int64_t>(body.size());
  return {};
}

Result<bool> Server::is_running(const std::string& id) {
  auto rows = select("SELECT count() FROM system.processes WHERE query_id = " + sql_text(id));
  if (!rows) return tl::unexpected(rows.error());
  return !rows->empty() && rows->front() != "0";
}

Result<std::string> Server::version_of_server() {
  auto text = ask("", "SELECT version()", "");
  if (!text) return tl::unexpected(text.error());
  if (text->empty() || text->front() < '1' || text->front() > '9')
    return tl::unexpected(refusal(address_.url, 200, ""));
  takes_async_ = number_of(*text) >= kFirstWithAsync;
  return text;
}

Result<void> Server::check() {
  auto server = version_of_server();
  if (!server) return tl::unexpected(server.error());
  auto rows = select("SELECT max(version), count() FROM fade_schema");
  if (!rows) return tl::unexpected(rows.error());
  const std::string_view row = rows->empty() ? std::string_view("0\t0") : std::string_view(rows->front());
  const std::int64_t version = number_of(row);
  if (version == kVersion) return {};
  if (version > kVersion)
    return fail("cannot use " + address_.url,
                fmt::format("its tables are of a newer fade (version {}, this one knows {})", version, kVersion),
                "update fade");
  return fail("cannot use " + address_.url,
              fmt::format("its tables are of an older fade (version {}, this one writes {})", version, kVersion),
              "fade-query push URL --init      adds what is missing, and keeps the rows");
}

// Tables are replicated if the server has ZooKeeper or Keeper and knows its own shard and replica.
Result<bool> Server::is_replicated() {
  auto rows = ask("",
                  "SELECT (SELECT count() FROM system.macros WHERE macro IN ('shard', 'replica')) + (SELECT count() "
                  "FROM system.tables WHERE database = 'system' AND name = 'zookeeper')",
                  "");
  return rows ? Result<bool>(number_of(*rows) == 3) : tl::unexpected(rows.error());
}

Result<void> Server::add_columns(const Made& made) {
  auto known = select(fmt::format("SELECT name FROM system.columns WHERE database = {} AND table = {}",
                                  sql_text(address_.database), sql_text(made.name)));
  if (!known) return tl::unexpected(known.error());
  for (const ColumnShape& column : made.columns) {
    if (std::ranges::find(*known, column.name) != known->end()) continue;
    auto added = run(fmt::format("ALTER TABLE {} ADD COLUMN \"{}\" {}", made.name, column.name, column.type_name),
                     address_.database);
    if (!added) return added;
  }
  return {};
}

// Views and Distributed tables hold no rows, so they are made anew: they take their columns when they are made.
Result<void> Server::drop_rowless(const std::string& name) {
  auto engine = select(fmt::format("SELECT engine FROM system.tables WHERE database = {} AND name = {}",
                                   sql_text(address_.database), sql_text(name)));
  if (!engine) return tl::unexpected(engine.error());
  if (engine->empty()) return {};
  if (engine->front() != "View" && engine->front() != "Distributed")
    return fail(fmt::format("cannot make {}.{}", address_.database, name), "there is a table with rows of that name",
                "use another database: URL/?database=NAME");
  return run("DROP TABLE " + name, address_.database);
}

// Tables of one server and those of a cluster have different names.
Result<void> Server::check_cluster(const std::string& cluster) {
  auto rows = select("SELECT argMax(cluster, made), max(version) FROM fade_schema HAVING count() > 0");
  if (!rows && rows.error().code == kNotInitialised) return {};
  if (!rows) return tl::unexpected(rows.error());
  if (rows->empty()) return {};
  const std::string_view row = rows->front();
  const std::string_view was = row.substr(0, row.find('\t'));
  if (number_of(row.substr(was.size() + 1)) > kVersion) return check();
  if (was == cluster) return {};
  const auto words = [](std::string_view name) {
    return name.empty() ? std::string("one server") : fmt::format("the cluster {}", name);
  };
  return fail(fmt::format("cannot make tables for {}", words(cluster)),
              fmt::format("the database {} has tables for {}", address_.database, words(was)),
              "use another database: URL/?database=NAME");
}

Result<void> Server::make(const Made& one) {
  if (!one.holds_data)
    if (auto dropped = drop_rowless(one.name); !dropped) return dropped;
  auto made = run(one.sql, address_.database);
  if (!made) return tl::unexpected(with_context("cannot make table " + one.name, made.error()));
  return one.holds_data ? add_columns(one) : Result<void>();
}

Result<void> Server::init(const std::string& cluster) {
  if (auto server = version_of_server(); !server) return tl::unexpected(server.error());
  if (auto made = run("CREATE DATABASE IF NOT EXISTS " + address_.database, ""); !made) return made;
  if (auto fine = check_cluster(cluster); !fine) return fine;
  auto replicated = cluster.empty() ? Result<bool>(false) : is_replicated();
  if (!replicated) return tl::unexpected(replicated.error());
  for (const Made& one : to_make(cluster, address_.database, *replicated))
    if (auto made = make(one); !made) return made;
  return run(fmt::format("INSERT INTO fade_schema SELECT {}, {}, now()", kVersion, sql_text(cluster)),
             address_.database);
}

}  // namespace fade::push
