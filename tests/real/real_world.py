"""AMD's runtimes as the tests see them: where they are unpacked, how programs are built for them and started.

Owns folders and command lines. Knows nothing of what the programs print, nor of fade's database.
"""
import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
PROGRAMS = HERE / "programs"
MODEL = HERE / "model"
LIBRARIES = "usr/lib/x86_64-linux-gnu"
# What a developer's own settings would change in AMD's answers.
FOREIGN = ("HIP", "HSA", "ROC", "GPU_", "AMD_", "CUDA_", "LD_", "FADE_", "PYTHON")


def run_checked(command, **options):
    """Runs a tool of ours; its failure is a failure of the test, with its words."""
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors="replace", **options)
    if done.returncode != 0:
        raise AssertionError(f"{' '.join(map(str, command))}\nended with {done.returncode}:\n{done.stdout[-6000:]}")
    return done.stdout


def is_older(target, sources):
    return not target.exists() or any(target.stat().st_mtime < source.stat().st_mtime for source in sources)


def clean_environment():
    return {name: value for name, value in os.environ.items() if not name.startswith(FOREIGN)}


@dataclass
class Release:
    """One release of the runtime: unpacked under folder/sysroot, its programs built under folder/bin."""
    version: str
    folder: Path
    environment: dict = field(default_factory=clean_environment)

    def __post_init__(self):
        self.sysroot = self.folder / "sysroot"
        self.root = self.sysroot / "root"
        self.libraries = self.root / LIBRARIES
        self.bin = self.folder / "bin"
        # The runtime compiles kernels of its own at each start. A cache of the tests' own saves most of that.
        self.environment |= {"AMD_COMGR_CACHE": "1", "AMD_COMGR_CACHE_DIR": str(self.folder / "comgr-cache")}

    def unpack(self):
        return run_checked([HERE / "sysroot.sh", self.sysroot, self.version], timeout=900)

    def make(self, target, sources, command, **options):
        if is_older(target, [*sources, PROGRAMS / "called.hpp"]):
            target.parent.mkdir(parents=True, exist_ok=True)
            run_checked(command, timeout=300, **options)
        return target


class Release523(Release):
    """Debian 12's own: runs on the machine's C library. There is no GPU, and it says so."""
    card = "gfx1030"
    python_arguments = ("libamdhip64.so.5", "libamdhip64.so.5", "gfx1030")

    def hipcc(self):
        """The command and the environment of Debian's hipcc in its unpacked place."""
        usr = self.root / "usr"
        environment = {**self.environment, "LD_LIBRARY_PATH": str(self.libraries), "HIP_PATH": str(usr),
                       "ROCM_PATH": str(usr), "HSA_PATH": str(usr), "HIP_CLANG_PATH": str(usr / "lib/llvm-15/bin"),
                       "DEVICE_LIB_PATH": str(self.libraries / "amdgcn/bitcode")}
        return ["perl", usr / "bin/hipcc", "-std=c++17", "-O1", "-g"], environment

    def build(self):
        command, environment = self.hipcc()
        # DT_RPATH, unlike RUNPATH, also serves the libraries that the libraries need.
        link = [f"-L{self.libraries}", f"-Wl,--disable-new-dtags,-rpath,{self.libraries}", "-lpthread"]
        for name in ("tour.cpp", "module.cpp", "threads.cpp", "launch.hip"):
            source, target = PROGRAMS / name, self.bin / Path(name).stem
            self.make(target, [source], [*command, f"--offload-arch={self.card}",
                                         "-nogpulib", source, "-o", target, *link],
                      env=environment)

    def command(self, program):
        if program == "train":
            return ["/usr/bin/python3", PROGRAMS / "train.py", *self.python_arguments]
        return [self.bin / program]

    def variables(self, program):
        """What the program needs in its environment beside self.environment."""
        # The programs' run path does not reach what libLLVM needs (libedit): that library has a run path of its own.
        return {"LD_LIBRARY_PATH": str(self.libraries)}


