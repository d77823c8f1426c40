// The functions of CUDA's libraries with the functions of ROCm that replace them: the rows of porting/porting.tsv, made
// by porting/generate.py. Constant after the first use.
#pragma once
#include <span>
#include <string_view>

namespace fade::probes {

struct Port {
  std::string_view cuda, library;  // library: driver, runtime, cublas ...
  std::string_view hip, since;     // hip: empty if there is none. since: the first release of ROCm; empty if unknown
  std::string_view how;            // table (AMD's), name (alike in name and types), compiler (hipcc makes the call)
  std::string_view note;
};

std::span<const Port> porting_table();  // sorted by name
// The row of an exported symbol, also of one for per-thread streams (_ptsz) or of another version (_v2). nullptr: none.
const Port* find_port(std::string_view symbol);
// The CUDA library that a symbol belongs to, by the beginning of its name; empty: to none.
std::string_view cuda_library_of(std::string_view symbol);

}  // namespace fade::probes
