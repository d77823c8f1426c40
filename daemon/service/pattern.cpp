#include "service/pattern.hpp"

#include <fmt/format.h>

#include <cctype>
#include <optional>

#include "ipc/json.hpp"

namespace fade::service {
namespace {

using Bytes = std::bitset<256>;
using Step = Pattern::Step;
using Steps = std::vector<Step>;

Bytes one_byte(char c) { return Bytes().set(static_cast<unsigned char>(c)); }

Bytes all_of(int (*is)(int), bool underscore = false) {
  Bytes out;
  for (int c = 0; c < 128; ++c) out[static_cast<std::size_t>(c)] = is(c) != 0 || (underscore && c == '_');
  return out;
}

Steps& append(Steps& to, const Steps& more) {
  to.insert(to.end(), more.begin(), more.end());
  return to;
}

int length(const Steps& steps) { return static_cast<int>(steps.size()); }
Step split(int to, int or_to) { return {Step::Kind::Split, {}, to, or_to}; }

// Recursive descent; as deep as there are parentheses, so no deeper than the expression is long.
class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  std::optional<Steps> whole() {
    auto steps = alternatives();
    return steps && at_ == text_.size() ? steps : std::nullopt;
  }

 private:
  bool more() const { return at_ < text_.size(); }
  bool take(char c) {
    const bool is_there = more() && text_[at_] == c;
    at_ += is_there;
    return is_there;
  }

  std::optional<Steps> alternatives() {
    auto left = sequence();
    while (left && take('|')) {
      const auto right = sequence();
      if (!right) return {};
      Steps both{split(1, length(*left) + 2)};
      append(both, *left).push_back(split(length(*right) + 1, length(*right) + 1));
      left = append(both, *right);
    }
    return left;
  }

  std::optional<Steps> sequence() {
    Steps out;
    while (more() && text_[at_] != '|' && text_[at_] != ')') {
      const auto next = repeated();
      if (!next) return {};
      append(out, *next);
    }
    return out;
  }

  // Whether as much as possible is taken or as little does not matter to whether something is found.
  std::optional<Steps> repeated() {
    auto steps = atom();
    if (!steps || !more()) return steps;
    const int n = length(*steps);
    Steps out;
    if (take('*')) {
      out.push_back(split(1, n + 2));
      append(out, *steps).push_back(split(-n, 1));
    } else if (take('+')) {
      append(out, *steps).push_back(split(-n, 1));
    } else if (take('?')) {
      out.push_back(split(1, n + 1));
      append(out, *steps);
    } else {
      return steps;
    }
    take('?');
    return out;
  }

  std::optional<Steps> atom() {
    if (take('(')) {
      if (take('?') && !take(':')) return {};
      auto inner = alternatives();
      return take(')') ? inner : std::nullopt;
    }
    if (take('^')) return Steps{{Step::Kind::Begin, {}, 1, 1}};
    if (take('$')) return Steps{{Step::Kind::End, {}, 1, 1}};
    if (take('.')) return bytes(Bytes().set());
    if (take('[')) return bytes(set());
    if (take('\\')) return bytes(escaped());
    const char c = text_[at_++];
    if (std::string_view("*+?{}])").find(c) != std::string_view::npos) return {};
    return bytes(one_byte(c));
  }

  static std::optional<Steps> bytes(const std::optional<Bytes>& set) {
    if (!set) return {};
    return Steps{{Step::Kind::Byte, *set, 1, 1}};
  }

  // Behind the backslash. A letter or digit there must be a known one.
  std::optional<Bytes> escaped() {
    if (!more()) return {};
    const char c = text_[at_++];
    if (c == 'd') return all_of(std::isdigit);
    if (c == 'w') return all_of(std::isalnum, true);
    if (c == 's') return all_of(std::isspace);
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) return {};
    return one_byte(c);
  }

  // Behind the opening bracket.
  std::optional<Bytes> set() {
    const bool negated = take('^');
    Bytes out;
    if (more() && text_[at_] == ']') return {};  // everybody understands it differently
    while (!take(']')) {
      if (!more()) return {};
      if (take('\\')) {
        const auto some = escaped();
        if (!some) return {};
        out |= *some;
        continue;
      }
      const auto from = static_cast<unsigned char>(text_[at_++]);
      auto to = from;
      if (at_ + 1 < text_.size() && text_[at_] == '-' && text_[at_ + 1] != ']') {
        to = static_cast<unsigned char>(text_[at_ + 1]);
        at_ += 2;
      }
      if (to < from || to == '\\') return {};
      for (unsigned c = from; c <= to; ++c) out.set(c);
    }
    return negated ? ~out : out;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

// Where the machine may be at once. Each place is entered once per byte of the text.
class Places {
 public:
  explicit Places(const Steps& steps) : steps_(&steps), here_(steps.size() + 1) {}

  void enter(std::size_t place, bool at_begin, bool at_end) {
    todo_.push_back(place);
    while (!todo_.empty()) {
      const std::size_t at = todo_.back();
      todo_.pop_back();
      if (here_[at]) continue;
      here_[at] = true;
      if (at == steps_->size()) continue;
      const Step& step = (*steps_)[at];
      if (step.kind == Step::Kind::Split) {
        todo_.push_back(at + static_cast<std::size_t>(step.to));
        todo_.push_back(at + static_cast<std::size_t>(step.or_to));
      } else if ((step.kind == Step::Kind::Begin && at_begin) || (step.kind == Step::Kind::End && at_end)) {
        todo_.push_back(at + 1);
      }
    }
  }
  bool matched() const { return here_.back(); }
  bool holds(std::size_t place) const { return here_[place]; }

 private:
  const Steps* steps_;
  std::vector<bool> here_;
  std::vector<std::size_t> todo_;
};

}  // namespace

Result<Pattern> Pattern::parse(const std::string& text) {
  const auto refuse = [&](std::string cause) {
    return fail(fmt::format("'{}' cannot be used as a pattern", ipc::one_line(text)), std::move(cause), {}, EINVAL);
  };
  if (text.empty() || text.size() > kLongest) return refuse(fmt::format("it has 1 to {} letters", kLongest));
  auto steps = Parser(text).whole();
  if (!steps) return refuse("it is no regular expression of letters, . [] () | * + ? ^ $ \\d \\w \\s");
  return Pattern(text, std::move(*steps));
}

bool Pattern::found_in(std::string_view text) const {
  Places now(steps_);
  for (std::size_t i = 0;; ++i) {
    now.enter(0, i == 0, i == text.size());  // it may begin anywhere
    if (now.matched()) return true;
    if (i == text.size()) return false;
    Places next(steps_);
    for (std::size_t at = 0; at < steps_.size(); ++at)
      if (now.holds(at) && steps_[at].kind == Step::Kind::Byte && steps_[at].bytes[static_cast<unsigned char>(text[i])])
        next.enter(at + 1, false, i + 1 == text.size());
    now = std::move(next);
  }
}

}  // namespace fade::service