class Release724(Release):
    """Debian experimental's: runs on sid's C library through sid's loader, on the simulated card."""
    card = "gfx1100"
    major = 7
    python_arguments = ("libamdhip64.so.7", "libhiprtc.so.7", "gfx1100")

    def __post_init__(self):
        super().__post_init__()
        self.loader = self.root / "usr/lib64/ld-linux-x86-64.so.2"
        self.topology = self.folder / "topology"
        self.model = self.bin / "libmodel.so"
        self.early = self.bin / "libearly.so"

    def build(self, compiler):
        """compiler: a Release523, whose clang compiles the kernels."""
        self.build_card()
        headers = ["-D__HIP_PLATFORM_AMD__", "-isystem", self.root / "usr/include"]
        self.build_programs(compiler, headers)

    def build_card(self):
        assert len(str(self.topology)) < 180, f"libhsakmt cuts longer paths than this: {self.topology}"
        run_checked([sys.executable, MODEL / "topology.py", self.topology])
        cc = ["gcc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-O2", "-g", "-fPIC", "-shared"]
        runtime = [f"-L{self.libraries}", "-l:libhsa-runtime64.so.1", "-Wl,--allow-shlib-undefined", "-lpthread"]
        self.make(self.model, [MODEL / "model.c", MODEL / "model.h"],
                  [*cc, "-fvisibility=hidden", MODEL / "model.c", "-o", self.model, "-lpthread"])
        early = [MODEL / "early_init.c", MODEL / "clock.c"]
        self.make(self.early, early, [*cc, *early, "-o", self.early, *runtime])

    def build_programs(self, compiler, headers):
        for name in ("tour", "module", "threads"):
            source = PROGRAMS / f"{name}.cpp"
            self.link(name, [source], ["-std=c++17", "-Wall", "-O1", "-g", *headers, source])
        # The card's own layout of hipDeviceProp_t (R0600), and programs of the 5.x era, which ask for the old one.
        self.link_kernels(compiler, "launch", "launch.hip", headers, hipcc=False)
        self.link_kernels(compiler, "paths", "paths.hip", headers, hipcc=False)
        self.make_code(compiler, "paths.co", "paths_device.hip")
        self.link_kernels(compiler, "launch_5x", "launch.hip", [], hipcc=True)
        self.link_kernels(compiler, "tour_5x", "tour.cpp", [], hipcc=True)
        self.link("tour_direct", [PROGRAMS / "tour.cpp", MODEL / "early_init.c"],
                  ["-std=c++17", "-O1", "-g", *headers, PROGRAMS / "tour.cpp"], direct=True)

    def link_kernels(self, compiler, name, source, headers, hipcc):
        """Compiles kernels for the card: with Debian's clang and 7.2's headers, or wholly with 5.2.3's hipcc."""
        command, environment = compiler.hipcc()
        if not hipcc:
            command = [compiler.root / "usr/lib/llvm-15/bin/clang++", "-x", "hip",
                       "-std=c++17", "-O1", "-g", "-nogpuinc"]
        object_file = self.bin / f"{name}.o"
        self.make(object_file, [PROGRAMS / source],
                  [*command, f"--offload-arch={self.card}", "-nogpulib", *headers,
                   "-c", PROGRAMS / source, "-o", object_file],
                  env=environment)
        self.link(name, [object_file], [object_file])

    def make_code(self, compiler, name, source):
        """A code object alone, as hipModuleLoad takes it."""
        _, environment = compiler.hipcc()
        self.make(self.bin / name, [PROGRAMS / source],
                  [compiler.root / "usr/lib/llvm-15/bin/clang++", "-x", "hip", "-O1",
                   "-nogpuinc", "-nogpulib", "--cuda-device-only", "--no-gpu-bundle-output",
                   "-mcode-object-version=5", "-mcumode", f"--offload-arch={self.card}",
                   PROGRAMS / source, "-o", self.bin / name], env=environment)

    def link(self, name, sources, arguments, direct=False):
        """direct: the program names the sysroot's loader itself, as an installed program names the system's."""
        target = self.bin / name
        link = [f"-L{self.libraries}", "-Wl,--as-needed", f"-l:libamdhip64.so.{self.major}",
                f"-l:libhiprtc.so.{self.major}", "-lpthread",
                "-Wl,--allow-shlib-undefined"]
        if direct:
            link += [f"-Wl,--dynamic-linker={self.loader}", f"-L{self.bin}", "-Wl,--no-as-needed", "-l:libearly.so"]
        self.make(target, sources, ["g++", *arguments, "-o", target, *link], env=self.environment)

    def command(self, program):
        if program.endswith("_direct"):
            return [self.bin / program]
        start = [self.loader, "--library-path", self.libraries, "--preload", self.early]
        if program == "train":
            return [*start, self.root / "usr/bin/python3", PROGRAMS / "train.py", *self.python_arguments]
        return [*start, self.bin / program]

    def variables(self, program):
        """What the program needs in its environment beside self.environment."""
        own = {}
        if program == "train":
            own = {"PYTHONHOME": str(self.root / "usr")}
        elif program.endswith("_direct"):
            # Not in the program's RPATH: libLLVM has a RUNPATH of its own, which hides it for what libLLVM needs.
            own = {"LD_LIBRARY_PATH": f"{self.libraries}:{self.bin}"}
        return {"HSA_MODEL_TOPOLOGY": str(self.topology), "HSA_MODEL_LIB": str(self.model), **own}


