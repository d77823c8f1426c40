"""The CUDA libraries that ZLUDA stands in for, as C headers made from the declarations in ZLUDA's sources (MIT or
Apache-2.0).

ZLUDA declares a function as `fn cublasCreate_v2(handle: *mut cuda_types::cublas::cublasHandle_t) ->
cuda_types::cublas::cublasStatus_t;` and an enumeration as a structure with constants."""
import re
import subprocess

SOURCE = "https://github.com/vosen/ZLUDA"
NUMBERS = {
    "c_int": "int",
    "c_uint": "unsigned int",
    "c_longlong": "long long",
    "c_ulonglong": "unsigned long long",
    "c_char": "char",
    "c_uchar": "unsigned char",
    "c_void": "void",
    "c_long": "long",
    "c_ulong": "unsigned long",
    "c_short": "short",
    "c_ushort": "unsigned short",
    "usize": "size_t",
    "isize": "ptrdiff_t",
    "u8": "uint8_t",
    "i8": "int8_t",
    "u16": "uint16_t",
    "i16": "int16_t",
    "u32": "uint32_t",
    "i32": "int32_t",
    "u64": "uint64_t",
    "i64": "int64_t",
    "f32": "float",
    "f64": "double",
    "bool": "bool",
}
STRUCTURES = (
    "typedef struct { float x; float y; } cuComplex;\ntypedef struct { double x; double y; } cuDoubleComplex;\n"
    "typedef struct CUstream_st *CUstream;\ntypedef struct { unsigned short x; } __half;\ntypedef struct FILE FILE;\n"
)


def checkout(folder):
    if subprocess.run(["git", "clone", "-q", "--depth", "1", SOURCE, folder]).returncode != 0:
        raise SystemExit(f"{SOURCE} cannot be fetched: give a copy with --zluda DIR, or other catalogues with --only")
    return folder


def version(folder):
    """The commit, or nothing if the folder is no repository."""
    ran = subprocess.run(
        ["git", "-C", folder, "rev-parse", "--short=10", "HEAD"],
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    return ran.stdout.strip()


def c_type(rust):
    rust = rust.strip().rstrip(",")
    for pointer, const in (("*const ", "const "), ("*mut ", "")):
        if rust.startswith(pointer):
            inner = c_type(rust[len(pointer) :])
            return f"{inner} {const.strip()} *" if inner.endswith("*") else f"{const}{inner} *"
    if rust.startswith("[") or "Option<" in rust or "fn(" in rust:
        return "void *"
    word = rust.split("::")[-1]
    return NUMBERS.get(word, word)


class Sources:
    """All types of ZLUDA's declarations, by name."""

    def __init__(self, folder):
        text = "".join(path.read_text() for path in sorted((folder / "cuda_types/src").glob("*.rs")))
        self.enums, self.aliases, self.results = {}, {}, {}
        for name, value, number in re.findall(r"pub const (?:r#)?(\w+): (\w+) = \w+\(\s*(-?\d+)", text):
            self.enums.setdefault(value, {})[name] = int(number)
        for name, target in re.findall(r"pub type (\w+) = ([^;]+);", text):
            self.aliases.setdefault(name, target)
        for name, target in re.findall(r"pub struct (\w+)\((?:pub )?(\*mut \w+)\);", text):
            self.aliases.setdefault(name, target)
        for target, name in re.findall(r"pub use super::\w+::(\w+) as (\w+);", text):
            self.aliases.setdefault(name, target)
        for trait, body in re.findall(r"pub trait (\w+)Consts \{(.*?)\n\}", text, re.S):
            self.results[trait] = re.findall(r"const (\w+): ", body)
        self.codes = {}
        for error, name, number in re.findall(
            r"pub const r#(\w+): (\w+) = \w+\(unsafe \{\s*::core::num::NonZeroU32::new_unchecked\((\d+)\)", text
        ):
            self.codes.setdefault(name, {})[error] = int(number)


def status_text(sources, name, prefix):
    """ZLUDA's result types are errors or nothing: success is 0."""
    codes = sources.codes.get(
        name.replace("Status_t", "Error_t").replace("Result_t", "Error_t").replace("Result", "Error_t"), {}
    )
    values = [f"{prefix}_SUCCESS = 0"] + [f"{prefix}_{word} = {code}" for word, code in codes.items()]
    return f"typedef enum {{ {', '.join(values)} }} {name};\n"


class Header:
    """One library's C header."""

    def __init__(self, sources):
        self.sources, self.done, self.text = (
            sources,
            set(NUMBERS.values()) | {"CUstream", "cuComplex", "cuDoubleComplex", "__half", "FILE"},
            "",
        )

    def declare(self, name, pointed):
        if name in self.done:
            return
        self.done.add(name)
        sources = self.sources
        if name in sources.enums:
            values = ", ".join(f"{word} = {number}" for word, number in sources.enums[name].items())
            self.text += f"typedef enum {{ {values} }} {name};\n"
        elif name in sources.results:
            self.text += status_text(sources, name, re.sub(r"(Status|Result)(_t)?$", r"", name).upper() + "_STATUS")
        elif name in sources.aliases:
            self.alias(name, sources.aliases[name])
        else:
            self.text += f"typedef struct {name} {name};\n" if pointed else f"typedef int {name};\n"

    def alias(self, name, target):
        word = c_type(target)
        base = word.replace("const", "").replace("*", "").strip()
        if word == "void *" or "*" in word:
            self.text += f"typedef struct {name}_of_library *{name};\n"
            return
        self.declare(base, False)
        self.text += f"typedef {word} {name};\n"

    def function(self, name, parameters, result):
        written = []
        for parameter in re.findall(
            r"(?:r#)?(\w+): ([^:]*(?:::[^:]*)*?)(?=,\s*(?:r#)?\w+: |,?\s*$)", parameters.strip(), re.S
        ):
            word = c_type(parameter[1])
            self.declare(word.replace("const", "").replace("*", "").strip(), "*" in word)
            written.append(f"{word} {parameter[0].rstrip('_')}")
        returned = c_type(result) if result and result.strip() != "()" else "void"
        self.declare(returned.replace("const", "").replace("*", "").strip(), "*" in returned)
        return f"{returned} {name}({', '.join(written) or 'void'});\n"


def header_of(folder, library):
    header = Header(Sources(folder))
    text = (folder / f"cuda_macros/src/{library}.rs").read_text()
    functions = [header.function(*found) for found in re.findall(r"fn (\w+)\((.*?)\)\s*(?:-> ([^;]+))?;", text, re.S)]
    return "#pragma once\n" + STRUCTURES + 'extern "C" {\n' + header.text + "".join(functions) + "}\n"
