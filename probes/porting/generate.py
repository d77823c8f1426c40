#!/usr/bin/python3
"""Makes porting.tsv: the functions of CUDA's libraries with the functions of ROCm that replace them.

usage: generate.py --hipify DIR --probes FILE

DIR is a copy of AMD's HIPIFY (https://github.com/ROCm/HIPIFY). Its tables of supported APIs (docs/tables or
docs/reference/tables) give names and releases. FILE is the catalogue of fade: fade-query probes --format tsv --limit 0.
A function without a replacement in AMD's tables gets the function of the same name in HIP's form, if that function
exists and its parameters have the same types in HIP's form. Its column `how` is `name`.
"""
import argparse
import csv
import pathlib
import re

HERE = pathlib.Path(__file__).resolve().parent
COLUMNS = ["cuda", "library", "hip", "since", "how", "note"]

# AMD's table, and the library of its functions.
TABLES = [
    ("CUDA_Driver_API_functions_supported_by_HIP.md", "driver"),
    ("CUDA_Runtime_API_functions_supported_by_HIP.md", "runtime"),
    ("CUDA_RTC_API_supported_by_HIP.md", "nvrtc"),
    ("CUBLAS_API_supported_by_HIP_and_ROC.md", "cublas"),
    ("CUDNN_API_supported_by_HIP_and_MIOPEN.md", "cudnn"),
    ("CUFFT_API_supported_by_HIP.md", "cufft"),
    ("CURAND_API_supported_by_HIP_and_ROC.md", "curand"),
    ("CUSOLVER_API_supported_by_HIP_and_ROC.md", "cusolver"),
    ("CUSPARSE_API_supported_by_HIP_and_ROC.md", "cusparse"),
]
FUNCTION = re.compile(r"(cu|cuda|nvrtc|cublas|cudnn|cufft|curand|cusolver|cusparse)[A-Z]\w*")
NO_FUNCTIONS = re.compile(r"types|Device API|C\+\+ API", re.I)  # sections of types, and of code that runs on the GPU

# Functions that the compiler calls for <<<>>> and for the kernels of a file. hipcc makes the calls of HIP.
COMPILER = {
    "__cudaRegisterFatBinary": "__hipRegisterFatBinary",
    "__cudaRegisterFatBinaryEnd": "",
    "__cudaUnregisterFatBinary": "__hipUnregisterFatBinary",
    "__cudaRegisterFunction": "__hipRegisterFunction",
    "__cudaRegisterVar": "__hipRegisterVar",
    "__cudaRegisterManagedVar": "__hipRegisterManagedVar",
    "__cudaPushCallConfiguration": "__hipPushCallConfiguration",
    "__cudaPopCallConfiguration": "__hipPopCallConfiguration",
    "__cudaInitModule": "",
}
# How the names of a CUDA library begin, and how those of the replacement do.
NAMES = [
    ("driver", "cu", "hip"),
    ("nvrtc", "nvrtc", "hiprtc"),
    ("cublas", "cublas", "hipblas"),
    ("cudnn", "cudnn", "miopen"),
    ("cufft", "cufft", "hipfft"),
    ("curand", "curand", "hiprand"),
    ("cusparse", "cusparse", "hipsparse"),
    ("nccl", "nccl", "nccl"),
]
APIS = {
    "cuda": "driver",
    "cublas": "cublas",
    "cublaslt": "cublas",
    "cudnn": "cudnn",
    "cufft": "cufft",
    "cusparse": "cusparse",
    "nvml": "nvml",
    "rccl": "nccl",
}


def cells(line):
    return [cell.strip().strip("`*") for cell in line.strip().strip("|").split("|")]


def note_of(deprecated, removed, experimental):
    words = [("deprecated in ROCm", deprecated), ("removed in ROCm", removed), ("experimental in ROCm", experimental)]
    return ", ".join(f"{word} {release}" for word, release in words if release)


def replacement(row, header):
    """The first one that a release of ROCm has: a column of HIP, then one of a library of ROCm."""
    for at in [i for i, name in enumerate(header) if name in ("HIP", "ROC", "MIOPEN")]:
        name, _, deprecated, _, removed, experimental = (row + [""] * 6)[at : at + 6]
        since = row[at + 1] if at + 1 < len(row) else ""
        if name and since:
            return name, since, note_of(deprecated, removed, experimental)
    return "", "", ""


