"""Code objects in bundles, plain and as clang compresses them: registers, LDS and waves of the kernels that ran."""
import csv
import io
import subprocess

import pytest

import harness

FORMS = [f"{version}-{method}" for version in (1, 2, 3) for method in ("zlib", "zstd")]
FIRST, SECOND = "_Z5firstPfi", "_ZN2ns6secondIfEEvPT_"  # of tests/tracees/kernels.c
FACTS = "SELECT mangled, arch, mode, vgprs, lds, wave_size, problem FROM kernel_codes ORDER BY mangled, arch"


def make_code(build, form, *kernels):
    return subprocess.run([build.runtimes / "make_code", form, *kernels], stdout=subprocess.PIPE,
                          check=True, timeout=60).stdout


def facts(kernel, vgprs=24):
    """What make_code writes about a kernel."""
    return [(kernel, "gfx1030", "WGP", vgprs, 2048, 32, None), (kernel, "gfx90a", "CU", vgprs * 2, 2048, 32, None)]


def record(build, folder, words):
    command = [build.fade_run, "-q", "-o", folder / "run.db", "--", *words]
    watched = harness.run(command, build.environment("v7"), folder / "supervised")
    assert watched.status == 0, watched.stderr
    return harness.Database(folder / "run.db"), watched


def load(build, folder, **images):
    """Runs a program that loads each image and launches the kernel of that name."""
    words = [build.tracees / "bundles"]
    for kernel, (way, image) in images.items():
        (folder / kernel).write_bytes(image)
        words += [kernel, f"{way}:{folder / kernel}"]
    database, watched = record(build, folder, words)
    assert watched.stdout == b"%d modules\n" % len(images)
    return database


def report(build, folder, name):
    done = harness.run([build.fade_query, folder / "run.db", name, "--format", "csv"], build.environment("v7"), folder)
    assert done.status == 0, done.stderr
    return list(csv.DictReader(io.StringIO(done.stdout.decode())))


def test_every_form_says_the_same(build, tmp_path):
    forms = [("form" + form.replace("-", ""), way, form) for form in ["plain", *FORMS] for way in ("memory", "file")]
    images = {f"{kernel}{way}": (way, make_code(build, form, f"{kernel}{way}")) for kernel, way, form in forms}
    database = load(build, tmp_path, **images)
    assert database.rows(FACTS) == [row for kernel in sorted(images) for row in facts(kernel)]


def test_reports_show_what_is_in_a_compressed_bundle(build, tmp_path):
    load(build, tmp_path, wanted=("memory", make_code(build, "3-zstd", "other", "wanted")))
    (first, second) = report(build, tmp_path, "code")
    assert {first["arch"], second["arch"]} == {"gfx1030", "gfx90a"}
    row = first if first["arch"] == "gfx1030" else second
    assert (row["name"], row["launches"], row["mode"], row["vgprs"], row["lds_bytes"],
            row["wave_size"], row["problem"]) == ("wanted", "1", "WGP", "25", "2048", "32", "")
    assert report(build, tmp_path, "kernels")[0]["vgprs"] in ("25", "50")


def with_section(build, folder, content):
    (folder / "fatbin").write_bytes(content)
    program = folder / "kernels"
    subprocess.run(["objcopy", "--add-section", f".hip_fatbin={folder / 'fatbin'}", build.tracees / "kernels", program],
                   check=True, timeout=60)
    return program


def aligned(image):
    return image + b"\0" * (-len(image) % 4096)


@pytest.mark.parametrize("form", ["plain", "1-zstd", "2-zlib", "2-zstd", "3-zstd"])
def test_a_library_may_have_several_bundles(build, tmp_path, form):
    section = b"".join(aligned(make_code(build, form, kernel)) for kernel in ("other", FIRST, "another", SECOND))
    database, _ = record(build, tmp_path, [with_section(build, tmp_path, section), "6"])
    assert database.rows(FACTS) == facts(FIRST) + facts(SECOND)


def test_a_large_compressed_section_is_read_at_the_end(build, tmp_path):
    section = b"".join(aligned(make_code(build, "2-zstd", kernel)) for kernel in ["other"] * 8 + [FIRST, SECOND])
    assert len(section) > 1 << 20
    database, _ = record(build, tmp_path, [with_section(build, tmp_path, section), "6"])
    assert database.rows(FACTS) == facts(FIRST) + facts(SECOND)


def test_what_is_damaged_is_left_out_and_said(build, tmp_path):
    unknown = bytearray(make_code(build, "2-zstd", "unknown"))
    unknown[4] = 9
    broken = bytearray(make_code(build, "2-zstd", "broken"))
    broken[24:28] = b"????"
    # Behind the end of a mapped file its page is zero, which is no deflate block.
    database = load(build, tmp_path, broken=("memory", bytes(broken)),
                    cut=("file", make_code(build, "3-zlib", "cut")[:34]), unknown=("memory", bytes(unknown)))
    problems = dict(database.rows("SELECT mangled, problem FROM kernel_codes WHERE problem IS NOT NULL"))
    assert problems == {"broken": "compressed, and damaged or cut", "cut": "compressed, and damaged or cut",
                        "unknown": "compressed in a way that is not known"}


def test_a_damaged_bundle_does_not_hide_the_others(build, tmp_path):
    damaged = bytearray(make_code(build, "2-zstd", FIRST))
    damaged[24:28] = b"????"
    section = aligned(bytes(damaged)) + aligned(make_code(build, "3-zstd", SECOND))
    database, _ = record(build, tmp_path, [with_section(build, tmp_path, section), "6"])
    assert database.rows(FACTS) == [(FIRST, None, None, None, None, None, "compressed, and damaged or cut"),
                                    *facts(SECOND)]
