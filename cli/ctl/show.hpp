// How answers of the daemon look: a table on a terminal, tsv elsewhere, the daemon's own JSON where that was asked for.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "cli/ctl/command.hpp"
#include "cli/recording/end_block.hpp"
#include "cli/table/kind.hpp"
#include "cli/table/value.hpp"

namespace fade::cli::ctl {

Result<void> print_json(const ipc::Json& json);  // in several lines
Result<void> print_line(const std::string& text);
Result<void> print_rows(const Context& context, std::vector<table::Column> columns,
                        const std::vector<std::vector<table::Value>>& rows, std::vector<std::string> leave_first = {});

// "label  text", one a line.
Result<void> print_facts(const std::vector<std::pair<std::string, std::string>>& facts);

recording::Style style_of_stdout(const Context& context);
std::string user_name(std::int64_t uid);
std::string shown_time(std::int64_t realtime_ns);  // UTC, to the second
std::string shown_duration(std::int64_t ns);
std::string shown_bytes(const ipc::Json& json, const char* key);
std::string shown_count(const ipc::Json& json, const char* key);
std::string shown_text(const ipc::Json& json, const char* key);  // safe for a terminal
std::int64_t number_of(const ipc::Json& json, const char* key);  // 0 where there is none

// How long the session goes on, or went on.
bool has_counts(const ipc::Json& session);  // the worker has told some, and they are of the end if it ended
std::int64_t lasted_ns(const ipc::Json& session);
std::string path_of(const ipc::Json& session);

}  // namespace fade::cli::ctl
