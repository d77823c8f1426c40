"""The functions that a library's headers declare, read with libclang. Knows no .probes files."""
import pathlib
import re
import subprocess

from clang.cindex import Config, CursorKind, Index, TranslationUnit

FLAGS = [
    "-D__HIP_PLATFORM_AMD__",
    "-D__HIP_DISABLE_CPP_FUNCTIONS__",
    "-DROCBLAS_BETA_FEATURES_API",
    "-DMIOPEN_BETA_API=1",
    "-ferror-limit=0",
    "-w",
]


def load_library():
    found = subprocess.run(
        "ls /usr/lib/llvm-*/lib/libclang.so.1 /usr/lib/llvm-*/lib/libclang-*.so.1 2>/dev/null",
        shell=True,
        text=True,
        stdout=subprocess.PIPE,
    ).stdout.split()
    if found and not Config.loaded:
        Config.set_library_file(found[-1])


def parse(row, folders):
    """Each header of the catalogue is included by one source; one of this folder gives functions the others lack."""
    text = "#include <stddef.h>\n#include <stdint.h>\n#include <stdbool.h>\n"
    text += "".join(f'#include "{name}"\n' for name in row["headers"].split())
    resource = subprocess.run(["clang", "-print-resource-dir"], text=True, stdout=subprocess.PIPE).stdout.strip()
    flags = ["-xc++", "-std=gnu++17", *(f"-I{folder}" for folder in folders), *FLAGS]
    if resource:
        flags.append(f"-I{resource}/include")
    return Index.create().parse(
        "catalogue.cpp",
        args=flags,
        unsaved_files=[("catalogue.cpp", text)],
        options=TranslationUnit.PARSE_SKIP_FUNCTION_BODIES,
    )


def is_of(cursor, folders):
    place = str(pathlib.Path(cursor.location.file.name).resolve()) if cursor.location.file else ""
    return place.startswith(tuple(str(folder.resolve()) for folder in folders)) and "/hip/" not in place


def declarations(cursor):
    """Those of the file's top and of `extern "C" { }`."""
    for child in cursor.get_children():
        if child.kind in (CursorKind.LINKAGE_SPEC, CursorKind.UNEXPOSED_DECL):
            yield from declarations(child)
        else:
            yield child


def read(row, folders):
    """The declarations, one of each name, in the order of the headers."""
    load_library()
    unit = parse(row, folders)
    problems = [str(d) for d in unit.diagnostics if d.severity >= 3]
    if problems:
        raise SystemExit(f"{row['file']}: {len(problems)} errors, the first: {problems[0]}")
    out = {}
    for cursor in declarations(unit.cursor):
        if cursor.kind != CursorKind.FUNCTION_DECL or not re.fullmatch(row["functions"], cursor.spelling):
            continue
        if cursor.storage_class.name == "STATIC" or not is_of(cursor, folders):
            continue
        if cursor.mangled_name == cursor.spelling:
            out.setdefault(cursor.spelling, cursor)
    return list(out.values())
