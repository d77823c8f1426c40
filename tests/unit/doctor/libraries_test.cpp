// Rows about programs and the libraries that the loader would take for them. The files are real, made by the compiler.
#include <cstdlib>

#include "doctor/this_machine.hpp"
#include "fake_machine.hpp"

namespace fade::doctor {
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::Field;
using ::testing::Not;

struct LibrariesTest : FakeMachine {
  // A library or a program, without libc. `flags`: further ones for the linker.
  void build(const std::string& path, const std::string& flags) const {
    file(path, "");
    const char* compiler = std::getenv("CXX") ? std::getenv("CXX") : "c++";
    const std::string command =
        fmt::format("{} -nostdlib -x c /dev/null -x none -Wl,--no-as-needed,--allow-shlib-undefined {} -o {}{}",
                    compiler, flags, x.root, path);
    ASSERT_EQ(std::system(command.c_str()), 0) << command;
  }
  void library(const std::string& path, const std::string& soname, const std::string& flags = {}) const {
    build(path, fmt::format("-shared -Wl,-soname,{} {}", soname, flags));
  }
  void program(const std::string& flags) {
    build("/app/train", "-pie -Wl,-e,0,--dynamic-linker,/lib64/ld-linux-x86-64.so.2 " + flags);
    x.program = "/app/train";
  }
  std::string at(const std::string& path) const { return x.root + path; }
};

TEST_F(LibrariesTest, NoCopy) {
  EXPECT_THAT(line("copies"), Warns("no libamdhip64", "install HIP"));
  EXPECT_THAT(line("libcuda"), None("no libcuda.so.1"));
}

TEST_F(LibrariesTest, TwoCopies) {
  library("/usr/lib/x86_64-linux-gnu/libamdhip64.so.5.2.21153", "libamdhip64.so.5");
  std::filesystem::create_symlink("libamdhip64.so.5.2.21153", at("/usr/lib/x86_64-linux-gnu/libamdhip64.so.5"));
  library("/opt/rocm-6.4.3/lib/libamdhip64.so.6.4.60403", "libamdhip64.so.6");
  const auto found = lines("libamdhip64");
  ASSERT_EQ(found.size(), 2u);
  EXPECT_THAT(found[0], Ok("libamdhip64.so.5 (5.2.21153): taken for libamdhip64.so.5 (ld.so.cache or system folders)"));
  EXPECT_THAT(found[1], None("the loader does not find it by its name"));
  EXPECT_THAT(line("copies"), Warns("2 copies", "fade doctor -- COMMAND"));
}

TEST_F(LibrariesTest, LibraryPathWins) {
  library("/usr/lib/x86_64-linux-gnu/libamdhip64.so.6", "libamdhip64.so.6");
  library("/srv/lib/libamdhip64.so.6", "libamdhip64.so.6");
  x.environment = {{"LD_LIBRARY_PATH=/nowhere:/srv/lib"}};
  EXPECT_THAT(line("libamdhip64"), Ok("/srv/lib/libamdhip64.so.6: taken for libamdhip64.so.6 (LD_LIBRARY_PATH)"));
}

TEST_F(LibrariesTest, RunpathOfTheProgram) {
  library("/app/lib/libamdhip64.so.6", "libamdhip64.so.6");
  program(fmt::format("{} -Wl,--enable-new-dtags,-rpath,'$ORIGIN/lib'", at("/app/lib/libamdhip64.so.6")));
  EXPECT_THAT(line("file"), Ok("/app/train"));
  EXPECT_THAT(line("libraries"), Ok("1 are loaded with it, and all are found"));
  EXPECT_THAT(line("libamdhip64.so.6"), Ok("/app/lib/libamdhip64.so.6, by RUNPATH"));
  library("/srv/lib/libamdhip64.so.6", "libamdhip64.so.6");
  x.environment = {{"LD_LIBRARY_PATH=/srv/lib"}};
  EXPECT_THAT(line("libamdhip64.so.6"), Ok("/srv/lib/libamdhip64.so.6, by LD_LIBRARY_PATH"));
}

TEST_F(LibrariesTest, RpathWinsOverTheLibraryPath) {
  library("/app/lib/libamdhip64.so.6", "libamdhip64.so.6");
  library("/srv/lib/libamdhip64.so.6", "libamdhip64.so.6");
  program(fmt::format("{} -Wl,--disable-new-dtags,-rpath,'$ORIGIN/lib'", at("/app/lib/libamdhip64.so.6")));
  x.environment = {{"LD_LIBRARY_PATH=/srv/lib"}};
  EXPECT_THAT(line("libamdhip64.so.6"), Ok("/app/lib/libamdhip64.so.6, by RPATH"));
}

TEST_F(LibrariesTest, MissingLibraries) {
  library("/opt/rocm-6.4.3/lib/libamdhip64.so.6", "libamdhip64.so.6");
  library("/build/libother.so", "libother.so.1");
  program(at("/opt/rocm-6.4.3/lib/libamdhip64.so.6") + " " + at("/build/libother.so"));
  EXPECT_THAT(lines("libraries"), Contains(Refuses("libamdhip64.so.6 is not found; train needs it",
                                                   "LD_LIBRARY_PATH=/opt/rocm-6.4.3/lib fade run")));
  EXPECT_THAT(lines("libraries"), Contains(Refuses("libother.so.1 is not found", "ldconfig")));
}

TEST_F(LibrariesTest, TwoCopiesInOneProcess) {
  library("/a/libamdhip64.so.6", "libamdhip64.so.6");
  library("/a/libamdhip64.so.7", "libamdhip64.so.7");
  library("/a/libattention.so", "libattention.so", at("/a/libamdhip64.so.7"));
  program(at("/a/libamdhip64.so.6") + " " + at("/a/libattention.so"));
  x.environment = {{"LD_LIBRARY_PATH=/a"}};
  EXPECT_THAT(line("taken"), Refuses("2 copies of libamdhip64 would be loaded", "make all libraries use one"));
}

TEST_F(LibrariesTest, NotLinkedWithHip) {
  program("");
  EXPECT_THAT(line("taken"), Warns("not linked with HIP, and no libamdhip64", "LD_LIBRARY_PATH"));
  library("/usr/lib/x86_64-linux-gnu/libamdhip64.so.6", "libamdhip64.so.6");
  EXPECT_THAT(line("taken"), None("may load one of these"));
  EXPECT_THAT(line("libamdhip64"), Ok("taken for libamdhip64.so.6"));
}

TEST_F(LibrariesTest, PyTorch) {
  build("/venv/bin/python3", "-pie -Wl,-e,0,--dynamic-linker,/lib64/ld-linux-x86-64.so.2");
  file("/venv/bin/torchrun", "#!/usr/bin/env python3\n");
  file("/venv/lib/python3.11/site-packages/torch/version.py", "");
  x.environment = {{"PATH=/venv/bin:/bin"}};
  x.program = "/venv/bin/torchrun";
  EXPECT_THAT(line("file"), Ok("/venv/bin/torchrun, run by /venv/bin/python3"));
  EXPECT_THAT(line("PyTorch"), Warns("no build for ROCm", "pip install torch"));
  file("/venv/lib/python3.11/site-packages/torch/lib/libtorch_hip.so", "");
  library("/venv/lib/python3.11/site-packages/torch/lib/libamdhip64.so", "libamdhip64.so.7");
  EXPECT_THAT(line("PyTorch"), Ok("is a build for ROCm"));
  EXPECT_THAT(line("libamdhip64"), None("site-packages/torch/lib/libamdhip64.so"));
}

// A virtual environment with a build of PyTorch for ROCm, which has code for two GPUs.
struct TorchTest : LibrariesTest {
  const std::string torch = "/venv/lib/python3.11/site-packages/torch";

