// Tables of functions that a call gives (cuGetExportTable): functions without names of their own, which are watched as
// NAME[INDEX]. Only tables that begin with their size in bytes are read; the end of other tables is unknown.
#pragma once
#include <string>
#include <vector>

#include "base/event.hpp"
#include "base/remote.hpp"
#include "base/result.hpp"
#include "probes/arguments.hpp"
#include "session/program.hpp"

namespace fade {

struct TableGiven {
  RemoteAddr at;
  std::string id;  // which table: 16 bytes, or fewer if they could not be read
};

struct TableFunction {
  std::size_t index = 0;  // in words from the table's begin; 0 is the size
  RemoteAddr address;
};

// The table of a successful call of a function with @table and @table_id; nullopt if the call gave no table.
std::optional<TableGiven> table_given(const probes::Probe& probe, const CallRecord& record, probes::Payload payload);

// The functions of the table, with addresses that must be in `module`; at most 255.
Result<std::vector<TableFunction>> read_table(const Memory& memory, const Module& module, const TableGiven& table);

// The probe of such a function: named by the table's name, or its number if it has no name, with registers only.
probes::ProbePtr table_probe(const probes::Probe& giver, const TableGiven& table, std::size_t index);

}  // namespace fade
