// The work of copies and fills: bytes by direction, rows of copies, and copies of graphs.
#pragma once
#include <optional>

#include "store/books.hpp"
#include "store/recorded_call.hpp"
#include "store/stream_recorder.hpp"

namespace fade::store {

class CopyRecorder {
 public:
  CopyRecorder(Books& books, StreamRecorder& streams) : books_(books), streams_(streams) {}

  // A copy or fill. A copy that failed, that an exception left or that still runs has copied no bytes. A copy that went
  // into a graph copies when the graph is launched. A copy with a return that could not be watched counts.
  void record(RecordedCall& call);
  // More copies like `call`, which was recorded just now.
  void more(const RecordedCall& call, const AlikeCalls& more);
  // The direction (copy_kind) of a copy; that of a default is found by its addresses.
  std::int64_t direction_of(const RecordedCall& call) const;
  // The copy that the call puts into a graph as a node.
  GraphCopy graph_node(const RecordedCall& call) const;
  // The call has launched a graph into `stream` (null: unknown), or tried to. Each launch does all copies of the graph.
  // Their time is unknown, because the launch returns before they are done. Later changes of a node are not followed.
  void graph_launched(const RecordedCall& call, StreamBook::Stream* stream);

 private:
  // The call's own data about its copy. A side is known if the kind or the block of parameters shows it.
  struct Copy {
    std::int64_t kind = 0;
    std::uint64_t bytes = 0;
    std::optional<std::uint64_t> source, destination;
    probes::Side source_side = probes::Side::Unknown, destination_side = probes::Side::Unknown;

    static Copy of(const RecordedCall& call);
    static Copy of_words(const RecordedCall& call, const CopyWords& words);
    void take_sides_from_kind();
    void resolve(Way way) { kind = kind == copy_kind::kDefault ? way.kind : kind; }
  };
  Way way_of(ProcessId process, const Copy& copy) const;
  GraphCopy graph_copy(const RecordedCall& call, Copy copy) const;
  bool capture(const RecordedCall& call, const Copy& copy);
  void add_up(const RecordedCall& call, const Copy& copy, Way way);
  static Copied copied(const RecordedCall& call, const Copy& copy, Way way);
  void write(const RecordedCall& call, const Copy& copy, Way way, const StreamBook::Stream* stream);

  Books& books_;
  StreamRecorder& streams_;
  struct Last {  // valid until the next call or notice
    bool done = false;
    Copy copy;
    Way way;
    StreamBook::Stream* stream = nullptr;
  };
  Last last_;
};

}  // namespace fade::store
