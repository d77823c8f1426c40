"""docs/how-to/launchers.md: each command is run as it stands there, with real torchrun and mpirun and a stand-in srun.

FADE_UPDATE_GOLDENS=1 writes what the commands print now into the page."""

import json
import os
import pathlib
import re
import shlex
import shutil
import socket
import subprocess

import pytest
import yaml

import harness
import transcripts

LAUNCHERS = pathlib.Path(__file__).resolve().parent / "launchers"
PAGE = transcripts.ROOT / "docs" / "how-to" / "launchers.md"
MARK = re.compile(r"^<!-- launched (?P<words>.*?) -->\n```console\n(?P<text>.*?)^```$", re.M | re.S)
BLOCKS = [*MARK.finditer(PAGE.read_text())]
PYTHON = "/usr/bin/python3"  # that of Debian's PyTorch


def why_not(launcher):
    """Why a launcher cannot be run here; empty: it can."""
    tries = {
        "torchrun": [PYTHON, "-c", "import torch.distributed.run"],
        "mpirun": ["mpirun", "--version"],
        "srun": ["unshare", "--uts", "hostname", "node1"],
    }
    if shutil.which(tries[launcher][0]) is None:
        return f"{tries[launcher][0]} is not installed"
    done = subprocess.run(tries[launcher], stdin=subprocess.DEVNULL, capture_output=True, text=True)
    return (done.stderr.strip().splitlines() or ["it fails"])[-1] if done.returncode else ""


@pytest.fixture(scope="session")
def needs():
    """Skips a test whose launcher is missing."""
    known = {}

    def check(*launchers):
        for launcher in launchers:
            if known.setdefault(launcher, why_not(launcher)):
                pytest.skip(f"{launcher}: {known[launcher]}")

    return check


UP = 'ip link set lo up && exec bash -c "$1"'


