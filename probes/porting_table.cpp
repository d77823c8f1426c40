#include "probes/porting_table.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <vector>

extern "C" const char fade_porting_tsv_begin[], fade_porting_tsv_end[];

namespace fade::probes {
namespace {

struct Prefix {
  std::string_view begin, library;
};
// The longer one first. A capital letter follows, so that "curl" is no function of CUDA.
constexpr Prefix kPrefixes[] = {
    {"__cuda", "runtime"},      {"cublas", "cublas"},     {"cudnn", "cudnn"}, {"cufft", "cufft"},  {"curand", "curand"},
    {"cusolver", "cusolver"},   {"cusparse", "cusparse"}, {"cupti", "cupti"}, {"cuda", "runtime"}, {"cu", "driver"},
    {"nvJitLink", "nvjitlink"}, {"nvrtc", "nvrtc"},       {"nvtx", "nvtx"},   {"nvml", "nvml"},    {"nccl", "nccl"}};

std::string_view cut(std::string_view& text, char at) {
  const std::size_t end = std::min(text.find(at), text.size());
  const std::string_view out = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return out;
}

std::vector<Port> read_table() {
  std::string_view text(fade_porting_tsv_begin,
                        static_cast<std::size_t>(fade_porting_tsv_end - fade_porting_tsv_begin));
  cut(text, '\n');  // the names of the columns
  std::vector<Port> out;
  while (!text.empty()) {
    std::string_view line = cut(text, '\n');
    std::array<std::string_view, 6> cells;
    for (std::string_view& cell : cells) cell = cut(line, '\t');
    out.push_back({cells[0], cells[1], cells[2], cells[3], cells[4], cells[5]});
  }
  return out;
}

const Port* exactly(std::string_view symbol) {
  const auto all = porting_table();
  const auto found = std::ranges::lower_bound(all, symbol, {}, &Port::cuda);
  return found != all.end() && found->cuda == symbol ? &*found : nullptr;
}

// "cuMemAlloc_v2" without its "_v2"; unchanged if it has no version.
std::string_view without_version(std::string_view symbol) {
  const std::size_t at = symbol.rfind("_v");
  if (at == symbol.npos || at + 2 >= symbol.size()) return symbol;
  const std::string_view version = symbol.substr(at + 2);
  return std::ranges::all_of(version, [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; })
             ? symbol.substr(0, at)
             : symbol;
}

}  // namespace

std::span<const Port> porting_table() {
  static const std::vector<Port> kTable = read_table();
  return kTable;
}

const Port* find_port(std::string_view symbol) {
  if (const Port* found = exactly(symbol)) return found;
  for (const std::string_view stream : {"_ptsz", "_ptds"})
    if (symbol.ends_with(stream)) return find_port(symbol.substr(0, symbol.size() - stream.size()));
  const std::string_view plain = without_version(symbol);
  return plain == symbol ? nullptr : exactly(plain);
}

std::string_view cuda_library_of(std::string_view symbol) {
  if (const Port* known = find_port(symbol)) return known->library;
  for (const Prefix& one : kPrefixes)
    if (symbol.starts_with(one.begin) && symbol.size() > one.begin.size() &&
        std::isupper(static_cast<unsigned char>(symbol[one.begin.size()])) != 0)
      return one.library;
  return {};
}

}  // namespace fade::probes
