// Why a report has no rows: the reader's own filters, calls that were not watched or only counted, or nothing of the
// kind happened. Works from the head of the report's SQL (none, topic, rows, events, record) and the view watched.
#pragma once
#include <functional>
#include <optional>
#include <string>

#include "cli/query/recording.hpp"
#include "cli/query/report.hpp"
#include "cli/query/settings.hpp"

namespace fade::query {

// "no process 99999 in this recording (it has 24)", if an option names what the recording does not have; else empty.
std::string unknown_value(Recording& recording, const Settings& settings, const table::Value& session);

class Nothing {
 public:
  // `has_rows`: whether the report has any under other settings.
  using HasRows = std::function<bool(const Settings&)>;
  Nothing(Recording& recording, const Report& report, const Settings& settings, const table::Value& session,
          HasRows has_rows)
      : recording_(recording),
        report_(report),
        settings_(settings),
        session_(session),
        has_rows_(std::move(has_rows)) {}

  // A clause without a full stop; empty if nothing can be said.
  std::string reason() const;

 private:
  std::string filtered() const;  // rows exist, and none passes the filters
  std::string unwatched() const;
  std::string how_to_record() const;
  bool was_recorded_with(const std::string& how) const;

  Recording& recording_;
  const Report& report_;
  const Settings& settings_;
  const table::Value& session_;
  HasRows has_rows_;
};

}  // namespace fade::query