class Desk(transcripts.Desk):
    """A folder with train.py and the launchers, on a machine that is called node1."""

    def __init__(self, build, folder):
        super().__init__(build, folder)
        for program in LAUNCHERS.glob("*.py"):
            shutil.copy(program, folder)
        self.environment["PATH"] = f"{LAUNCHERS}:{self.environment['PATH']}"
        self.environment["LD_LIBRARY_PATH"] += f":{build.runtimes / 'libraries'}"
        self.environment.update(OMP_NUM_THREADS="1", OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
        self.environment.update(OMPI_MCA_rmaps_base_oversubscribe="1", TMPDIR=str(folder))
        probe = subprocess.run(["unshare", "--net", "sh", "-c", UP, "sh", "true"], capture_output=True)
        self.has_network = probe.returncode == 0

    def run(self, command, more=None):
        """In a network of its own, if that can be made: torchrun's ports are the same in every job."""
        if self.has_network:
            command = f"unshare --net sh -c {shlex.quote(UP)} sh {shlex.quote(command)}"
        return re.sub(rf"\b{re.escape(socket.gethostname())}\b", "node1", super().run(command, more))

    def database(self, name):
        return harness.Database(self.folder / name)


@pytest.fixture
def desk(build, tmp_path):
    return Desk(build, tmp_path)


def blocks():
    return [pytest.param(number, id=f"{number}-{block['words'].split()[0]}") for number, block in enumerate(BLOCKS)]


@pytest.mark.parametrize("number", blocks())
def test_the_page_shows_what_its_commands_print(desk, needs, number):
    block = BLOCKS[number]
    words = block["words"].split()
    needs(*(word for word in words if "=" not in word))
    variables = transcripts.environment_of(" ".join(word for word in words if "=" in word))
    wrong, steps = [], []
    for step in transcripts.steps_of(block["text"]):
        output = desk.run(step.command, variables)
        if not transcripts.same(step, output):
            wrong.append(f"$ {step.command}\n{output}")
            step = step.with_output(output)
        steps.append(step)
    if transcripts.updating():
        PAGE.write_text(PAGE.read_text().replace(block["text"], "".join(step.text() for step in steps)))
    else:
        assert not wrong, "FADE_UPDATE_GOLDENS=1 writes this into the page:\n" + "\n".join(wrong)


def test_every_launcher_of_the_page_is_tried():
    commands = " ".join(block["text"] for block in BLOCKS)
    assert all(f" {word} " in f" {commands} " for word in ("torchrun", "mpirun", "srun"))
    in_front = {re.match(r"\$ (\S+)", block["text"])[1] for block in BLOCKS}
    assert in_front == {"fade-run", "torchrun", "mpirun", "srun"}


ONE_FILE, FILE_FOR_EACH = "fade-run -q -o run.db -- {} {}", "{} fade-run -q -o 'run-%h-%r.db' -- python3 {}"
SHAPES = [
    pytest.param("torchrun", FILE_FOR_EACH, "torchrun --standalone --nproc_per_node 4 --no_python", id="torchrun"),
    pytest.param("mpirun", ONE_FILE, "mpirun -n 4 python3", id="mpirun in one file"),
    pytest.param("srun", FILE_FOR_EACH, "srun --nodes 2 --ntasks 4", id="srun"),
]


@pytest.mark.parametrize("launcher, shape, command", SHAPES)
def test_all_calls_of_all_ranks_are_recorded(desk, needs, launcher, shape, command):
    needs(launcher)
    said = desk.run(f"{shape.format(command, 'train.py')}; echo status $?", {"FADE_STANDIN_COUNTS": "counts"})
    assert said.splitlines()[-1] == "status 0", said
    desk.run("[ -e run.db ] || fade-query -q merge 'run-*.db' -o run.db")
    database = desk.database("run.db")
    made = harness.read_counts(desk.folder)
    assert len(made) == 4 and all(counts["hipMalloc"] == 1 for counts in made.values())
    ranks = (
        "SELECT rank, world_size, (SELECT sum(calls) FROM call_stats c WHERE c.pid = r.pid AND c.name = 'hipMemcpy')"
    )
    assert database.rows(f"{ranks} FROM process_ranks r ORDER BY rank") == [(rank, 4, 4) for rank in range(4)]
    assert database.value("SELECT count(DISTINCT job) FROM jobs") == 1


@pytest.mark.parametrize("launcher, shape, command", SHAPES)
def test_the_rank_that_failed_first_is_named(desk, needs, launcher, shape, command):
    needs(launcher)
    said = desk.run(f"{shape.format(command, 'train.py')}; echo status $?", {"FAILING_RANK": "2"})
    assert said.splitlines()[-1] != "status 0", said
    told = " ".join(desk.run("fade-query -q 'run*.db' ranks").split())
    assert "failed first rank 2 after" in told and "(exit status 3), its first failed call: hipMalloc returned" in told


def test_ranks_that_talk_through_gloo(desk, needs):
    needs("torchrun")
    said = desk.run(
        "torchrun --standalone --nproc_per_node 3 --no_python fade-run -q -o 'run-%r.db' -- python3 gloo.py"
    )
    assert sorted(said.split("\n")[:3]) == [f"rank {rank} done" for rank in range(3)], said
    for rank in range(3):
        database = desk.database(f"run-{rank}.db")
        assert database.value("SELECT sum(calls) FROM call_stats WHERE name = 'hipMemcpy'") == rank + 1
        assert database.rows("SELECT DISTINCT rank FROM process_ranks") == [(rank,)]


def test_a_launcher_below_another_is_no_rank(desk, needs):
    """torchrun below srun: srun's variables name torchrun itself."""
    needs("torchrun")
    outer = {"SLURM_PROCID": "1", "SLURM_NTASKS": "2", "SLURM_NODEID": "1"}
    desk.run("fade-run -q -o run.db --only-rank 3 -- torchrun --standalone --nproc_per_node 4 train.py", outer)
    ranks = desk.database("run.db").rows("SELECT DISTINCT rank, world_size, source FROM process_ranks ORDER BY rank")
    assert ranks == [(rank, 4, "RANK") for rank in range(4)]
    assert desk.database("run.db").value("SELECT sum(calls) FROM call_stats WHERE name = 'hipMalloc'") == 1


def test_a_name_with_a_rank_needs_a_rank(desk):
    said = desk.run("fade-run -o 'run-%r.db' -- touch started; echo status $?")
    assert "has no rank" in said and "status 125" in said
    assert not (desk.folder / "started").exists() and not [*desk.folder.glob("run-*")]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root names a machine")
def test_files_of_machines_have_their_names(desk, needs):
    needs("srun")
    desk.run("srun --nodes 2 --ntasks 2 fade-run -q -o 'run-%h-%r.db' -- true")
    assert sorted(path.name for path in desk.folder.glob("run-*.db")) == ["run-node1-0.db", "run-node2-1.db"]


# ---------------------------------------------------------------- Kubernetes
DOCKER = transcripts.ROOT / "docker"
MANIFESTS = ("kubernetes.yaml", "kubernetes-job.yaml", "kubernetes-daemonset.yaml")
TYPES = {"Pod": "core/v1", "Service": "core/v1", "Job": "batch/v1", "DaemonSet": "apps/v1"}
PACKAGES = ("typescript@5.6.3", "kubernetes-types@1.30.0")


def objects(name):
    return [*yaml.safe_load_all((DOCKER / name).read_text())]


def checked_by_types(folder, found):
    """What the compiler of TypeScript says of these objects: unknown fields, missing ones, values of wrong types."""
    lines = [f'import {{{kind}}} from "kubernetes-types/{module}";' for kind, module in TYPES.items()]
    lines += [f"export const n{number}: {one['kind']} = {json.dumps(one)};" for number, one in enumerate(found)]
    (folder / "check.ts").write_text("\n".join(lines))
    command = ["node", "node_modules/typescript/bin/tsc", "--strict", "--noEmit", "--skipLibCheck", "check.ts"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True).stdout


@pytest.fixture(scope="session")
def types(tmp_path_factory):
    """A folder with the types of Kubernetes' API; they are fetched for the test."""
    folder = tmp_path_factory.mktemp("types")
    if shutil.which("npm") is None:
        pytest.skip("npm is not installed")
    (folder / "package.json").write_text("{}")
    options = ["--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline", "--fetch-retries=0"]
    command = ["timeout", "200", "npm", "install", *options, *PACKAGES]
    done = subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300)
    if done.returncode != 0:
        pytest.skip(f"npm cannot fetch {PACKAGES}: {done.stderr.strip().splitlines()[-1:]}")
    return folder


