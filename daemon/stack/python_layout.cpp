#include "stack/python_layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

namespace fade {
namespace {

using Layout = PythonLayout;

constexpr std::uint32_t kNewest = 15;
// limit for an interpreter's part in _PyRuntime; all other offsets are far below
constexpr std::uint32_t kMaxOffset = 1u << 24;
constexpr std::uint32_t kMaxSmallOffset = 1u << 12;

// From the headers of 3.10.13, 3.11.2, 3.11.7 and 3.12.1. The offsets are the same within a minor version.
const std::array<Layout, 3> kTables{{
    {.minor = 10,
     .interpreters = 32,
     .interpreter_next = 0,
     .threads = 8,
     .thread_next = 8,
     .thread_id = 176,
     .thread_frame = 24,
     .thread_previous = 0,
     .frame_code = 32,
     .frame_previous = 24,
     .frame_instruction = 96,
     .frame_generator = 88,
     .file = 104,
     .name = 112,
     .qualified_name = 112,
     .first_line = 40,
     .line_table = 120,
     .bytecode = 0,
     .ascii_text = 48,
     .compact_text = 72,
     .entry = Layout::Entry::EveryFrame,
     .instruction = Layout::Instruction::Index,
     .lines = Layout::Lines::Pairs},
    {.minor = 11,
     .interpreters = 40,
     .interpreter_next = 0,
     .threads = 16,
     .thread_next = 8,
     .thread_id = 152,
     .thread_frame = 56,
     .thread_previous = 0,
     .chunk = 296,
     .cframe_frame = 8,
     .frame_code = 32,
     .frame_previous = 48,
     .frame_instruction = 56,
     .frame_owner = 69,
     .frame_is_entry = 68,
     .file = 112,
     .name = 120,
     .qualified_name = 128,
     .first_line = 72,
     .line_table = 136,
     .bytecode = 184,
     .ascii_text = 48,
     .compact_text = 72,
     .entry = Layout::Entry::Flag},
    {.minor = 12,
     .interpreters = 40,
     .interpreter_next = 0,
     .threads = 72,
     .thread_next = 8,
     .thread_id = 136,
     .thread_frame = 56,
     .thread_previous = 0,
     .chunk = 232,
     .cframe_frame = 0,
     .frame_code = 0,
     .frame_previous = 8,
     .frame_instruction = 56,
     .frame_owner = 70,
     .file = 112,
     .name = 120,
     .qualified_name = 128,
     .first_line = 68,
     .line_table = 136,
     .bytecode = 192,
     .ascii_text = 40,
     .compact_text = 56,
     .entry = Layout::Entry::Shim},
}};

// The places of the offsets in _Py_DebugOffsets, per minor version; the order is the order of kMembers.
constexpr std::array kMembers{&Layout::interpreters,
                              &Layout::interpreter_next,
                              &Layout::threads,
                              &Layout::generation,
                              &Layout::thread_previous,
                              &Layout::thread_next,
                              &Layout::thread_frame,
                              &Layout::thread_id,
                              &Layout::chunk,
                              &Layout::frame_previous,
                              &Layout::frame_code,
                              &Layout::frame_instruction,
                              &Layout::frame_owner,
                              &Layout::file,
                              &Layout::name,
                              &Layout::qualified_name,
                              &Layout::line_table,
                              &Layout::first_line,
                              &Layout::bytecode,
                              &Layout::bytes_size,
                              &Layout::bytes_data,
                              &Layout::text_state,
                              &Layout::text_length,
                              &Layout::ascii_text};

struct DebugOffsets {
  std::uint32_t minor;
  std::uint16_t size;
  std::array<std::uint16_t, kMembers.size()> at;  // 0: the version lacks this value
  bool marked_references, has_base_frame;
};

// From the headers of 3.13.0 and 3.13.18, 3.14.10 and 3.15.2.
constexpr std::array<DebugOffsets, 3> kDebugOffsets{{
    {13,
     584,
     {40,  64,  72,  0,   160, 168, 184, 192, 208, 232, 240, 248,
      264, 280, 288, 296, 304, 312, 344, 520, 528, 544, 552, 560},
     false,
     false},
    {14,
     760,
     {40,  64,  72,  160, 184, 192, 208, 216, 232, 256, 264, 272,
      288, 320, 328, 336, 344, 352, 384, 600, 608, 624, 632, 640},
     true,
     false},
    {15,
     888,
     {40,  64,  72,  160, 184, 192, 208, 240, 256, 320, 328, 336,
      352, 384, 392, 400, 408, 416, 448, 696, 704, 720, 728, 736},
     true,
     true},
}};

constexpr std::string_view kCookie = "xdebugpy";
constexpr std::uint32_t kVersionAt = 8, kFreeThreadedAt = 16;
constexpr std::uint32_t kCompactMore = 16;  // PyCompactUnicodeObject has two more words than PyASCIIObject

struct Version {
  std::uint32_t hex = 0;  // PY_VERSION_HEX
  std::uint32_t major() const { return hex >> 24; }
  std::uint32_t minor() const { return hex >> 16 & 0xff; }
  bool before_candidate() const { return hex != 0 && (hex >> 4 & 0xf) < 0xc; }
  std::string text() const { return fmt::format("{}.{}.{}", major(), minor(), hex >> 8 & 0xff); }
};

tl::unexpected<Error> unreadable(std::string which, std::string why) {
  return fail(
      fmt::format("the Python stacks of {} cannot be read", which), std::move(why),
      "native stacks are recorded; for Python's use a release build of CPython 3.10 to 3." + std::to_string(kNewest));
}

template <class T, std::size_t N>
const T* row_of(const std::array<T, N>& rows, std::uint32_t minor) {
  const auto row = std::find_if(rows.begin(), rows.end(), [&](const T& r) { return r.minor == minor; });
  return row == rows.end() ? nullptr : &*row;
}

tl::unexpected<Error> unknown_version(Version version) {
  const bool newer = version.major() > 3 || (version.major() == 3 && version.minor() > kNewest);
  return unreadable("Python " + version.text(),
                    newer ? "it is newer than what this fade knows" : "it is none of the versions that fade knows");
}

std::optional<Layout> layout_from(const DebugOffsets& row, RemoteAddr runtime, const Memory& memory) {
  std::array<std::byte, 1024> bytes;
  if (!memory.read_exactly(runtime, std::span(bytes).first(row.size))) return std::nullopt;
  Layout out{.minor = row.minor};
  for (std::size_t i = 0; i < kMembers.size(); ++i) {
    if (row.at[i] == 0) continue;
    std::uint64_t value = 0;
    std::memcpy(&value, bytes.data() + row.at[i], sizeof value);
    if (value >= (i < 4 ? kMaxOffset : kMaxSmallOffset)) return std::nullopt;  // the first four are in large structures
    out.*kMembers[i] = static_cast<std::uint32_t>(value);
  }
  out.compact_text = out.ascii_text + kCompactMore;
  out.has_base_frame = row.has_base_frame;
  if (row.marked_references) out.object_mask = ~7ull;
  return out;
}

Result<Layout> describing_itself(Version version, RemoteAddr runtime, const Memory& memory) {
  const std::string name = "Python " + version.text();
  if (memory.value<std::uint64_t>(runtime + kFreeThreadedAt).value_or(1) != 0)
    return unreadable("free-threaded " + name, "builds without the GIL keep their frames in another way");
  if (version.before_candidate()) return unreadable(name, "it is a preview, whose inner layout was still changing");
  const auto* row = version.major() == 3 ? row_of(kDebugOffsets, version.minor()) : nullptr;
  if (!row) return unknown_version(version);
  if (const auto layout = layout_from(*row, runtime, memory)) return *layout;
  return unreadable(name, "what it says of its own layout makes no sense");
}

// Py_Version exists since 3.11, PyIter_Send since 3.10.
Result<Version> version_by_symbols(const elf::DynamicImage& image, const Memory& memory) {
  if (const auto symbol = image.lookup("Py_Version"))
    return Version{static_cast<std::uint32_t>(memory.value<std::uint64_t>(image.address(*symbol)).value_or(0))};
  if (image.lookup("PyIter_Send")) return Version{0x030a0000};
  return unreadable("this Python", "it is older than 3.10");
}

Result<Layout> by_table(Version version) {
  const auto* row = version.major() == 3 ? row_of(kTables, version.minor()) : nullptr;
  if (!row || (version.minor() != 10 && version.before_candidate())) return unknown_version(version);
  return *row;
}

}  // namespace

std::uint32_t PythonLayout::frame_size() const {
  return std::max({frame_code, frame_previous, frame_instruction, frame_owner == kNone ? 0 : frame_owner}) + 8;
}

std::uint32_t PythonLayout::thread_size() const {
  return std::max({thread_next, thread_id, thread_frame, thread_previous == kNone ? 0 : thread_previous,
                   chunk == kNone ? 0 : chunk}) +
         8;
}

std::uint32_t PythonLayout::code_size() const {
  return std::max({file, name, qualified_name, first_line, line_table}) + 8;
}

Result<std::optional<PythonInterpreter>> find_python(const elf::DynamicImage& image, const Memory& memory) {
  if (image.soname().starts_with("libpypy")) return unreadable("PyPy", "fade reads those of CPython only");
  const auto symbol = image.lookup("_PyRuntime");
  if (!symbol) return std::nullopt;
  const RemoteAddr runtime = image.address(*symbol);
  const auto cookie = memory.value<std::array<char, 8>>(runtime);
  if (!cookie) return unreadable("this Python", "its memory cannot be read");
  const bool describes_itself = std::string_view(cookie->data(), cookie->size()) == kCookie;
  const auto version = describes_itself ? Result<Version>(Version{static_cast<std::uint32_t>(
                                              memory.value<std::uint64_t>(runtime + kVersionAt).value_or(0))})
                                        : version_by_symbols(image, memory);
  if (!version) return tl::unexpected(version.error());
  const bool exact = (version->hex & 0xffff) != 0;
  const std::string text = exact ? version->text() : fmt::format("{}.{}", version->major(), version->minor());
  if (image.lookup("_Py_NegativeRefcount"))
    return unreadable("Python " + text, "it is a debug build (Py_DEBUG), whose objects have other layouts");
  const auto layout = describes_itself ? describing_itself(*version, runtime, memory) : by_table(*version);
  if (!layout) return tl::unexpected(layout.error());
  return PythonInterpreter{*layout, runtime, text};
}

}  // namespace fade
