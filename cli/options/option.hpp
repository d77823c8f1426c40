// One option of a program is one row: its names, what it takes, what the help says, and where the value goes. Help,
// completions, manual pages, the configuration file and the environment are all made from the same rows.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace fade::cli {

// Where a value goes. What is pointed to must outlive parsing.
struct Flag {
  bool* to;
};
struct Switch {  // on, off or not said; or --summary=WORD, which is on, too
  std::optional<bool>* to;
  std::string* word = nullptr;            // nullptr: it takes no word
  std::vector<std::string_view> words{};  // that it may be
};
struct Count {
  int* to;
};  // how often it was given
struct Text {
  std::string* to;
  bool may_be_empty = true;
  bool is_list = false;  // commas separate: a shell completes the last part
};
struct MaybeText {  // --watch or --watch=2: the value only behind '='
  std::optional<std::string>* to;
  std::string_view implied;  // what it is without a value
};
struct List {
  std::vector<std::string>* to;
};  // repeatable, commas separate: -e mem,copy -e sync
struct Each {
  std::vector<std::string>* to;
};  // repeatable, commas belong to the value
struct Time {
  std::optional<std::int64_t>* to;
};  // nanoseconds
struct Size {
  std::uint64_t* to;
};  // bytes
struct Number {
  std::optional<std::int64_t>* to;
  std::int64_t least = std::numeric_limits<std::int64_t>::min();
  std::int64_t most = std::numeric_limits<std::int64_t>::max();
};
struct Choice {  // one of a few words
  std::vector<std::string_view> names;
  std::function<void(std::size_t)> choose;
};
using Target = std::variant<Flag, Switch, Count, Text, MaybeText, List, Each, Time, Size, Number, Choice>;

// `names` in the order of the enumerators.
template <class Enum>
Choice choice(Enum& to, std::vector<std::string_view> names) {
  return {std::move(names), [&to](std::size_t index) { to = static_cast<Enum>(index); }};
}

enum class Shown : std::uint8_t { Help, HelpAll, Hidden };  // the one screen, the long list, nowhere
enum class Completes : std::uint8_t {
  Nothing,
  File,
  Directory,
  Command,
  Process
};  // what a shell offers for the value

struct Option {
  std::string_view group;  // heading in the help
  std::string_view names;  // "-o,--output"; "!--no-output" switches off. The first long one is the configuration key
  std::string_view value;  // "FILE"; empty where it takes none; "[=SEC]" for MaybeText and Switch
  std::string_view help;   // one sentence without a full stop
  Target target;
  Shown shown = Shown::HelpAll;
  Completes completes = Completes::Nothing;
  std::vector<std::string_view> hints{};  // words a shell may offer for the value, not the only ones allowed
};

std::vector<std::string_view> split(std::string_view text, char separator);
std::string_view key(const Option& option);  // "output"
bool takes_value(const Option& option);      // as a word of its own

}  // namespace fade::cli
