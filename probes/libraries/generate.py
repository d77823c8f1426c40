#!/usr/bin/python3
"""Makes the catalogues of the libraries above HIP from the headers of Debian's packages.

usage: generate.py                         download the packages of Debian sid and make all catalogues
       generate.py --suite trixie          the same with the packages of another release
       generate.py --root DIR              take the headers from DIR/usr/include, unpacked from the packages before
       generate.py --zluda DIR             a copy of ZLUDA's sources; without it, git fetches the newest
       generate.py --only rccl,rocblas     these catalogues alone

The machine needs python3-clang with its libclang, and git. Nothing is installed: packages are unpacked into a temporary
folder.
"""
import argparse
import pathlib
import tempfile

import catalogue
import headers
import packages
import zluda

HERE = pathlib.Path(__file__).resolve().parent


def rows_of(name):
    lines = [line for line in (HERE / name).read_text().splitlines() if line and not line.startswith("#")]
    columns = lines[0].split("\t")
    return [dict(zip(columns, line.split("\t"))) for line in lines[1:]]


def headers_of_packages(chosen, suite, folder):
    root = folder / "root"
    names = {name for row in chosen for name in row["package"].split() if ":" not in name} | {"libamdhip64-dev"}
    packages.unpack(sorted(names), suite, folder, root)
    return root


def headers_of_zluda(chosen, given, folder):
    """Writes a header for each catalogue of ZLUDA; returns the version of its sources."""
    wanted = [name.split(":")[1] for row in chosen for name in row["package"].split() if name.startswith("ZLUDA:")]
    if not wanted:
        return ""
    sources = given or zluda.checkout(folder / "zluda")
    for library in wanted:
        (folder / f"zluda_{library}.h").write_text(zluda.header_of(sources, library))
    return zluda.version(sources)


def source_of(row, root, commit):
    if row["package"].startswith("ZLUDA:"):
        return f"ZLUDA {commit}".strip()
    return packages.versions(row["package"].split(), root)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--suite", default="sid")
    parser.add_argument("--root", type=pathlib.Path)
    parser.add_argument("--zluda", type=pathlib.Path)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    chosen = [row for row in rows_of("catalogues.tsv") if not options.only or row["file"] in options.only.split(",")]
    parameters, newer = rows_of("parameters.tsv"), rows_of("enums.tsv")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        root = options.root or headers_of_packages(chosen, options.suite, folder)
        commit = headers_of_zluda(chosen, options.zluda, folder)
        for row in chosen:
            functions = headers.read(row, [root / "usr/include", folder, HERE])
            text = catalogue.text_of(row, functions, parameters, newer, source_of(row, root, commit))
            (HERE / (row["file"] + ".probes")).write_text(text)
            print(f"{row['file']}: {len(functions)} functions, {len(text)} bytes")


if __name__ == "__main__":
    main()
