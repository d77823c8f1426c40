"""What cmake --install and the Debian package put where, and that fade runs from there."""
import os
import pathlib
import shutil
import subprocess

import pytest

from programs import fade  # noqa: F401 (fixtures)

SOURCE = pathlib.Path(__file__).resolve().parents[2]
FILES = [
    "bin/fade", "bin/fade-run", "bin/fade-attach", "bin/fade-query", "lib/fade/demo/fade-demo", "lib/fade/demo/train.py",
    "share/bash-completion/completions/fade-run", "share/zsh/vendor-completions/_fade", "share/fish/vendor_completions.d/fade-run.fish",
    "share/fade/probes/hip.probes", "share/doc/fade/README.md",
]
PAGES = ["man1/fade.1", "man1/fade-run.1", "man1/fade-attach.1", "man1/fade-query.1", "man5/fade-probes.5", "man7/fade-override.7", "man7/fade-schema.7"]


def expected_files():
    return FILES + ([f"share/man/{page}" for page in PAGES] if shutil.which("scdoc") else [])


def sh(*command, **more):
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300, **more)
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
    assert [f for f in expected_files() if not lib_file(prefix, f).exists()] == []
    check_that_it_runs(prefix, tmp_path, fade)


@pytest.fixture(scope="module")
def package(build, tmp_path_factory):
    folder = tmp_path_factory.mktemp("package")
    sh("cpack", "-G", "DEB", "-B", folder, "--config", build.folder / "CPackConfig.cmake")
    (deb,) = folder.glob("*.deb")
    return deb


def test_the_package_says_what_it_needs(package):
    assert package.name.startswith("fade_0.1.0_")
    fields = sh("dpkg-deb", "--field", package)
    for library in ("libsqlite3-0", "libdw1", "libsmartcols1", "libc6"):
        assert library in fields
    assert "amdhip" not in fields


def test_the_package_holds_no_strays(package):
    listing = sh("dpkg-deb", "--contents", package)
    paths = [line.split()[5].removeprefix("./usr/") for line in listing.splitlines() if not line.startswith("d")]
    assert all(not path.startswith(("include/", "./")) and not path.endswith((".a", ".cmake")) for path in paths), paths
    owners = {line.split()[1] for line in listing.splitlines()}
    assert owners == {"root/root"}


def test_the_package_installs_runs_and_leaves_nothing(package, fade, tmp_path):
    if os.geteuid() != 0:
        pytest.skip("dpkg --root needs root")
    root = tmp_path / "root"
    (root / "var/lib/dpkg/info").mkdir(parents=True)
    (root / "var/lib/dpkg/updates").mkdir()
    (root / "var/lib/dpkg/status").touch()
    dpkg = ["dpkg", f"--root={root}", "--force-depends", "--force-script-chrootless", "--log=/dev/null"]
    sh(*dpkg, "--install", package)
    assert [f for f in expected_files() if not installed(root / "usr", f)] == []
    check_that_it_runs(root / "usr", tmp_path, fade)
    sh(*dpkg, "--remove", "fade")
    assert [path for path in root.rglob("*") if "var/lib/dpkg" not in str(path) and path.is_file()] == []


def installed(prefix, file):
    return lib_file(prefix, file).exists() or lib_file(prefix, file + ".gz").exists()


def test_the_list_of_packages_is_read_by_section():
    install = SOURCE / "docker/install-deps.sh"
    build = sh(install, "--list", "build").split()
    assert {"g++", "cmake", "libsqlite3-dev"} <= set(build) and "python3-pytest" not in build
    assert set(sh(install, "--list", "build", "test").split()) > set(build)
    assert subprocess.run([install, "--list", "nonsense"], stderr=subprocess.DEVNULL, timeout=60).returncode == 2