def rows_of_table(text, library):
    header, skipped = [], False
    for line in text.splitlines():
        if line.startswith("## "):
            skipped = bool(NO_FUNCTIONS.search(line))
        if line.startswith("|**CUDA**"):
            header = cells(line)
        if skipped or not line.startswith("|`"):
            continue
        row = cells(line)
        if not FUNCTION.fullmatch(row[0]):
            continue
        hip, since, note = replacement(row, header)
        yield dict(cuda=row[0], library=library, hip=hip, since=since, how="table" if hip else "", note=note)


def amd_rows(hipify):
    folder = next(f for f in (hipify / "docs/reference/tables", hipify / "docs/tables") if f.is_dir())
    rows = {}
    for name, library in TABLES:
        for row in rows_of_table((folder / name).read_text(), library):
            rows.setdefault(row["cuda"], row)
    return rows


# Words of types that differ by more than a prefix.
WORDS = [
    ("deviceptr", "void*"),
    ("memoryadvise", "memadvise"),
    ("context", "ctx"),
    ("uuid_st", "uuid"),
    ("cuuint", "uint"),
]


def plain_type(text):
    """A parameter's type without its name and without the marks of CUDA and HIP: CUstream and hipStream_t are
    stream."""
    words = re.sub(r"\bconst\b", "", text).replace("*", " * ").split()
    name = "".join(words if words[-1] == "*" or len(words) == 1 else words[:-1])
    name = re.sub(r"^(cuda_|hipblas|cublas|hipfft|cufft|miopen|cudnn|hipsparse|cusparse|cuda|cu|hip)", "", name.lower())
    for word, other in WORDS:
        name = name.replace(word, other)
    return re.sub(r"_t\b|_|(?<=[a-z])st\b|(?<=[a-z])enum\b|(?<=[a-z])v1\b", "", name)


def parameter_types(prototype):
    if prototype.endswith("(?)"):
        return None
    inner = prototype[prototype.index("(") + 1 : -1]
    return [plain_type(one) for one in inner.split(",")] if inner else []


def catalogue_of(file):
    """Name to (api, types of parameters) of all functions that fade knows."""
    with open(file, newline="") as text:
        rows = list(csv.DictReader(text, delimiter="\t", quoting=csv.QUOTE_NONE))
    return {row["name"]: (row["api"], parameter_types(row["prototype"])) for row in rows}


def by_name(cuda, library, known):
    types = known[cuda][1] if cuda in known else None
    for of, prefix, other in NAMES:
        hip = other + cuda[len(prefix) :]
        if of != library or types is None or hip not in known or (known[hip][0] in APIS and library != "nccl"):
            continue
        if known[hip][1] == types:
            return hip
    return ""


def plain_name(name):
    """Without the marks of per-thread streams and of versions: fade looks for that name, too."""
    return re.sub(r"(_v\d+)?(_ptsz|_ptds)?$", "", name)


def add_by_name(rows, known):
    for name, (api, _) in known.items():
        if api in APIS and name not in rows:
            hip = by_name(name, APIS[api], known)
            if hip or plain_name(name) not in rows:
                rows[name] = dict(cuda=name, library=APIS[api], hip="", since="", how="", note="")
    for row in rows.values():
        if not row["hip"] and (hip := by_name(row["cuda"], row["library"], known)):
            row.update(hip=hip, how="name")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hipify", type=pathlib.Path, required=True)
    parser.add_argument("--probes", type=pathlib.Path, required=True)
    options = parser.parse_args()
    rows = amd_rows(options.hipify)
    for cuda, hip in COMPILER.items():
        rows[cuda] = dict(cuda=cuda, library="runtime", hip=hip, since="", how="compiler", note="the compiler calls it")
    add_by_name(rows, catalogue_of(options.probes))
    with open(HERE / "porting.tsv", "w", newline="") as out:
        writer = csv.DictWriter(out, COLUMNS, delimiter="\t", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows[name] for name in sorted(rows))


if __name__ == "__main__":
    main()
