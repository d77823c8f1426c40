"""fade-query porting: the functions of CUDA that a recording or a file has, and what replaces them."""
import collections
import csv
import io
import subprocess

import pytest

import harness

CUDA = """
cudaMalloc cudaMemcpyAsync_ptsz cuMemcpyHtoD_v2 cuMemcpyPeer cublasSgemm_v2 ncclAllReduce nvmlInit_v2
cuptiActivityEnable __cudaRegisterFatBinary cuSomethingNew
""".split()
OTHERS = ["curl_easy_init", "cut", "hipMalloc"]


def compiled(folder, name, text, *flags):
    (folder / f"{name}.c").write_text(text)
    subprocess.run(["cc", "-w", "-o", folder / name, folder / f"{name}.c", *flags], cwd=folder, check=True)
    return folder / name


def defines(names):
    return "".join(f"int {name}(void) {{ return 0; }}\n" for name in names)


def calls(names, function="main"):
    body = " + ".join(f"{name}()" for name in names) or "0"
    return "".join(f"int {name}(void);\n" for name in names) + f"int {function}(void) {{ return {body}; }}\n"


@pytest.fixture
def program(tmp_path):
    """Imports functions of CUDA itself, and needs a library that imports one more."""
    compiled(tmp_path, "libcudart.so.12", defines([*CUDA, *OTHERS, "cudaFree"]), "-shared", "-fPIC")
    compiled(tmp_path, "libhelper.so", calls(["cudaFree"], "help"), "-shared", "-fPIC", tmp_path / "libcudart.so.12")
    where = f"-Wl,-rpath,{tmp_path},--no-as-needed"
    return compiled(
        tmp_path, "app", calls([*CUDA, *OTHERS]), where, tmp_path / "libhelper.so", tmp_path / "libcudart.so.12"
    )


@pytest.fixture
def porting(build, tmp_path):
    def run(*words, status=0):
        ran = subprocess.run([build.fade_query, "porting", *words], capture_output=True, text=True, cwd=tmp_path)
        assert ran.returncode == status, ran.stderr
        return ran.stdout, ran.stderr

    return run


@pytest.fixture
def rows(porting):
    return lambda *words: list(csv.DictReader(io.StringIO(porting(*words, "-f", "tsv")[0]), delimiter="\t"))


def test_imports_have_their_replacements(rows, program):
    told = {row["cuda"]: (row["library"], row["hip"], row["how"]) for row in rows(program)}
    assert told == {
        "cudaMalloc": ("runtime", "hipMalloc", "table"),
        "cudaMemcpyAsync_ptsz": ("runtime", "hipMemcpyAsync", "table"),
        "cuMemcpyHtoD_v2": ("driver", "hipMemcpyHtoD", "table"),
        "cuMemcpyPeer": ("driver", "", ""),
        "cublasSgemm_v2": ("cublas", "hipblasSgemm", "table"),
        "ncclAllReduce": ("nccl", "ncclAllReduce", "name"),
        "nvmlInit_v2": ("nvml", "", ""),
        "cuptiActivityEnable": ("cupti", "", ""),
        "cuSomethingNew": ("driver", "", ""),
        "__cudaRegisterFatBinary": ("runtime", "__hipRegisterFatBinary", "compiler"),
    }
    assert {row["module"] for row in rows(program)} == {str(program)}


def test_work_comes_first(rows, program):
    has_hip = [bool(row["hip"]) for row in rows(program)]
    assert has_hip == sorted(has_hip) and not has_hip[3] and has_hip[4]


def test_the_page_counts(porting, program):
    page, notes = porting(program, "-f", "table")
    assert page.startswith(
        "10 functions of CUDA: 6 have a replacement in ROCm, 4 have none. 1 of these replacements is in none of AMD's "
        "tables."
    )
    assert "--with-libraries" in notes and "dlsym" in notes


def test_libraries_are_read_on_request(rows, program):
    found = {row["cuda"]: row["module"] for row in rows(program, "--with-libraries")}
    assert found.pop("cudaFree").endswith("libhelper.so") and set(found.values()) == {str(program)}
    assert set(found) == set(CUDA), "what CUDA's own libraries import is no work"


def test_a_static_runtime_is_a_limit(porting, rows, tmp_path):
    code = '__asm__(".section .nv_fatbin,\\"a\\"\\n.quad 1\\n.text");\n'
    static = compiled(tmp_path, "static", code + defines(["cudaMalloc"]) + "int main(void) { return cudaMalloc(); }\n")
    _, notes = porting(static, "-f", "tsv")
    assert rows(static) == [] and f"The CUDA runtime is linked into {static}" in notes


def test_a_program_without_cuda(porting):
    page, _ = porting("/bin/true", "-f", "table")
    assert page.startswith("No import of a function of CUDA's libraries was found.")


@pytest.mark.parametrize("word", ["missing", "script.py", "."])
def test_what_is_no_program_is_refused(porting, tmp_path, word):
    (tmp_path / "script.py").write_text("print(1)\n")
    page, notes = porting(word, status=2)
    assert page == "" and "cannot read imports of" in notes and "fix:" in notes


def test_libraries_belong_to_porting(build):
    ran = subprocess.run([build.fade_query, "top", "--with-libraries"], capture_output=True, text=True)
    assert ran.returncode == 2 and "only porting has --with-libraries" in ran.stderr


def test_a_recording_on_zluda(build, porting, rows, tmp_path):
    ran = harness.run_supervised(build, "cuda work 20", "zluda", tmp_path, ("-e", harness.EVERYTHING))
    assert ran.status == 0, ran.stderr
    database = harness.Database(tmp_path / "run.db")
    counted = dict(database.rows("SELECT name, sum(calls) FROM call_stats WHERE category = 'cuda' GROUP BY name"))
    told = {row["cuda"]: int(row["calls"]) for row in rows(tmp_path / "run.db")}
    assert told == counted and len(told) > 5
    hips = {row["cuda"]: row["hip"] for row in rows(tmp_path / "run.db")}
    assert hips["cuMemAlloc_v2"] == "hipMalloc"
    _, notes = porting(tmp_path / "run.db", "-f", "tsv")
    assert "fade-run -e all,comm,blas" in notes
    again = subprocess.run(
        [build.fade_query, tmp_path / "run.db", "porting", "-f", "tsv"], capture_output=True, text=True
    )
    assert collections.Counter(again.stdout.splitlines()[0].split("\t"))["calls"] == 1
