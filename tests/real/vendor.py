"""Holds fade's tables (real_print_tables) against the vendor's own headers and libraries.

Writes a C++ file of static assertions and lets the compiler judge: what it cannot find and what has another value are
told apart by its messages.
"""
import re
import subprocess

import real_world as world

HEADERS = ("stddef.h", "hip/hip_runtime_api.h", "hip/hiprtc.h", "hip/library_types.h", "hip/hip_gl_interop.h",
           "hip/amd_detail/amd_hip_gl_interop.h")
UNKNOWN = re.compile(r"error: [‘'](\w+)[’'] (?:was not declared|has not been declared)"
                     r"|error: [‘']\w+[’'] has no (?:non-static data )?member named [‘'](\w+)[’']")
DEFINES = ("-D__HIP_PLATFORM_AMD__", "-D__HIP_PLATFORM_HCC__")
# What gcc -aux-info writes: /* FILE:LINE:NC */ extern hipError_t hipFree (void *);
DECLARED = re.compile(r"^/\* \S*/hip/\S*:NC \*/ extern (.*?)((?:__)?hip\w+) \((.*)\);")
OUTER_COMMA = re.compile(r",(?![^(]*\))")
FAILED = re.compile(r"static assertion failed: (.*)")


def tables(program):
    """{"member": [[...], ...], "struct": ..., "value": ..., "function": ...}"""
    found = {}
    for line in world.run_checked([program]).splitlines():
        kind, *words = line.split()
        found.setdefault(kind, []).append(words)
    return found


def judged(folder, include, assertions):
    """(names unknown to the header, assertions that failed)."""
    source = folder / "assertions.cpp"
    source.write_text("".join(f"#include <{header}>\n" for header in HEADERS
                              if header == "stddef.h" or (include / header).exists())
                      + "".join(assertions))
    command = ["g++", "-std=c++17", "-fsyntax-only", "-fmax-errors=0", "-w", *DEFINES, "-isystem", include, source]
    done = subprocess.run([str(word) for word in command], stderr=subprocess.PIPE, text=True, check=False)
    unknown = {a or b for a, b in UNKNOWN.findall(done.stderr)}
    failed = FAILED.findall(done.stderr)
    rest = [line for line in done.stderr.splitlines() if ": error: " in line
            and not UNKNOWN.search(line) and not FAILED.search(line)]
    assert not rest, "\n".join(rest[:20])
    return unknown, failed


def value_assertions(values, version):
    for _, name, value, first, last in values:
        if int(first) <= version <= int(last):
            yield f'static_assert((long long)({name}) == {value}LL, "{name} is not {value}");\n'


def layout_assertions(found, name, header_name):
    (size,) = [int(size) for struct, size in found["struct"] if struct == name]
    yield f'static_assert(sizeof({header_name}) == {size}, "{name} has not {size} bytes");\n'
    for struct, member, offset, length in found["member"]:
        if struct == name:
            yield (f'static_assert(offsetof({header_name}, {member}) == {offset} && '
                   f'sizeof((({header_name}*)0)->{member})'
                   f' == {length}, "{name}.{member} is not at {offset} with {length} bytes");\n')


def exported_functions(library):
    listing = world.run_checked(["nm", "-D", "--defined-only", library])
    names = [line.split()[-1].split("@")[0] for line in listing.splitlines() if line.split()[1:2] in (["T"], ["W"])]
    return {name for name in names if "hip" in name.lower()}


def declared_signatures(folder, include):
    """{name: [size of the result, size of each parameter ...]} of all functions that the C headers declare."""
    source, listing = folder / "declared.c", folder / "declared.txt"
    source.write_text("#include <stdbool.h>\n#include <hip/hip_runtime_api.h>\n#include <hip/hiprtc.h>\n")
    world.run_checked(["gcc", *DEFINES, "-isystem", include, "-fsyntax-only", "-aux-info", listing, source])
    signatures = {}
    for line in listing.read_text().splitlines():
        found = DECLARED.match(line)
        if found:
            result, name, parameters = found.groups()
            words = [part.strip() for part in OUTER_COMMA.split(parameters)]
            signatures[name] = [result.strip(), *(word for word in words if word not in ("void", "..."))]
    sizes = sizes_of({word for words in signatures.values() for word in words}, folder, include)
    return {name: [sizes[word] for word in words] for name, words in signatures.items()}


def sizes_of(types, folder, include):
    """What the compiler says; a pointer or an array as a parameter is a pointer."""
    sizes = {word: 8 for word in types if "*" in word or "[" in word} | {"void": 0}
    rest = sorted(types - sizes.keys())
    source, program = folder / "sizes.c", folder / "sizes"
    lines = "".join(f'  printf("%zu\\n", sizeof({word}));\n' for word in rest)
    source.write_text(
        "#include <stdio.h>\n#include <stdbool.h>\n#include <hip/hip_runtime_api.h>\n#include <hip/hiprtc.h>\n"
        f"int main(void) {{\n{lines}  return 0;\n}}\n")
    world.run_checked(["gcc", "-w", *DEFINES, "-isystem", include, source, "-o", program])
    return sizes | dict(zip(rest, map(int, world.run_checked([program]).split())))
