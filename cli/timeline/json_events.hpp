// Traces in the Trace Event Format ("JSON array of events in an object"), which chrome://tracing, Perfetto and other
// viewers read; and in the form that PyTorch's profiler (Kineto) gives it, for TensorBoard's plugin and Holistic Trace
// Analysis: its names of categories, times relative to baseTimeNanoseconds, facts about devices and rank.
#pragma once
#include <memory>

#include "cli/table/bytes.hpp"
#include "cli/timeline/timeline.hpp"

namespace fade::timeline {

// `out` must outlive the writer.
std::unique_ptr<Writer> make_chrome_writer(table::Bytes& out);
std::unique_ptr<Writer> make_kineto_writer(table::Bytes& out);

}  // namespace fade::timeline
