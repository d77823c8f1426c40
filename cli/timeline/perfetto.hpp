// A trace for https://ui.perfetto.dev and Perfetto's trace processor: the message perfetto.protos.Trace of the public
// schema (protos/perfetto/trace/*.proto of the project), written packet by packet.
#pragma once
#include <memory>

#include "cli/table/bytes.hpp"
#include "cli/timeline/timeline.hpp"

namespace fade::timeline {

// `out` must outlive the writer.
std::unique_ptr<Writer> make_perfetto_writer(table::Bytes& out);

}  // namespace fade::timeline
