#include "store/copy_words.hpp"

#include <algorithm>

#include "probes/call_facts.hpp"

namespace fade::store {

using probes::Role;
using In = probes::RoleWord::In;

namespace {

bool has_block(const probes::Probe& probe) {
  return std::ranges::any_of(probe.parameters, [](const probes::Parameter& parameter) {
    return parameter.pointee.cls == probes::TypeClass::Struct;
  });
}

bool is_near(const probes::RoleWord& word) { return word.in == In::Nowhere || word.in == In::Register; }

}  // namespace

CopyWords::CopyWords(const probes::Probe& probe) {
  if ((probe.kind != probes::Kind::Copy && probe.kind != probes::Kind::Set) || has_block(probe)) return;
  bytes_ = probe.word(Role::Bytes);
  source_ = probe.word(Role::Source);
  destination_ = probe.word(Role::Destination);
  kind_ = probe.word(Role::CopyKind);
  const bool is_one_number = bytes_.in == In::Register && probe.word(Role::Height).in == In::Nowhere &&
                             probe.word(Role::Depth).in == In::Nowhere;
  are_known_ = is_one_number && is_near(source_) && is_near(destination_) && is_near(kind_);
  if (are_known_ && kind_.in == In::Nowhere) named_kind_ = probes::copy_kind(probe, CallRecord{}, {});
}

}  // namespace fade::store
