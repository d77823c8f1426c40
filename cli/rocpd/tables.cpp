#include "cli/rocpd/tables.hpp"

#include <fmt/format.h>

#include <array>
#include <vector>

namespace fade::rocpd {
namespace {

// A column is NAME:TYPE[:TABLE[:WORDS]]. TYPE: i integer, b bigint, t text, r real, j JSON with the default {}; ! never
// NULL. A semicolon may end a group. TABLE: the id of whose row it is, without rocpd_. WORDS: the only values.
struct Table {
  std::string_view name, columns;
  bool has_guid = true;
};

// clang-format off
constexpr std::array<Table, 20> kTables{{
    {"metadata", "tag:t! value:t!", false},
    {"string", "string:t!u"},
    {"info_node", "hash:b!u machine_id:t!u system_name:t hostname:t release:t version:t hardware_name:t domain_name:t"},
    {"info_process", "nid:i!:info_node ppid:i pid:i! init:b fini:b start:b end:b command:t environment:j extdata:j"},
    {"info_thread", "nid:i!:info_node ppid:i pid:i!:info_process tid:i! name:t start:b end:b extdata:j"},
    {"info_agent", "nid:i!:info_node pid:i!:info_process type:t::CPU|GPU absolute_index:i logical_index:i "
                   "type_index:i; uuid:i name:t model_name:t vendor_name:t product_name:t user_name:t extdata:j"},
    {"info_queue", "nid:i!:info_node pid:i!:info_process name:t extdata:j"},
    {"info_stream", "nid:i!:info_node pid:i!:info_process name:t extdata:j"},
    {"info_pmc", "nid:i!:info_node pid:i!:info_process agent_id:i:info_agent target_arch:t::CPU|GPU event_code:i "
                 "instance_id:i name:t! symbol:t! description:t long_description:t component:t units:t "
                 "value_type:t::ABS|ACCUM|RELATIVE block:t expression:t is_constant:i is_derived:i extdata:j"},
    {"info_code_object", "nid:i!:info_node pid:i!:info_process agent_id:i:info_agent uri:t load_base:b load_size:b "
                         "load_delta:b storage_type:t::FILE|MEMORY extdata:j"},
    {"info_kernel_symbol", "nid:i!:info_node pid:i!:info_process code_object_id:i!:info_code_object kernel_name:t "
                           "display_name:t; kernel_object:i kernarg_segment_size:i kernarg_segment_alignment:i "
                           "group_segment_size:i; private_segment_size:i sgpr_count:i arch_vgpr_count:i "
                           "accum_vgpr_count:i extdata:j"},
    {"track", "nid:i!:info_node pid:i:info_process tid:i:info_thread name_id:i:string extdata:j"},
    {"event", "category_id:i:string stack_id:i parent_stack_id:i correlation_id:i call_stack:j line_info:j extdata:j"},
    {"arg", "event_id:i!:event position:i! type:t! name:t! value:t extdata:j"},
    {"pmc_event", "event_id:i:event pmc_id:i!:info_pmc value:r extdata:j"},
    {"region", "nid:i!:info_node pid:i!:info_process tid:i!:info_thread start:b! end:b! name_id:i!:string "
               "event_id:i:event extdata:j"},
    {"sample", "track_id:i!:track timestamp:b! event_id:i:event extdata:j"},
    {"kernel_dispatch", "nid:i!:info_node pid:i!:info_process tid:i:info_thread agent_id:i!:info_agent "
                        "kernel_id:i!:info_kernel_symbol dispatch_id:i! queue_id:i!:info_queue "
                        "stream_id:i!:info_stream start:b! end:b! private_segment_size:i group_segment_size:i "
                        "workgroup_size_x:i! workgroup_size_y:i! workgroup_size_z:i! grid_size_x:i! grid_size_y:i! "
                        "grid_size_z:i! region_name_id:i:string event_id:i:event extdata:j"},
    {"memory_copy", "nid:i!:info_node pid:i!:info_process tid:i:info_thread start:b! end:b! name_id:i!:string "
                    "dst_agent_id:i:info_agent dst_address:i src_agent_id:i:info_agent src_address:i size:i! "
                    "queue_id:i:info_queue stream_id:i:info_stream region_name_id:i:string event_id:i:event extdata:j"},
    {"memory_allocate", "nid:i!:info_node pid:i!:info_process tid:i:info_thread agent_id:i:info_agent "
                          "type:t::ALLOC|FREE|REALLOC|RECLAIM level:t::REAL|VIRTUAL|SCRATCH start:b! end:b! address:i "
                          "size:i! queue_id:i:info_queue stream_id:i:info_stream event_id:i:event extdata:j"},
}};
// clang-format on

std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> out;
  for (;;) {
    const std::size_t end = text.find(at);
    out.push_back(text.substr(0, end));
    if (end == text.npos) return out;
    text.remove_prefix(end + 1);
  }
}

std::string_view type_of(char letter) {
  switch (letter) {
    case 'b': return "BIGINT";
    case 't': return "TEXT";
    case 'r': return "REAL DEFAULT 0.0";
    case 'j': return "JSONB DEFAULT '{}' NOT NULL";
    default: return "INTEGER";
  }
}

std::string only(std::string_view name, std::string_view words) {
  std::string list;
  for (const std::string_view word : split(words, '|')) list += fmt::format("{}'{}'", list.empty() ? "" : ", ", word);
  return fmt::format(" CHECK (\"{}\" IN ({}))", name, list);
}

std::string column(std::string_view text, std::string_view suffix) {
  if (text.ends_with(';')) text.remove_suffix(1);
  const auto parts = split(text, ':');
  std::string out = fmt::format(",\n  \"{}\" {}", parts[0], type_of(parts[1].front()));
  if (parts[1].find('!') != text.npos) out += " NOT NULL";
  if (parts[1].ends_with('u')) out += " UNIQUE";
  if (parts.size() > 2 && !parts[2].empty())
    out += fmt::format(" REFERENCES \"rocpd_{}{}\" (id) ON UPDATE CASCADE", parts[2], suffix);
  if (parts.size() > 3) out += only(parts[0], parts[3]);
  return out;
}

std::string table(const Table& t, std::string_view suffix, std::string_view guid) {
  std::string out =
      fmt::format("CREATE TABLE \"rocpd_{}{}\" (\n  \"id\" INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT", t.name, suffix);
  if (t.has_guid) out += fmt::format(",\n  \"guid\" TEXT DEFAULT '{}' NOT NULL", guid);
  for (const std::string_view text : split(t.columns, ' ')) out += column(text, suffix);
  return out + fmt::format(");\nCREATE VIEW rocpd_{0} AS SELECT * FROM \"rocpd_{0}{1}\";\n", t.name, suffix);
}

}  // namespace

std::string tables(std::string_view suffix, std::string_view guid) {
  std::string out;
  for (const Table& t : kTables) out += table(t, suffix, guid);
  return out;
}

}  // namespace fade::rocpd
