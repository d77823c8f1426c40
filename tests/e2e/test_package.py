"""What cmake --install and the Debian package put where, and that fade runs from there."""
import os
import pathlib
import shutil
import subprocess

import pytest

from programs import fade  # noqa: F401 (fixtures)

SOURCE = pathlib.Path(__file__).resolve().parents[2]
FILES = [
    "bin/fade", "bin/fade-run", "bin/fade-attach", "bin/fade-trace", "bin/fade-top",
    "bin/fade-query", "bin/fade-doctor", "bin/fade-check-blas", "lib/fade/demo/fade-demo", "lib/fade/demo/train.py",
    "share/bash-completion/completions/fade-run", "share/zsh/vendor-completions/_fade",
    "share/fish/vendor_completions.d/fade-run.fish",
    "share/fade/probes/hip.probes", "share/doc/fade/README.md", "share/doc/fade/docs/README.md",
    "share/doc/fade/LICENSE", "share/doc/fade/copyright",
]
DAEMON_FILES = [
    "bin/faded", "bin/fadectl", "lib/systemd/system/faded.service", "lib/systemd/system/faded.socket",
    "lib/systemd/user/faded.service",
    "lib/systemd/user/faded.socket", "lib/sysusers.d/fade.conf", "share/fade/grafana-dashboard.json",
    "share/fade/grafana-fleet.json", "share/fade/metrics.conf", "share/bash-completion/completions/fadectl",
    "share/fish/vendor_completions.d/fadectl.fish",
    "share/doc/fade-daemon/copyright",
]
DAEMON_PAGES = ["man1/fadectl.1", "man8/faded.8"]
PAGES = ["man1/fade.1", "man1/fade-run.1", "man1/fade-attach.1", "man1/fade-trace.1", "man1/fade-top.1",
         "man1/fade-query.1", "man1/fade-doctor.1", "man1/fade-check-blas.1", "man5/fade-probes.5",
         "man7/fade-override.7", "man7/fade-inject.7", "man7/fade-findings.7", "man7/fade-schema.7"]


def expected_files(files=FILES, pages=PAGES):
    return files + ([f"share/man/{page}" for page in pages] if shutil.which("scdoc") else [])


def daemon_files():
    return expected_files(DAEMON_FILES, DAEMON_PAGES)


def sh(*command, **more):
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=300, **more)
    assert done.returncode == 0, done.stdout
    return done.stdout


def lib_file(prefix, file):
    """CMake chooses lib or lib/x86_64-linux-gnu by the prefix."""
    found = [prefix / file, prefix / file.replace("lib/", "lib/x86_64-linux-gnu/", 1)]
    return next((path for path in found if path.exists()), found[0])


def check_that_it_runs(prefix, folder, fade):
    demo = lib_file(prefix, "lib/fade/demo/fade-demo")
    environment = {**fade.environment, "PATH": f"{prefix}/bin:/usr/bin:/bin"}
    sh("fade", "run", "-q", "-o", folder / "x.db", "--", demo, env=environment)
    assert "hipMalloc" in sh("fade", "query", folder / "x.db", "top", env=environment)


def test_install_is_complete_and_runs(fade, build, tmp_path):
    prefix = tmp_path / "prefix"
    sh("cmake", "--install", build.folder, "--prefix", prefix)
    assert [f for f in expected_files() + daemon_files() if not lib_file(prefix, f).exists()] == []
    assert f"ExecStart={prefix}/bin/faded\n" in (prefix / "lib/systemd/system/faded.service").read_text()
    check_that_it_runs(prefix, tmp_path, fade)


@pytest.fixture(scope="module")
def packages(build, tmp_path_factory):
    """By name."""
    folder = tmp_path_factory.mktemp("package")
    sh("cpack", "-G", "DEB", "-B", folder, "--config", build.folder / "CPackConfig.cmake")
    found = {deb.name.split("_")[0]: deb for deb in folder.glob("*.deb")}
    assert set(found) == {"fade", "fade-daemon"}
    return found


@pytest.fixture
def package(packages):
    return packages["fade"]


def contents(package):
    listing = sh("dpkg-deb", "--contents", package)
    return {line.split()[5].removeprefix("./usr/"): line for line in listing.splitlines() if not line.startswith("d")}


def test_the_daemon_has_a_package_of_its_own(packages, tmp_path):
    daemon = contents(packages["fade-daemon"])
    assert {name.removesuffix(".gz") for name in daemon} == set(daemon_files())
    assert not {name for name in contents(packages["fade"]) if "faded" in name or "fadectl" in name
                or "systemd" in name}
    assert "fade (= 0.2.0)" in sh("dpkg-deb", "--field", packages["fade-daemon"], "Depends")
    sh("dpkg-deb", "--extract", packages["fade-daemon"], tmp_path / "files")
    assert "ExecStart=/usr/bin/faded\n" in (tmp_path / "files/usr/lib/systemd/system/faded.service").read_text()
    sh("dpkg-deb", "--control", packages["fade-daemon"], tmp_path / "control")
    for script in ("postinst", "prerm", "postrm"):
        sh("sh", "-n", tmp_path / "control" / script)


def test_the_package_says_what_it_needs(package):
    assert package.name.startswith("fade_0.2.0_")
    fields = sh("dpkg-deb", "--field", package)
    for library in ("libsqlite3-0", "libdw1", "libsmartcols1", "libc6"):
        assert library in fields
    assert "amdhip" not in fields


@pytest.mark.parametrize("name", ["fade", "fade-daemon"])
def test_the_package_holds_no_strays(packages, name):
    paths = contents(packages[name])
    assert all(not path.startswith(("include/", "./")) and not path.endswith((".a", ".cmake")) for path in paths), paths
    assert {line.split()[1] for line in paths.values()} == {"root/root"}


def test_the_packages_install_run_and_leave_nothing(packages, fade, tmp_path):
    if os.geteuid() != 0:
        pytest.skip("dpkg --root needs root")
    root = tmp_path / "root"
    (root / "var/lib/dpkg/info").mkdir(parents=True)
    (root / "var/lib/dpkg/updates").mkdir()
    (root / "var/lib/dpkg/status").touch()
    dpkg = ["dpkg", f"--root={root}", "--force-depends", "--force-script-chrootless", "--log=/dev/null"]
    sh(*dpkg, "--install", *packages.values())
    assert [f for f in expected_files() + daemon_files() if not installed(root / "usr", f)] == []
    check_that_it_runs(root / "usr", tmp_path, fade)
    assert sh(root / "usr/bin/faded", "--version").startswith("faded 0.2.0")
    sh(*dpkg, "--remove", "fade-daemon", "fade")
    assert [path for path in root.rglob("*") if "var/lib/dpkg" not in str(path) and path.is_file()] == []


def installed(prefix, file):
    return lib_file(prefix, file).exists() or lib_file(prefix, file + ".gz").exists()


def test_the_list_of_packages_is_read_by_section():
    install = SOURCE / "docker/install-deps.sh"
    build = sh(install, "--list", "build").split()
    assert {"g++", "cmake", "libsqlite3-dev"} <= set(build) and "python3-pytest" not in build
    assert set(sh(install, "--list", "build", "test").split()) > set(build)
    assert subprocess.run([install, "--list", "nonsense"], stderr=subprocess.DEVNULL, timeout=60).returncode == 2