def test_the_manifests_are_what_kubernetes_takes(types):
    found = [one for name in MANIFESTS for one in objects(name)]
    assert {one["kind"] for one in found} == set(TYPES)
    assert checked_by_types(types, found) == ""


def test_the_check_of_manifests_finds_mistakes(types):
    (job,) = (one for one in objects("kubernetes-job.yaml") if one["kind"] == "Job")
    wrong = json.loads(json.dumps(job))
    wrong["spec"]["template"]["spec"]["containers"][0]["comand"] = ["true"]
    assert '"comand"' in checked_by_types(types, [wrong])
    del wrong["spec"]["template"]["spec"]["containers"][0]["comand"]
    wrong["spec"]["completions"] = "2"
    assert "'string' is not assignable to type 'number'" in checked_by_types(types, [wrong])


def test_the_pods_of_the_job(desk, needs):
    """The commands of both pods, with two ranks each, on machines with the names that an indexed Job gives."""
    needs("torchrun", "srun")
    service, job = objects("kubernetes-job.yaml")
    spec = job["spec"]["template"]["spec"]
    assert (job["spec"]["completionMode"], spec["subdomain"]) == ("Indexed", service["metadata"]["name"])
    assert service["spec"]["selector"] == {"job-name": job["metadata"]["name"]}
    (container,) = spec["containers"]
    assert "securityContext" not in container and "securityContext" not in spec
    assert [mount["mountPath"] for mount in container["volumeMounts"]] == ["/recordings"]
    words = [*container["command"], *container["args"]]
    assert words[words.index("--nnodes") + 1] == str(job["spec"]["completions"]) == str(job["spec"]["parallelism"])
    words[words.index("--nproc_per_node") + 1] = "2"
    said = shlex.join(words).replace("/recordings/", "").replace("training-0.training:", "localhost:")
    pods = [f"unshare --uts sh -c 'hostname training-{index}; exec \"$@\"' sh {said}" for index in range(2)]
    desk.run(f"{pods[0]} 2>first & {pods[1]} 2>second; wait")
    told = " ".join(desk.run("fade-query -q 'run-training-*.db' ranks").split())
    assert "4 ranks of 4 on training-0,training-1, told by RANK" in told, (desk.folder / "second").read_text()
    assert "the others wait for rank 3" in told
