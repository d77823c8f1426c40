#include "cli/timeline/arguments.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "cli/table/text.hpp"

namespace fade::timeline {

// Called by the parser for each part of the text. The parser does not recurse, and neither does this.
struct ArgumentHandler {
  CallArguments& to;
  std::string name, inner;  // inner: the text of an object or array that is being read
  std::size_t depth = 0, left_out = 0;
  bool is_object = false;

  bool add(Value value) {
    if (depth == 0) return false;  // the text is no object
    if (to.arguments_.size() < CallArguments::kMost) to.arguments_.push_back({to.keep(name), value});
    else ++left_out;
    return true;
  }
  bool add_inner(std::string_view text) {
    if (!inner.empty() && std::string_view("[{:").find(inner.back()) == std::string_view::npos) inner += ',';
    inner += text;
    return true;
  }
  bool open(std::string_view bracket) {
    if (depth == 0 && bracket == "[") return false;
    if (++depth > 1) add_inner(bracket);
    return true;
  }
  bool close(char bracket) {
    if (--depth == 0) return is_object = true;
    inner += bracket;
    if (depth == 1) add(Json{to.keep(std::move(inner))}), inner.clear();
    return true;
  }

  bool null() { return depth > 1 ? add_inner("null") : add(Json{"null"}); }
  bool boolean(bool b) { return depth > 1 ? add_inner(b ? "true" : "false") : add(b); }
  bool number_integer(std::int64_t n) { return depth > 1 ? add_inner(std::to_string(n)) : add(n); }
  bool number_unsigned(std::uint64_t n) {
    if (depth > 1) return add_inner(std::to_string(n));
    if (n > INT64_MAX) return add(std::string_view(to.keep(std::to_string(n))));
    return add(static_cast<std::int64_t>(n));
  }
  bool number_float(double x, const std::string&) {
    if (depth > 1) return add_inner(std::isfinite(x) ? fmt::format("{}", x) : "null");
    return add(x);
  }
  bool string(std::string& text) {
    if (depth > 1) return add_inner(table::json_quote(text));
    return add(std::string_view(to.keep(std::move(text))));
  }
  bool binary(std::vector<std::uint8_t>&) { return false; }
  bool start_object(std::size_t) { return open("{"); }
  bool end_object() { return close('}'); }
  bool start_array(std::size_t) { return open("["); }
  bool end_array() { return close(']'); }
  bool key(std::string& text) {
    if (depth == 1) {
      name = std::move(text);
      return true;
    }
    add_inner(table::json_quote(text));
    inner += ':';
    return true;
  }
  bool parse_error(std::size_t, const std::string&, const nlohmann::json::exception&) { return false; }
};

std::string_view CallArguments::keep(std::string text) { return texts_.emplace_back(std::move(text)); }

std::span<const Argument> CallArguments::read(std::string_view json) {
  texts_.clear();
  arguments_.clear();
  ArgumentHandler handler{*this};
  if (nlohmann::json::sax_parse(json, &handler) && handler.is_object) {
    if (handler.left_out > 0) arguments_.push_back({"not shown", static_cast<std::int64_t>(handler.left_out)});
    return arguments_;
  }
  arguments_.assign({{"text", std::string_view(keep(std::string(json)))}});
  return arguments_;
}

}  // namespace fade::timeline
