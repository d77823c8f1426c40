// The functions that a recording watches, as rows of the file: the filters, and the functions that they leave out.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace fade {

struct Coverage {
  // kind: events, callers, include, exclude, kernel-include, kernel-exclude, exe, rank, follow, delay, duration (ns),
  // schedule, window, trigger, detail.
  struct Filter {
    std::string kind, value;
  };
  // Functions of the catalogue of one API, group and kind. why: the filter that left them out, in one word; empty: they
  // are watched.
  struct Functions {
    std::string api, group, kind, why;
    std::int64_t n = 0;
    std::string names;  // the first few, separated by blanks; empty if watched
  };
  std::vector<Filter> filters;
  std::vector<Functions> functions;
};

}  // namespace fade