  void SetUp() override {
    LibrariesTest::SetUp();
    build("/venv/bin/python3", "-pie -Wl,-e,0,--dynamic-linker,/lib64/ld-linux-x86-64.so.2");
    file(torch + "/version.py",
         "from typing import Optional\n__version__ = '2.5.1+rocm6.2'\ndebug = False\ncuda: Optional[str] = None\n"
         "hip: Optional[str] = '6.2.41133'\n");
    x.environment = {{"PATH=/venv/bin:/bin"}};
    x.program = "/venv/bin/python3";
  }
  // Bundles of clang begin with a magic, then offset, size and name of each entry.
  void torch_for(const std::vector<std::string>& targets, const std::string& flags = {}) const {
    std::string text = ".section .hip_fatbin,\"a\"\n.ascii \"__CLANG_OFFLOAD_BUNDLE__\"\n.quad " +
                       std::to_string(targets.size() + 1) + "\n";
    std::vector<std::string> entries{"host-x86_64-unknown-linux--"};
    for (const std::string& target : targets) entries.push_back("hipv4-amdgcn-amd-amdhsa--" + target);
    for (const std::string& entry : entries)
      text +=
          fmt::format(".quad 2048, {}, {}\n.ascii \"{}\"\n", entry.starts_with("hip") ? 16 : 0, entry.size(), entry);
    file("/build/code.s", text + ".balign 4096\n.fill 64\n");
    library(torch + "/lib/libtorch_hip.so", "libtorch_hip.so", at("/build/code.s") + " " + flags);
  }
};

TEST_F(TorchTest, BuildForRocm) {
  torch_for({"gfx1030"});
  EXPECT_THAT(line("PyTorch"), Ok("is a build for ROCm (2.5.1+rocm6.2, HIP 6.2.41133)"));
}

TEST_F(TorchTest, BuildForCuda) {
  file(torch + "/version.py",
       "__version__ = '2.5.1+cu121'\ncuda: Optional[str] = \"12.1\"\nhip: Optional[str] = None\n");
  EXPECT_THAT(line("PyTorch"), Warns("no build for ROCm (2.5.1+cu121, CUDA 12.1)", "pip install torch"));
  EXPECT_THAT(lines("targets"), ::testing::IsEmpty());
}

TEST_F(TorchTest, CodeForTheCard) {
  torch_for({"gfx1030", "gfx90a:xnack-"});
  EXPECT_THAT(line("targets"), Ok("libtorch_hip.so has code for gfx1030, gfx90a, and so for gfx1030"));
  torch_for({"gfx1100", "gfx90a"});
  EXPECT_THAT(line("targets"), Refuses("code for gfx1100, gfx90a, none for this machine's gfx1030", "gfx1030"));
  x.environment->push_back("HSA_OVERRIDE_GFX_VERSION=9.0.10");
  EXPECT_THAT(line("targets"), Ok("and so for gfx90a"));
}

TEST_F(TorchTest, CodeForAFamily) {
  torch_for({"gfx10-3-generic"});
  EXPECT_THAT(line("targets"), Ok("and so for gfx1030"));
  torch_for({"gfx11-generic"});
  EXPECT_THAT(line("targets"), Refuses("none for this machine's gfx1030", "build"));
}

TEST_F(TorchTest, KernelsOfRocblas) {
  torch_for({"gfx1030"});
  file(torch + "/lib/rocblas/library/TensileLibrary_Type_HH_Contraction_gfx90a.co", "");
  file(torch + "/lib/rocblas/library/Kernels.so-000-gfx942-xnack+.hsaco", "");
  file(torch + "/lib/rocblas/library/TensileManifest.txt", "");
  EXPECT_THAT(lines("targets"), Contains(Refuses("rocblas has code for gfx90a, gfx942, none", "gfx1030")));
}

TEST_F(TorchTest, ABrokenLibraryIsSaid) {
  file(torch + "/lib/libtorch_hip.so", "no library");
  EXPECT_THAT(line("targets"), None("cannot be read"));
  library(torch + "/lib/libtorch_hip.so", "libtorch_hip.so");
  EXPECT_THAT(line("targets"), None("cannot be read"));
}

TEST_F(TorchTest, CopiesThatCompete) {
  library(torch + "/lib/libamdhip64.so", "libamdhip64.so.6");
  library("/opt/rocm-6.4.3/lib/libamdhip64.so.6", "libamdhip64.so.6");
  torch_for({"gfx1030"}, at("/opt/rocm-6.4.3/lib/libamdhip64.so.6"));
  EXPECT_THAT(line("libamdhip64.so.6"), Refuses("libamdhip64.so.6 is not found", "LD_LIBRARY_PATH"));
  x.environment->push_back("LD_LIBRARY_PATH=/opt/rocm-6.4.3/lib");
  EXPECT_THAT(
      line("libamdhip64.so.6"),
      Warns("/opt/rocm-6.4.3/lib/libamdhip64.so.6, by LD_LIBRARY_PATH: PyTorch has a copy", "unset LD_LIBRARY_PATH"));
}

TEST_F(TorchTest, VariablesOfBuilds) {
  EXPECT_THAT(lines("CONDA_PREFIX"), ::testing::IsEmpty());
  *x.environment = {"PATH=/bin", "CONDA_PREFIX=/opt/conda", "VIRTUAL_ENV=/venv", "PYTORCH_ROCM_ARCH=gfx90a"};
  EXPECT_THAT(line("CONDA_PREFIX"), Warns("which the program is not in", "activate"));
  EXPECT_THAT(line("VIRTUAL_ENV"), Ok("/venv: the virtual environment"));
  EXPECT_THAT(line("PYTORCH_ROCM_ARCH"), Ok("gfx90a: extensions of PyTorch"));
}

TEST_F(TorchTest, PackagesOfTheSystem) {
  file("/usr/lib/python3/dist-packages/torch/version.py", "__version__ = '1.13.1'\n");
  file("/venv/pyvenv.cfg", "home = /usr/bin\ninclude-system-site-packages = false\n");
  EXPECT_EQ(lines("PyTorch").size(), 1u);
  file("/venv/pyvenv.cfg", "home = /usr/bin\ninclude-system-site-packages = true\n");
  const auto found = lines("PyTorch");
  ASSERT_EQ(found.size(), 3u);
  EXPECT_THAT(found[1], Warns("/usr/lib/python3/dist-packages/torch is no build for ROCm (1.13.1)", "pip"));
  EXPECT_THAT(found[2], Warns("imports the first of these", "remove"));
}

TEST_F(LibrariesTest, Zluda) {
  library("/opt/rocm/lib/libamdhip64.so.6", "libamdhip64.so.6");
  library("/zluda/libcuda.so.1", "libcuda.so.1", at("/opt/rocm/lib/libamdhip64.so.6"));
  x.environment = {{"LD_LIBRARY_PATH=/zluda"}};
  EXPECT_THAT(line("libcuda"), Refuses("ZLUDA, but its libamdhip64.so.6 is not found", "/opt/rocm/lib"));
  x.environment = {{"LD_LIBRARY_PATH=/zluda:/opt/rocm/lib"}};
  EXPECT_THAT(line("libcuda"), Ok("/zluda/libcuda.so.1, by LD_LIBRARY_PATH: ZLUDA"));
  library("/zluda/libcuda.so.1", "libcuda.so.1");
  EXPECT_THAT(line("libcuda"), None("not ZLUDA"));
}

TEST_F(LibrariesTest, ProgramFiles) {
  file("/app/static", "no program");
  x.program = "/app/static";
  EXPECT_THAT(line("file"), Refuses("no program for 64-bit x86", "name the program"));
  build("/app/static", "-static -Wl,-e,0");
  EXPECT_THAT(line("file"), Refuses("a static program cannot load HIP", "dynamically"));
  program("");
  mode("/app/train", 04755);
  EXPECT_THAT(line("file"), Warns("set-uid", "sudo"));
  x.program.clear();
  x.refused = "cannot run 'x': no such program in PATH";
  EXPECT_THAT(line("file"), Refuses("no such program in PATH", "give its path"));
  EXPECT_THAT(lines("copies"), ::testing::IsEmpty()) << "a program was asked for";
}

TEST_F(LibrariesTest, OfAProcess) {
  process(kProcess);
  x.pid = kProcess;
  EXPECT_THAT(line("loaded"), None("not loaded HIP"));
  file("/proc/42/maps",
       "7f0000000000-7f0000001000 r-xp 00000000 08:01 11 /opt/rocm-6.4.3/lib/libamdhip64.so.6.4.60403\n"
       "7f0000002000-7f0000003000 r-xp 00000000 08:01 12 /usr/lib/libc.so.6\n");
  EXPECT_THAT(line("libamdhip64"), Ok("/opt/rocm-6.4.3/lib/libamdhip64.so.6.4.60403"));
  file("/proc/42/maps",
       "7f0000000000-7f0000001000 r-xp 00000000 08:01 11 /opt/rocm-6.4.3/lib/libamdhip64.so.6.4.60403\n"
       "7f0000002000-7f0000003000 r-xp 00000000 08:01 12 /app/torch/lib/libamdhip64.so\n");
  EXPECT_THAT(line("loaded"), Warns("2 copies of libamdhip64 are loaded", "fade-query redirects"));
}

TEST(ThisMachine, EachCheckAnswers) {
  const std::vector<Line> lines = examine(this_machine());
  EXPECT_THAT(lines, Each(Field(&Line::text, Not(""))));
  EXPECT_GE(lines.size(), 18u);
  EXPECT_THAT(with_program("fade-no-such-program").refused, ::testing::HasSubstr("no such program in PATH"));
}

}  // namespace
}  // namespace fade::doctor