class ReleaseLibraries(Release724):
    """The libraries above HIP 7.2.4: their bench programs, and library_calls.py, on the simulated card."""
    benches = {"rocblas-bench": "librocblas5-bench", "hipblaslt-bench": "libhipblaslt1-bench"}

    @property
    def preloaded(self):
        return [self.early, self.bin / "libsmi.so", self.bin / "libsysfs.so"]

    def build(self):
        self.build_card()
        # The card of another rank: libhsakmt's model allows a process one card.
        run_checked([sys.executable, MODEL / "topology.py", f"{self.topology}-1", "--first", "1"])
        cc = ["gcc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-O2", "-fPIC", "-shared"]
        for name in ("smi", "sysfs"):
            source, target = MODEL / f"{name}.c", self.bin / f"lib{name}.so"
            self.make(target, [source], [*cc, source, "-o", target, "-ldl"])
        self.build_rocsolver()

    def build_rocsolver(self):
        """What hipBLAS imports of rocSOLVER, without a body."""
        listing = run_checked(["nm", "-D", "--undefined-only", self.libraries / "libhipblas.so.3"])
        names = [line.split()[-1] for line in listing.splitlines() if "rocsolver_" in line]
        source, target = self.bin / "rocsolver.c", self.bin / "librocsolver.so.0"
        source.write_text("".join(f"void {name}(void) {{}}\n" for name in names))
        run_checked(["gcc", "-shared", "-fPIC", "-Wl,-soname,librocsolver.so.0", source, "-o", target])

    def command(self, program):
        word, *more = program.split()
        blas = self.libraries / "blas"  # where update-alternatives would have put a link to libblas
        start = [self.loader, "--library-path", f"{self.libraries}:{blas}:{self.bin}",
                 "--preload", ":".join(map(str, self.preloaded))]
        if word in self.benches:
            return [*start, self.root / "usr/libexec/rocm" / self.benches[word] / word, *more]
        return [*start, self.root / "usr/bin/python3", "-B", PROGRAMS / "library_calls.py", *more]

    def variables(self, program):
        # What MIOpen and rocFFT compile is kept for the next run.
        kept = {"MIOPEN_USER_DB_PATH": str(self.folder / "miopen"),
                "MIOPEN_CUSTOM_CACHE_DIR": str(self.folder / "miopen"),
                "ROCFFT_RTC_CACHE_PATH": str(self.folder / "rocfft.db"), "ROCFFT_RTC_PROCESS": "0"}
        return {**super().variables(program), **kept, "PYTHONHOME": str(self.root / "usr")}


class Release643(Release724):
    """HIP 6.4.3 of sid. Its own HSA runtime cannot simulate a GPU, so it runs on that of 7.2.4. It has no Python, and
    paths.hip calls functions of HIP 7."""
    major = 6

    def build_programs(self, compiler, headers):
        self.link("module", [PROGRAMS / "module.cpp"],
                  ["-std=c++17", "-Wall", "-O1", "-g", *headers, PROGRAMS / "module.cpp"])
        self.link_kernels(compiler, "launch", "launch.hip", headers, hipcc=False)


class ReleaseTorch(Release):
    """Debian's PyTorch, which is built for the CPU, on the C library and the Python of its release."""

    def __post_init__(self):
        super().__post_init__()
        # Where update-alternatives would have put links to libblas and liblapack, had anything been installed.
        folders = ("lib/x86_64-linux-gnu", LIBRARIES, "usr/lib", f"{LIBRARIES}/blas", f"{LIBRARIES}/lapack")
        self.path = ":".join(str(self.root / folder) for folder in folders)

    @property
    def loader(self):
        folders = (LIBRARIES, "lib/x86_64-linux-gnu")
        return next(path for path in (self.root / folder / "ld-linux-x86-64.so.2" for folder in folders)
                    if path.exists())

    def command(self, program):
        (python,) = self.root.glob("usr/bin/python3.*[0-9]")
        return [self.loader, "--library-path", self.path, python, "-B", PROGRAMS / f"{program}.py"]

    def variables(self, program):
        return {"PYTHONHOME": str(self.root / "usr"), "OMP_NUM_THREADS": "2"}
