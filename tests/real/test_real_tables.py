"""What fade knows by heart, held against the vendor's headers and libraries of both releases."""
import pytest

import vendor

VERSIONS = {"5.2.3": 502, "7.2.4": 702}
# Flags that had another number in the old header, and no effect there; fade has the number they have kept since.
CHANGED = {"5.2.3": {"hipDeviceLmemResizeToMax", "hipIpcMemLazyEnablePeerAccess"}, "7.2.4": set()}


@pytest.fixture(scope="module")
def tables(build_dir):
    program = build_dir / "tests/real/real_print_tables"
    assert program.exists(), f"{program} is missing: build fade first"
    return vendor.tables(program)


@pytest.fixture(params=["5.2.3", "7.2.4"])
def release(request):
    return request.getfixturevalue("hip523" if request.param == "5.2.3" else "hip724")


def headers(release):
    return release.root / "usr/include"


def test_values_of_enums_are_the_headers(tables, release, tmp_path):
    assertions = vendor.value_assertions(tables["value"], VERSIONS[release.version])
    _, failed = vendor.judged(tmp_path, headers(release), assertions)
    assert {words.split()[0] for words in failed} == CHANGED[release.version]


def test_names_of_enums_are_the_newest_headers(tables, hip724, tmp_path):
    values = [row for row in tables["value"] if int(row[4]) >= VERSIONS["7.2.4"]
              and not row[0].lower().startswith(("cu", "nvml"))]  # CUDA's and NVML's are not AMD's
    unknown, _ = vendor.judged(tmp_path, headers(hip724), vendor.value_assertions(values, VERSIONS["7.2.4"]))
    assert unknown == set()


@pytest.mark.parametrize("form, version, name", [
    ("hipDeviceProp_tR0000", "5.2.3", "hipDeviceProp_t"),
    ("hipDeviceProp_tR0600", "7.2.4", "hipDeviceProp_t"),
])
def test_device_properties_lie_where_the_header_puts_them(request, tables, tmp_path, form, version, name):
    hip = request.getfixturevalue("hip523" if version == "5.2.3" else "hip724")
    assertions = vendor.layout_assertions(tables, form, name)
    assert vendor.judged(tmp_path, headers(hip), assertions) == (set(), [])


def test_every_exported_function_has_a_probe(tables, release):
    known = {symbol for _, symbol, *_ in tables["function"]}
    exported = set()
    for library in ("libamdhip64.so.5", "libamdhip64.so.7", "libhiprtc.so.7"):
        if (release.libraries / library).exists():
            exported |= vendor.exported_functions(release.libraries / library)
    assert len(exported) > 400
    assert exported - known == set()


def test_parameters_are_as_large_as_the_header_says(tables, hip724, tmp_path):
    """By the sizes of parameters a probe finds each of them in its register or on the stack."""
    declared = vendor.declared_signatures(tmp_path, headers(hip724))
    known = {symbol: [int(size) for size in sizes] for _, symbol, *sizes in tables["function"] if sizes}
    both = known.keys() & declared.keys()
    assert len(both) > 400
    assert {name: known[name] for name in both} == {name: declared[name] for name in both}
