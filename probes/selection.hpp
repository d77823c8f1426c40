// The selection of probes: the user's -e LIST, --include and --exclude over the default.
//
// LIST is words with commas: a group (mem, copy, ...), hip, hiprtc, all, hot, a function's name or a pattern
// (hipMemcpy*). A word with - before it removes functions. NAME@LIBRARY is of calls of that library alone
// (all@libtorch_hip*, all@!libmine*). Words are applied from left to right; a list that begins
// with a removal begins with all. A hot function is on only if a word names it, its group or hot, or if an --include
// matches it. An optional function is on only if a word names it, its group or its api. A family is on if some of its
// functions may be.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/regex.hpp"
#include "base/result.hpp"
#include "probes/probe.hpp"

namespace fade::probes {

class Selection {
 public:
  // Everything that is not hot.
  Selection() = default;

  // `known`: all probes of the catalogue, for words to name. An empty `events` is the default.
  static Result<Selection> make(std::string_view events, const std::vector<std::string>& include,
                                const std::vector<std::string>& exclude, const std::vector<ProbePtr>& known);

  bool operator()(const Probe& probe) const;
  // A pattern of the libraries of which calls of the function are recorded; empty: of all.
  std::string callers_of(const Probe& probe) const;
  // The option that leaves the probe out: events, include, exclude, or hot if it is off by default. Empty if it is on.
  std::string_view left_out_by(const Probe& probe) const;

 private:
  struct Word {
    enum class Names : std::uint8_t { All, Api, Group, Hot, Symbol };
    Names names = Names::All;
    std::string text;       // without - and @
    std::string callers{};  // behind @
    bool take_away = false;
    bool matches(const Probe& probe) const;
    bool decides(const Probe& probe) const;  // if the function of the probe is on
    bool turns_on_hot() const { return names == Names::Group || names == Names::Hot || names == Names::Symbol; }
  };

  static Result<Word> parse_word(std::string_view text, const std::vector<ProbePtr>& known);
  bool on_by_words(const Probe& probe) const;
  bool named_by_words(const Probe& probe) const;

  std::vector<Word> words_;
  std::vector<Regex> include_;
  std::vector<Regex> exclude_;
};

// The group that a word names, also by a synonym (launch is kernel); empty: none of a built-in function or a library.
std::string group_named(std::string_view word);

// The group that a synonym means (launch is kernel); any other word as it is.
std::string plain_group(std::string_view word);

// The groups that -e knows: those of these probes, of libraries, and of operators.
std::vector<std::string> known_groups(const std::vector<ProbePtr>& probes);

// The groups of these probes, in alphabetical order.
std::vector<std::string> groups_of(const std::vector<ProbePtr>& probes);

}  // namespace fade::probes
