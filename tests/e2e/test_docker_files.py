"""docker/: the image files say no package that packages.txt does not, and the examples give away no more than is
needed."""
import fnmatch
import json
import re
import subprocess

import pytest
import yaml

from containers import SOURCE, read_dockerfile, sh

DOCKER = SOURCE / "docker"
IMAGES = sorted(DOCKER.glob("Dockerfile.*"))
BASES = {"debian": "debian:12-slim", "ubuntu": "ubuntu:22.04"}


def install_deps(*sections):
    return sh(DOCKER / "install-deps.sh", "--list", *sections).split()


def runs(path):
    """(stage, command) of every RUN."""
    return [(stage, rest) for stage in read_dockerfile(path) for word, rest in stage.steps if word == "RUN"]


@pytest.fixture(params=IMAGES, ids=lambda path: path.suffix[1:])
def image(request):
    return request.param


def test_there_is_one_for_each_distribution():
    assert {path.suffix[1:] for path in IMAGES} == set(BASES)


def test_they_differ_in_their_base_alone(image):
    name = image.suffix[1:]
    stages = read_dockerfile(image)
    assert [stage.base for stage in stages] == [BASES[name], "scratch", BASES[name]]
    assert [stage.steps for stage in stages] == [stage.steps for stage in read_dockerfile(DOCKER / "Dockerfile.debian")]


def test_all_packages_come_from_the_list(image):
    """install-deps.sh is asked for sections that exist; apt-get itself installs the package of fade and nothing
    else."""
    sections = [section for _, command in runs(image)
                for found in re.findall(r"install-deps\.sh((?: [\w-]+)+)", command) for section in found.split()]
    assert sections == ["build", "package", "image"]
    listed = set(install_deps("build", "package", "image", "test"))
    for _, command in runs(image):
        for found in re.findall(r"apt-get install([^&|;]*)", command):
            assert [word for word in found.split() if not word.startswith("-")] == ["/tmp/fade*.deb"]
        # Names of packages that are commands or files, too.
        named = set(re.findall(r"(?<![\w/.-])[\w][\w+.-]*(?![\w/.-])", command)) & listed
        assert named <= {"cmake", "file"}, command
    assert "setcap" not in " ".join(install_deps("build")) and "libcap2-bin" in install_deps("image")


def test_the_shell_in_them_parses(image):
    commands = [command for _, command in runs(image)]
    assert len(commands) == 3
    for command in commands:
        done = subprocess.run(["sh", "-n", "-c", command], stderr=subprocess.PIPE, text=True, timeout=60)
        assert done.returncode == 0, done.stderr


def test_what_they_copy_exists(image):
    for stage in read_dockerfile(image):
        for copy in stage.arguments("COPY"):
            if "--from=" not in copy:
                assert all((SOURCE / name).exists() for name in copy.split()[:-1]), copy


def test_what_a_container_starts(image):
    last = read_dockerfile(image)[-1]
    assert json.loads(last.arguments("ENTRYPOINT")[0]) == ["fade"]
    assert json.loads(last.arguments("CMD")[0]) == ["--help"]
    assert not last.arguments("USER") and not last.arguments("HEALTHCHECK")
    (command,) = last.arguments("RUN")
    assert "setcap cap_sys_ptrace+p /usr/bin/fade-attach" in command and "+ep" not in command


def test_no_source_is_kept_from_the_build():
    patterns = (SOURCE / ".dockerignore").read_text().split()
    done = subprocess.run(["git", "-C", SOURCE, "ls-files"], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, timeout=60)
    if done.returncode != 0:
        pytest.skip(f"not a checkout: {done.stderr.strip()}")
    files = done.stdout.splitlines()
    # A pattern without a slash stands for names at the top, and for all that is below them.
    left_out = [file for file in files for pattern in patterns if fnmatch.fnmatch(file.split("/")[0], pattern)]
    assert files and left_out == []


# ---------------------------------------------------------------- the examples
def capabilities_and_more(service):
    """All that could give a container rights."""
    rights = {"cap_add", "privileged", "security_opt", "pid", "user", "devices",
              "ipc", "network_mode", "userns_mode", "cgroup"}
    return {name: value for name, value in service.items() if name in rights}


def test_compose_gives_no_more_than_is_needed():
    services = yaml.safe_load((DOCKER / "compose.yaml").read_text())["services"]
    assert capabilities_and_more(services["fade"]) == {"pid": "service:app", "cap_add": ["SYS_PTRACE"],
                                                       "network_mode": "none"}
    assert set(capabilities_and_more(services["app"])) == {"devices"}
    assert (DOCKER / services["fade"]["build"]["context"] / services["fade"]["build"]["dockerfile"]).exists()


def test_kubernetes_gives_no_more_than_is_needed():
    spec = yaml.safe_load((DOCKER / "kubernetes.yaml").read_text())["spec"]
    assert spec["shareProcessNamespace"] is True
    assert not {"hostPID", "hostNetwork", "hostIPC", "securityContext"} & set(spec)
    app, fade = spec["containers"]
    assert "securityContext" not in app
    assert fade["securityContext"] == {"runAsUser": 0, "capabilities": {"add": ["SYS_PTRACE"]}}
    assert {mount["name"] for mount in fade["volumeMounts"]} == {volume["name"] for volume in spec["volumes"]}
    shell = fade["args"][0]
    assert fade["command"] == ["sh", "-c"] and subprocess.run(["sh", "-n", "-c", shell], timeout=60).returncode == 0


def commands_of_fade():
    """(what says it, the words behind `fade`) of all examples, those in comments too."""
    compose = yaml.safe_load((DOCKER / "compose.yaml").read_text())["services"]["fade"]["command"]
    yield "compose.yaml", re.sub(r"\$\{\w+:-(\w+)\}", r"\1", compose)
    for found in re.findall(r"\bfade (attach .*?)(?:;|$)", (DOCKER / "kubernetes.yaml").read_text(), re.M):
        yield "kubernetes.yaml", found


@pytest.mark.parametrize("where, words", [*commands_of_fade()])
def test_the_options_in_the_examples_exist(build, tmp_path, where, words):
    """With --dry-run, options are read and nothing is attached to."""
    program = build.folder / "cli/attach/fade-attach"
    done = subprocess.run(["sh", "-c", f'exec "{program}" --dry-run {words.removeprefix("attach")}'],
                          cwd=tmp_path, timeout=60,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 0, f"{where}: {done.stderr}"
