// What samples (fade-run --sample) say of slow steps: the line of the program's own work that was found most often.
#pragma once
#include <string>
#include <vector>

#include "base/result.hpp"
#include "cli/query/command.hpp"
#include "cli/query/named_row.hpp"
#include "cli/query/recording.hpp"
#include "cli/table/value.hpp"

namespace fade::query {

struct StepSamples {
  std::int64_t step = 0, tid = 0;
  std::string words;  // "job.py:57 load_batch (12 of 15)"
};

// Of the slowest steps, at most eight, slowest first; those without samples are left out. `thread_id`: of one thread;
// NULL: of all.
Result<std::vector<StepSamples>> step_samples(const Context& context, Recording& recording,
                                              const table::Value& thread_id);

// "step 18", or "step 18 'train_step 17'" if the program counts its steps itself. The row has idx and name.
std::string step_words(const NamedRow& step);

}  // namespace fade::query
