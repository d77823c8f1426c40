#include "stack/code_file.hpp"

#include <elf.h>
#include <gtest/gtest.h>

#include <cstring>

namespace fade {
namespace {

constexpr std::uint64_t kBias = 0x5555'5555'0000;

std::shared_ptr<CodeFile> file_with(const std::vector<Elf64_Phdr>& loads) {
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_type = ET_DYN;
  header.e_machine = EM_X86_64;
  header.e_version = EV_CURRENT;
  header.e_ehsize = sizeof header;
  header.e_phoff = sizeof header;
  header.e_phentsize = sizeof(Elf64_Phdr);
  header.e_phnum = static_cast<Elf64_Half>(loads.size());
  std::vector<std::byte> bytes(0x4000);
  std::memcpy(bytes.data(), &header, sizeof header);
  std::memcpy(bytes.data() + sizeof header, loads.data(), loads.size() * sizeof loads[0]);
  return *CodeFile::of_image(std::move(bytes), "file");
}

Elf64_Phdr load(Elf64_Word flags, std::uint64_t offset, std::uint64_t address, std::uint64_t size) {
  return {.p_type = PT_LOAD,
          .p_flags = flags,
          .p_offset = offset,
          .p_vaddr = address,
          .p_paddr = address,
          .p_filesz = size,
          .p_memsz = size,
          .p_align = 0x1000};
}

// lld places parts of a file side by side, so a page of the file is mapped with each part that has bytes in it.
TEST(CodeFileBias, PartsThatShareAPageOfTheFileAreToldApart) {
  const auto file = file_with(
      {load(PF_R, 0, 0, 0x734), load(PF_R | PF_X, 0x740, 0x1740, 0x1900), load(PF_R | PF_W, 0x2040, 0x4040, 0x300)});
  EXPECT_EQ(file->bias({kBias + 0x1000}, 0), kBias);
  EXPECT_EQ(file->bias({kBias + 0x3000}, 0x2000), kBias) << "a mapping that was split";
}

TEST(CodeFileBias, OfTwoPartsWithCodeTheOneThatBeginsInThePageIsMeant) {
  const auto file = file_with({load(PF_R | PF_X, 0x400, 0x1400, 0x1100), load(PF_R | PF_X, 0x1510, 0x3510, 0x900)});
  EXPECT_EQ(file->bias({kBias + 0x1000}, 0), kBias);
  EXPECT_EQ(file->bias({kBias + 0x3000}, 0x1000), kBias);
}

// READ_IMPLIES_EXEC makes every mapping executable.
TEST(CodeFileBias, AFileWithoutCodeMayBeMappedAsCode) {
  EXPECT_EQ(file_with({load(PF_R, 0x1000, 0x2000, 0x500)})->bias({kBias + 0x2000}, 0x1000), kBias);
}

TEST(CodeFileBias, WhatIsNotLoadedHasNone) {
  EXPECT_EQ(file_with({load(PF_R | PF_X, 0x1000, 0x2000, 0x500)})->bias({kBias}, 0x3000), std::nullopt);
}

}  // namespace
}  // namespace fade
