#include "cli/timeline/perfetto.hpp"

#include "cli/timeline/interned.hpp"
#include "cli/timeline/nesting.hpp"
#include "cli/timeline/protobuf.hpp"
#include "cli/timeline/utf8.hpp"

namespace fade::timeline {
namespace {

// Numbers of fields and values in the public schema, by message.
namespace trace {
constexpr std::uint32_t packet = 1;
}
namespace packet {
constexpr std::uint32_t clock_snapshot = 6, timestamp = 8, sequence = 10, track_event = 11, interned_data = 12,
                        sequence_flags = 13, track_descriptor = 60;
constexpr std::uint64_t state_cleared = 1, needs_state = 2;
}  // namespace packet
namespace clock_snapshot {
constexpr std::uint32_t clocks = 1, primary = 2, clock_id = 1, timestamp = 2;
constexpr std::uint64_t realtime = 1, boottime = 6;
}  // namespace clock_snapshot
namespace descriptor {
constexpr std::uint32_t uuid = 1, name = 2, process = 3, thread = 4, parent = 5, counter = 8, ordering = 11;
constexpr std::uint32_t process_pid = 1, process_command = 2, process_name = 6;
constexpr std::uint32_t thread_pid = 1, thread_tid = 2, thread_name = 5;
constexpr std::uint32_t counter_unit = 3;
constexpr std::uint64_t unit_count = 2, unit_bytes = 3, chronological = 2;
}  // namespace descriptor
namespace event {
constexpr std::uint32_t category = 3, annotation = 4, type = 9, name = 10, track = 11, counter_value = 30, flow = 47;
constexpr std::uint64_t slice_begin = 1, slice_end = 2, instant = 3, counter = 4;
}  // namespace event
namespace annotation {
constexpr std::uint32_t name = 1, boolean = 2, integer = 4, real = 5, text = 6, entry = 11, text_number = 17;
}

constexpr std::uint64_t kSequence = 1;  // of packets: all are of one

class PerfettoWriter : public Writer {
 public:
  explicit PerfettoWriter(table::Bytes& out)
      : out_(out), nesting_([this](std::uint64_t track, std::int64_t at) { return end_slice(track, at); }) {}

  Result<void> begin(const Head& head) override;
  Result<void> track(const Track& track) override;
  Result<void> slice(const Event& event) override;
  Result<void> instant(const Event& event) override;
  Result<void> count(std::uint64_t track, std::int64_t at, std::int64_t value) override;
  Result<void> end() override { return nesting_.finish(); }

 private:
  Result<void> end_slice(std::uint64_t track, std::int64_t at);
  Result<void> describe(const Event& event, std::uint64_t type);
  void annotate(const Argument& argument, Message& out);
  void annotate_call(std::span<const Argument> arguments);
  void set_value(const Value& value, bool often, Message& out);
  Result<void> write_event(std::int64_t at);
  Result<void> write_packet();

