#include "store/family_recorders.hpp"

namespace fade::store {

FamilyRecorders::FamilyRecorders(sqlite::Db& db, Failure& failure, Books& books)
    : streams(books),
      memory(books, streams),
      copies(books, streams),
      launches(db, failure, books, streams),
      graphs(books, streams, launches, copies, memory),
      modules(books),
      devices(db, failure, books, memory),
      gpu(books, streams, copies),
      books_(books) {}

void FamilyRecorders::record(RecordedCall& call, std::uint64_t told) {
  switch (call.function.family) {
    case CallFamily::Memory: return memory.record(call);
    case CallFamily::Launch: return launches.record(call, told);
    case CallFamily::Graph: return graphs.record(call);
    case CallFamily::ModuleLoad: return modules.load(call);
    case CallFamily::ModuleUnload: return modules.unload(call);
    case CallFamily::KernelName: return modules.name_kernel(call);
    case CallFamily::Copy: return copies.record(call);
    case CallFamily::StreamCreate: return streams.create(call);
    case CallFamily::StreamDestroy: return streams.destroy(call);
    case CallFamily::StreamSync: return streams.synchronize(call);
    case CallFamily::SetDevice: return devices.set_device(call);
    case CallFamily::DeviceQuery: return devices.query(call);
    case CallFamily::Marker: return record_marker(call);
    case CallFamily::Gpu: return gpu.record(call);
  }
}

namespace {

// Push gives the object at its return.
std::uint64_t object_of(const CallView& view) {
  const auto given = probes::out_value(view.probe, probes::Role::Object, view.record, view.payload);
  return given ? *given : view.value(probes::Role::Object).value_or(0);
}

}  // namespace

void FamilyRecorders::record_marker(const RecordedCall& call) {
  if (!call.returned) return;
  const CallView& view = call.view;
  books_.ranges.call({.kind = view.probe.kind,
                      .id = call.record.id,
                      .parent = call.record.parent,
                      .call = call.call,
                      .process = call.process,
                      .thread = call.thread.row,
                      .entry = call.at,
                      .exit = call.end,
                      .result = view.result(),
                      .range_id = view.value(probes::Role::RangeId).value_or(0),
                      .domain = view.value(probes::Role::RangeDomain).value_or(0),
                      .name = view.message(),
                      .has_object = view.probe.with_role(probes::Role::Object) != nullptr,
                      .object = object_of(view)});
}

}  // namespace fade::store
