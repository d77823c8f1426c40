"""Packages of a Debian release, unpacked without being installed. Lists and settings of the machine are not touched."""
import os
import pathlib
import subprocess

KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"
MIRROR = "http://deb.debian.org/debian"


def settings(folder, suite):
    """Writes a configuration of apt with all its state in `folder`; returns the environment that uses it."""
    for part in ("lists/partial", "cache/archives/partial", "state"):
        (folder / part).mkdir(parents=True, exist_ok=True)
    (folder / "status").touch()
    (folder / "sources.list").write_text(f"deb [signed-by={KEYRING}] {MIRROR} {suite} main\n")
    paths = {"State": "state", "State::lists": "lists", "State::status": "status", "Cache": "cache",
             "Etc::sourcelist": "sources.list"}
    lines = [f'Dir::{key} "{folder / value}";' for key, value in paths.items()]
    lines += ['Dir::Etc::sourceparts "/dev/null";', 'Acquire::Languages "none";', 'APT::Sandbox::User "root";']
    (folder / "apt.conf").write_text("\n".join(lines) + "\n")
    return dict(os.environ, APT_CONFIG=str(folder / "apt.conf"))


def unpack(names, suite, folder, root):
    environment = settings(folder, suite)
    subprocess.run(["apt-get", "-qq", "update"], env=environment, check=True)
    subprocess.run(["apt-get", "-qq", "download", *names], env=environment, check=True, cwd=folder)
    for package in sorted(folder.glob("*.deb")):
        subprocess.run(["dpkg", "-x", package, root], check=True)
        fields = subprocess.run(["dpkg-deb", "-f", package, "Package", "Version"], check=True, text=True,
                                stdout=subprocess.PIPE).stdout
        version = dict(line.split(": ", 1) for line in fields.splitlines())
        (root / (version["Package"] + ".version")).write_text(version["Version"])


def versions(names, root):
    """The packages with their versions, as unpack() has noted them."""
    notes = [(name, pathlib.Path(root, name + ".version")) for name in names]
    return ", ".join(f"{name} {note.read_text()}" if note.exists() else name for name, note in notes)
