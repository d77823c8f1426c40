#include <cmath>

#include "cli/query/engine.hpp"
#include "cli/table/human.hpp"

namespace fade::query {
namespace {

using table::Column;
using table::Kind;
using table::Value;

class Converter : public table::RowSink {
 public:
  Converter(table::Units units, bool machine, std::optional<std::int64_t> epoch_ns,
            std::unique_ptr<table::RowSink> next)
      : units_(units), machine_(machine), epoch_ns_(epoch_ns), next_(std::move(next)) {}

  Result<void> begin(std::vector<Column> columns) override {
    for (Column& c : columns) {
      actions_.push_back(action_of(c));
      rename(c, actions_.back());
    }
    return next_->begin(std::move(columns));
  }
  Result<void> row(std::span<const Value> cells) override {
    cells_.assign(cells.begin(), cells.end());
    for (std::size_t i = 0; i < cells_.size(); ++i) convert(cells_[i], actions_[i]);
    return next_->row(cells_);
  }
  Result<void> end() override { return next_->end(); }

 private:
  enum class Action { Keep, Scale, Date };

  Action action_of(const Column& c) const {
    if (c.kind == Kind::Time && epoch_ns_) return Action::Date;
    const bool is_time = c.kind == Kind::Time || c.kind == Kind::Duration || c.kind == Kind::Net;
    return is_time && machine_ && units_ != table::Units::Auto && units_ != table::Units::Ns ? Action::Scale
                                                                                             : Action::Keep;
  }
  void rename(Column& c, Action action) const {
    if (action == Action::Keep || !c.name.ends_with("_ns")) return;
    c.name.resize(c.name.size() - 2);
    c.name += action == Action::Date ? "time" : table::units_word(units_);
    if (action == Action::Date) c.kind = Kind::Text;
    if (c.name == "time_time") c.name = "time";
  }
  void convert(Value& v, Action action) const {
    const auto* n = std::get_if<std::int64_t>(&v);
    if (!n || action == Action::Keep) return;
    if (action == Action::Scale) v = std::round(static_cast<double>(*n) * table::units_per_ns(units_) * 1e3) / 1e3;
    else if (std::int64_t at = 0; !__builtin_add_overflow(*n, *epoch_ns_, &at)) v = table::wall_clock(at);
  }

  table::Units units_;
  bool machine_;
  std::optional<std::int64_t> epoch_ns_;
  std::unique_ptr<table::RowSink> next_;
  std::vector<Action> actions_;
  std::vector<Value> cells_;
};

}  // namespace

std::unique_ptr<table::RowSink> make_converter(const Settings& settings, bool machine,
                                               std::optional<std::int64_t> epoch_ns,
                                               std::unique_ptr<table::RowSink> next) {
  return std::make_unique<Converter>(settings.units, machine, epoch_ns, std::move(next));
}

}  // namespace fade::query
