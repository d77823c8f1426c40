#include "session/code_images.hpp"

#include "base/glob.hpp"
#include "elf/code_image.hpp"
#include "elf/maps.hpp"
#include "probes/arguments.hpp"

namespace fade {
namespace {

constexpr std::size_t kImageParameter = 1;  // behind the handle, in every function of that kind
// 'HIPF', the argument of __hipRegisterFatBinary: the image's address is at 8
constexpr std::uint32_t kWrapper = 0x48495046;

// Where the runtime has mapped the file of that name; the newest mapping of several.
RemoteAddr mapped_image(const Thread& thread, std::string_view path) {
  const auto maps = elf::read_maps(thread.tid);
  RemoteAddr found;
  if (!maps) return found;
  for (const elf::Mapping& mapping : maps->all())
    if (mapping.has_file() && mapping.offset == 0 && base_name(mapping.path) == base_name(path))
      found = mapping.range.begin;
  return found;
}

RemoteAddr image_of(const Thread& thread, const Memory& memory, const probes::Probe& probe, const OpenCall& call) {
  const probes::Parameter& parameter = probe.parameters[kImageParameter];
  if (parameter.type.cls == probes::TypeClass::CString) {
    const auto path = probes::string_argument(probe, parameter, call.record, call.payload);
    return path && !path->empty() ? mapped_image(thread, *path) : RemoteAddr();
  }
  const RemoteAddr given{probes::argument(probe, parameter, call.record, call.payload)};
  if (memory.value<std::uint32_t>(given) != kWrapper) return given;
  return {memory.value<std::uint64_t>(given + 8).value_or(0)};
}

}  // namespace

void read_code_image(const Thread& thread, const probes::Probe& probe, OpenCall& call) {
  if (probe.api != "hip" || probe.parameters.size() <= kImageParameter) return;
  const Memory& memory = thread.memory();
  const RemoteAddr image = image_of(thread, memory, probe, call);
  if (!image) return;
  const auto found = elf::carry(memory, image);
  if (!found.empty()) append_piece(call.payload, {.kind = PieceKind::In, .param = kImageParameter}, found);
}

}  // namespace fade
