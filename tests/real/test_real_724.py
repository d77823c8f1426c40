"""AMD's runtime 7.2.4 on a simulated Radeon RX 7900 XTX: 96 compute units, which HIP reports as 48 multiprocessors.

The runtime is AMD's own from Debian experimental; only the hardware is simulated. Kernels are compiled, loaded and
launched, but compute nothing.
"""
import re

import pytest

import real_runs as runs

SEQUENTIAL = ["tour", "tour_direct", "tour_5x", "launch", "launch_5x", "module", "train", "paths"]
# What the programs do wrong on purpose; every other call succeeds.
MISTAKES = {
    "tour": {("hipSetDevice", 101), ("hipDeviceGetAttribute", 101), ("hipGetDeviceCount", 1), ("hipMalloc", 2),
             ("hipFree", 1), ("hipGetLastError", 1)},
    "launch": {("hipGetLastError", 9)},
    "module": {("hiprtcCompileProgram", 6), ("hipModuleLoadData", 200), ("hipModuleGetFunction", 500),
               ("hipModuleLaunchKernel", 1)},
    "train": set(),
    "paths": {("hipLaunchCooperativeKernel", 719)},  # the simulated card takes none
}
ADDRESS = re.compile(r"0x[0-9a-f]+|\b[0-9]{10,}\b")
SET_96 = ("--set", "device.0.multiProcessorCount=96")


@pytest.fixture(scope="module")
def plain(hip724):
    """Every program once without fade."""
    return {program: runs.native(hip724, program) for program in [*SEQUENTIAL, "threads"]}


@pytest.mark.parametrize("program", SEQUENTIAL)
def test_everything_works_but_the_mistakes(plain, program):
    assert plain[program].code == 0, plain[program].stderr
    failed = {(name, result) for name, result in plain[program].calls() if result}
    assert failed == MISTAKES[program.split("_")[0]]


@pytest.mark.parametrize("program", ["tour", "tour_direct", "tour_5x"])
def test_card_is_told_as_48_multiprocessors(plain, program):
    facts = plain[program].facts()
    assert facts[0].startswith("devices 1 ")
    assert facts[1] == ("struct multiProcessorCount 48 warpSize 32 clockRate 2482000 totalGlobalMem 25769803776 "
                        "gcnArchName gfx1100")
    assert "attribute multiProcessorCount 48" in facts
    assert "name '' total 25769803776 capability 11.0 bus 0000:03:00.0" in facts


def test_the_runtimes_own_switch_tells_compute_units(hip724):
    facts = runs.native(hip724, "tour", GPU_ENABLE_WGP_MODE="0").facts()
    assert "attribute multiProcessorCount 96" in facts


@pytest.mark.parametrize("program", SEQUENTIAL)
def test_calls_are_recorded_in_order_with_their_results(hip724, supervised, plain, engine, program):
    watched = supervised(hip724, program, *engine)
    runs.assert_same_behaviour(plain[program], watched)
    runs.assert_recorded(watched)
    runs.assert_counted(watched)
    runs.assert_closed(watched)


def test_threads_lose_no_call_and_make_none_twice(hip724, supervised, plain, engine):
    watched = supervised(hip724, "threads", *engine)
    runs.assert_same_behaviour(plain["threads"], watched)
    runs.assert_counted(watched)
    runs.assert_closed(watched)


def test_frequent_calls_are_recorded_when_asked_for(hip724, supervised, plain, engine):
    watched = supervised(hip724, "launch", *engine, "-e", ",".join(["all", *runs.HOT]))
    runs.assert_same_behaviour(plain["launch"], watched)
    runs.assert_recorded(watched, hidden=())
    runs.assert_counted(watched, hidden=())


def with_96(facts):
    return [fact.replace("multiProcessorCount 48", "multiProcessorCount 96") for fact in facts]


@pytest.mark.parametrize("program", ["tour", "tour_direct", "tour_5x", "train"])
def test_set_changes_structure_and_attribute_and_nothing_else(hip724, supervised, plain, program):
    watched = supervised(hip724, program, *SET_96)
    assert watched.code == 0, watched.stderr
    assert any("multiProcessorCount 96" in fact for fact in watched.facts())
    assert watched.stdout.splitlines() == with_96(plain[program].stdout.splitlines())
    runs.assert_recorded(watched)


@pytest.mark.parametrize("program, answers", [("tour", 2), ("tour_5x", 2), ("train", 1)])
def test_every_corrected_answer_leaves_a_row(hip724, supervised, program, answers):
    watched = supervised(hip724, program, *SET_96)
    hits = runs.rows(watched.database, "SELECT was, became, sum(n) FROM override_hits GROUP BY was, became")
    assert [(str(was), str(became), n) for was, became, n in hits] == [("48", "96", answers)]


