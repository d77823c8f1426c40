#include "store/binding_book.hpp"

namespace fade::store {
namespace {

constexpr std::size_t kMostText = 64 << 10;  // of the names of one row

std::string joined(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : names) {
    if (out.size() + name.size() > kMostText) return out + ", ...";
    out += (out.empty() ? "" : ", ") + name;
  }
  return out;
}

}  // namespace

BindingBook::BindingBook(sqlite::Db& db, Failure& failure, const Directory& directory)
    : directory_(directory),
      origin_(db, failure, "INSERT OR REPLACE INTO origin_ VALUES (?,?,?,?,?,?,?,?,?,?,?)"),
      forget_(db, failure, "DELETE FROM binding_ WHERE module = ?"),
      binding_(db, failure, "INSERT OR REPLACE INTO binding_ VALUES (?,?,?,?,?,?,?)") {}

void BindingBook::on(const ModuleOrigin& n) {
  origin_(directory_.module_row(n.module), n.space, unless_empty(n.family), unless_empty(n.kind),
          unless_empty(n.version), unless_empty(n.rocm), unless_empty(n.rule),
          unless(directory_.module_row(n.asker), 0), unless_empty(n.rpath), unless_empty(n.runpath),
          unless_empty(joined(n.not_taken)));
}

void BindingBook::on(const ImportsBound& n) {
  const ModuleRow module = directory_.module_row(n.module);
  forget_(module);
  for (const ImportsBound::Group& group : n.groups)
    binding_(module, group.api, static_cast<int>(group.state), directory_.module_row(group.target), group.names.size(),
             joined(group.names), n.at);
}

}  // namespace fade::store