  table::Bytes& out_;
  Nesting nesting_;
  Interned words_;
  std::int64_t zero_ = 0;
  std::uint64_t flags_ = packet::state_cleared | packet::needs_state;
  Message event_, annotation_, entry_, packet_, trace_;  // kept for their memory
};

Message clock(std::uint64_t id, std::int64_t time) {
  Message out;
  out.number(clock_snapshot::clock_id, id);
  out.integer(clock_snapshot::timestamp, time);
  return out;
}

Result<void> PerfettoWriter::begin(const Head& head) {
  zero_ = head.boot_ns;
  Message snapshot;
  snapshot.message(clock_snapshot::clocks, clock(clock_snapshot::boottime, head.boot_ns));
  snapshot.message(clock_snapshot::clocks, clock(clock_snapshot::realtime, head.epoch_ns));
  snapshot.number(clock_snapshot::primary, clock_snapshot::boottime);
  packet_.clear();
  packet_.integer(packet::timestamp, zero_);
  packet_.message(packet::clock_snapshot, snapshot);
  if (auto done = write_packet(); !done) return done;
  if (head.notes.empty()) return {};
  Track about{.id = ~std::uint64_t{0} >> 1, .name = "about this recording"};
  if (auto done = track(about); !done) return done;
  std::vector<Argument> arguments;
  for (const auto& [name, text] : head.notes) arguments.push_back({name, std::string_view(text)});
  return instant({.track = about.id, .name = head.name, .category = "fade", .arguments = arguments});
}

Message process_of(const Track& track) {
  Message out;
  out.integer(descriptor::process_pid, track.pid);
  if (!track.command.empty()) out.text(descriptor::process_command, valid_utf8(track.command));
  out.text(descriptor::process_name, valid_utf8(track.name));
  return out;
}

Message thread_of(const Track& track) {
  Message out;
  out.integer(descriptor::thread_pid, track.pid);
  out.integer(descriptor::thread_tid, track.tid);
  out.text(descriptor::thread_name, valid_utf8(track.name));
  return out;
}

Message counter_of(const Track& track) {
  Message out;
  out.number(descriptor::counter_unit, track.is_bytes ? descriptor::unit_bytes : descriptor::unit_count);
  return out;
}

struct Form {
  Place place;
  std::uint32_t field;
  Message (*make)(const Track&);
};
constexpr Form kForms[] = {{Place::Process, descriptor::process, process_of},
                           {Place::Thread, descriptor::thread, thread_of},
                           {Place::Counter, descriptor::counter, counter_of}};

Result<void> PerfettoWriter::track(const Track& track) {
  Message out;
  out.number(descriptor::uuid, track.id);
  if (track.parent != 0) out.number(descriptor::parent, track.parent);
  if (track.place != Place::Process && track.place != Place::Thread) out.text(descriptor::name, valid_utf8(track.name));
  for (const Form& form : kForms)
    if (form.place == track.place) out.message(form.field, form.make(track));
  packet_.clear();
  packet_.number(packet::sequence, kSequence);
  packet_.message(packet::track_descriptor, out);
  return write_packet();
}

void PerfettoWriter::set_value(const Value& value, bool often, Message& out) {
  if (const auto* n = std::get_if<std::int64_t>(&value)) return out.integer(annotation::integer, *n);
  if (const auto* x = std::get_if<double>(&value)) return out.real(annotation::real, *x);
  if (const auto* b = std::get_if<bool>(&value)) return out.number(annotation::boolean, *b);
  if (const auto* json = std::get_if<Json>(&value)) return out.text(annotation::text, cut_text(json->text));
  const std::string text = valid_utf8(std::get<std::string_view>(value));
  if (often) return out.number(annotation::text_number, words_.number(Words::ArgumentText, text));
  out.text(annotation::text, text);
}

void PerfettoWriter::annotate(const Argument& argument, Message& out) {
  out.clear();
  out.number(annotation::name, words_.number(Words::ArgumentName, valid_utf8(argument.name)));
  set_value(argument.value, argument.often, out);
}

void PerfettoWriter::annotate_call(std::span<const Argument> arguments) {
  if (arguments.empty()) return;
  annotation_.clear();
  annotation_.number(annotation::name, words_.number(Words::ArgumentName, "arguments"));
  for (const Argument& argument : arguments) {
    annotate(argument, entry_);
    annotation_.message(annotation::entry, entry_);
  }
  event_.message(event::annotation, annotation_);
}

Result<void> PerfettoWriter::describe(const Event& event, std::uint64_t type) {
  event_.clear();
  event_.number(event::type, type);
  event_.number(event::track, event.track);
  event_.number(event::category, words_.number(Words::Category, valid_utf8(event.category)));
  event_.number(event::name, words_.number(Words::Event, valid_utf8(event.name)));
  if (event.flow_out != 0) event_.fixed(event::flow, event.flow_out);
  if (event.flow_in != 0) event_.fixed(event::flow, event.flow_in);
  for (const Argument& argument : event.arguments) {
    annotate(argument, annotation_);
    event_.message(event::annotation, annotation_);
  }
  annotate_call(event.call_arguments);
  return write_event(event.start);
}

Result<void> PerfettoWriter::slice(const Event& event) {
  if (auto opened = nesting_.open(event.track, event.start, event.end); !opened) return tl::unexpected(opened.error());
  return describe(event, event::slice_begin);
}

Result<void> PerfettoWriter::instant(const Event& event) { return describe(event, event::instant); }

Result<void> PerfettoWriter::end_slice(std::uint64_t track, std::int64_t at) {
  event_.clear();
  event_.number(event::type, event::slice_end);
  event_.number(event::track, track);
  return write_event(at);
}

Result<void> PerfettoWriter::count(std::uint64_t track, std::int64_t at, std::int64_t value) {
  event_.clear();
  event_.number(event::type, event::counter);
  event_.number(event::track, track);
  event_.integer(event::counter_value, value);
  return write_event(at);
}

// The numbers of words that this event uses are in the packet. They hold until the state is cleared.
Result<void> PerfettoWriter::write_event(std::int64_t at) {
  packet_.clear();
  packet_.integer(packet::timestamp, zero_ + at);
  packet_.number(packet::sequence, kSequence);
  packet_.number(packet::sequence_flags, flags_);
  flags_ = packet::needs_state;
  if (!words_.fresh().is_empty()) packet_.message(packet::interned_data, words_.fresh());
  words_.clear_fresh();
  packet_.message(packet::track_event, event_);
  if (words_.is_full()) {
    words_.forget();
    flags_ |= packet::state_cleared;
  }
  return write_packet();
}

Result<void> PerfettoWriter::write_packet() {
  trace_.clear();
  trace_.message(trace::packet, packet_);
  return out_.write(trace_.bytes());
}

}  // namespace

std::unique_ptr<Writer> make_perfetto_writer(table::Bytes& out) { return std::make_unique<PerfettoWriter>(out); }

}  // namespace fade::timeline