def test_the_compiler_is_not_deceived(hip724, supervised, plain):
    """hiprtc asks the runtime which card to compile for; the answer to the program is not the answer to the
    compiler."""
    watched = supervised(hip724, "module", "--set", "device.0.gcnArchName=gfx9999")
    runs.assert_same_behaviour(plain["module"], watched)


def test_calls_inside_of_calls_have_their_parent(hip724, supervised):
    watched = supervised(hip724, "module")
    inner = runs.rows(watched.database,
                      """SELECT DISTINCT p.name, c.name FROM calls c JOIN calls p ON p.id = c.parent_id""")
    assert ("hiprtcCompileProgram", "hipGetDevicePropertiesR0600") in inner


@pytest.mark.parametrize("program", ["tour", "launch", "paths"])
def test_taps_record_what_breakpoints_record(hip724, supervised, program):
    """Arguments, callers, parents, and which calls have a stack: those that failed among them."""
    def recorded(engine):
        found = runs.rows(supervised(hip724, program, "--engine", engine).database,
                          "SELECT name, args, caller, failed, stack IS NULL, parent_id IS NULL FROM calls ORDER BY id")
        return [(name, ADDRESS.sub("ADDRESS", args or ""), *rest) for name, args, *rest in found]

    breakpoints, taps = recorded("breakpoints"), recorded("taps")
    assert taps == breakpoints and len(taps) > 10


@pytest.mark.parametrize("program, kernels", [
    ("launch", {("fill", 1, 64, 1), ("vadd", 4, 256, 3)}),
    ("module", {("scale", 4, 256, 3)}),
    ("train", {("step", 16, 256, 5)}),
])
def test_launches_name_their_kernels(hip724, supervised, engine, program, kernels):
    watched = supervised(hip724, program, *engine)
    found = runs.rows(watched.database,
                      "SELECT name, grid_x, block_x, count(*) FROM launches WHERE result = 0 GROUP BY 1, 2, 3")
    assert {(name.split("(")[0], grid, block, n) for name, grid, block, n in found} == kernels


def test_every_way_to_launch_is_counted_by_name(hip724, supervised, engine):
    watched = supervised(hip724, "paths", *engine)
    told = {fact.split()[1]: int(fact.split()[2]) for fact in watched.facts() if fact.startswith("ran ")}
    found = runs.rows(watched.database,
                      "SELECT name, sum(launches) FROM kernel_runs GROUP BY name HAVING sum(launches)")
    assert {name.split("(")[0]: n for name, n in found} == told and len(told) >= 10
    assert runs.rows(watched.database,
                     "SELECT DISTINCT grid_x, block_x FROM kernel_runs WHERE launches > 0") == [(3, 64)]
    assert runs.rows(watched.database,
                     "SELECT kernels, launches, complete FROM graphs ORDER BY id") == [(2, 3, 1), (2, 1, 1), (2, 4, 1)]


def test_code_of_kernels_is_described(hip724, supervised):
    """From the program's own fat binary, from memory and from a file of code."""
    watched = supervised(hip724, "paths")
    found = {name.split("(")[0]: row for name, *row in runs.rows(
        watched.database, "SELECT name, arch, wave_size, lds, problem, vgprs > 0, mode FROM kernel_codes")}
    assert found["arrows"] == ["gfx1100", 32, 0, None, 1, "WGP"]  # told by the descriptors
    assert found["from_memory"] == ["gfx1100", 32, 0, None, 1, "CU"]
    assert found["from_file"] == ["gfx1100", 32, 1024, None, 1, "CU"]


def test_mode_of_kernels_is_told(hip724, supervised):
    """What hiprtc compiles follows the runtime's switch."""
    for switch, mode in (("1", "WGP"), ("0", "CU")):
        watched = supervised(hip724, "module", "-E", f"GPU_ENABLE_WGP_MODE={switch}")
        assert runs.rows(watched.database, "SELECT name, arch, mode FROM kernel_codes") == [("scale", "gfx1100", mode)]


def test_kernels_of_the_compiler_are_in_the_program_not_in_the_loader_that_started_it(hip724, supervised):
    watched = supervised(hip724, "launch")
    libraries = runs.rows(watched.database, "SELECT DISTINCT library FROM launches")
    assert libraries == [(str(hip724.bin / "launch"),)]


def test_runtime_is_known_by_its_version(hip724, supervised):
    watched = supervised(hip724, "module")
    modules = runs.rows(watched.database, "SELECT soname FROM modules WHERE sites > 0 ORDER BY soname")
    assert ("libamdhip64.so.7",) in modules and ("libhiprtc.so.7",) in modules
