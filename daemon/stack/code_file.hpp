// The call frame information of one ELF file, with the rules made from it. All processes that map the file share it; it
// knows no load address. Addresses are of the file. Tracing thread only.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/fd.hpp"
#include "base/pid.hpp"
#include "base/result.hpp"
#include "elf/maps.hpp"
#include "stack/frame_rule.hpp"

struct Elf;
struct Dwarf;
struct Dwarf_CFI_s;

namespace fade {

class CodeFile {
 public:
  // Reads headers only. The file must be ELF64 for x86-64.
  static Result<std::shared_ptr<CodeFile>> open(Fd fd, std::string name);
  // An image that lies completely in memory: the vDSO.
  static Result<std::shared_ptr<CodeFile>> of_image(std::vector<std::byte> bytes, std::string name);

  const std::string& name() const { return name_; }
  // The load bias if the file's part from `offset` on is mapped as code at `begin`; nullopt: no part is loaded from
  // there.
  std::optional<std::uint64_t> bias(RemoteAddr begin, std::uint64_t offset) const;
  FrameRule rule(std::uint64_t address);
  // For Kind::Expressions; as step_by_cfi().
  bool step(std::uint64_t address, FrameRegisters& frame, const Memory& memory);

 private:
  struct Close {
    void operator()(::Elf* elf) const;
    void operator()(::Dwarf* dwarf) const;
    void operator()(::Dwarf_CFI_s* cfi) const;
    void operator()(::Dwarf_Frame_s* frame) const;
  };
  using Frame = std::unique_ptr<::Dwarf_Frame_s, Close>;
  struct Load {
    std::uint64_t offset = 0, size = 0, address = 0;
    bool is_code = false;
  };
  CodeFile() = default;
  Result<void> read_headers();
  bool has_section(const char* name) const;
  void find_information();
  Frame information(std::uint64_t address);

  Fd fd_;
  std::vector<std::byte> image_;
  std::string name_;
  std::unique_ptr<::Elf, Close> elf_;
  std::vector<Load> loads_;  // those with code, if the file has any
  bool has_looked_ = false;
  std::unique_ptr<::Dwarf_CFI_s, Close> eh_frame_;
  std::unique_ptr<::Dwarf, Close> dwarf_;  // set if the file has a .debug_frame
  ::Dwarf_CFI_s* debug_frame_ = nullptr;   // owned by dwarf_
  std::unordered_map<std::uint64_t, FrameRule> rules_;
};

// Each file once: as long as a process maps it, and a number of files beyond that.
class CodeFiles {
 public:
  // The file behind a mapping in the process of `thread`.
  Result<std::shared_ptr<CodeFile>> of(Tid thread, const elf::Mapping& mapping);

 private:
  struct Identity {
    std::uint64_t device = 0, inode = 0, size = 0;
    std::int64_t changed_ns = 0;
    auto operator<=>(const Identity&) const = default;
  };
  void make_room();

  std::map<Identity, std::shared_ptr<CodeFile>> files_;
};

}  // namespace fade
