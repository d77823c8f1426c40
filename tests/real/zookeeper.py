"""ZooKeeper as Debian packages it, unpacked into a folder and started by its process number. Installs nothing."""
import os
import shutil
import socket
import subprocess
import time

PACKAGES = """zookeeper libzookeeper-java libnetty-java libslf4j-java libdropwizard-metrics-java libsnappy-java
    libcommons-io-java libcommons-cli-java openjdk-17-jre-headless""".split()
CONFIG = """tickTime=500
dataDir={folder}/data
clientPort={port}
clientPortAddress=127.0.0.1
admin.enableServer=false
4lw.commands.whitelist=srvr
"""


def unpack(folder):
    """Returns None, or why the packages are not there."""
    root = folder / "root"
    if (folder / "complete").exists():
        return None
    shutil.rmtree(folder, ignore_errors=True)
    root.mkdir(parents=True)
    if shutil.which("apt-get") is None:
        return "there is no apt-get"
    got = subprocess.run(["apt-get", "download", *PACKAGES], cwd=folder, capture_output=True, text=True, timeout=300)
    if got.returncode != 0:
        return " ".join(got.stderr.split())[-300:]
    for package in folder.glob("*.deb"):
        subprocess.run(["dpkg-deb", "--extract", package, root], check=True, timeout=120)
        package.unlink()
    settle_links(root)
    (folder / "complete").touch()
    return None


def settle_links(root):
    """Links of the Java runtime to /etc lead into the folder."""
    for folder, _, files in os.walk(root / "usr/lib/jvm"):
        for name in files:
            link = os.path.join(folder, name)
            if os.path.islink(link) and os.readlink(link).startswith("/etc/java"):
                target = str(root) + os.readlink(link)
                os.unlink(link)
                os.symlink(target, link)


class ZooKeeper:
    def __init__(self, unpacked, folder, port):
        self.root, self.folder, self.port, self.process = unpacked / "root", folder, port, None

    def start(self):
        (self.folder / "data").mkdir(parents=True)
        (self.folder / "zoo.cfg").write_text(CONFIG.format(folder=self.folder, port=self.port))
        java = min((self.root / "usr/lib/jvm").glob("java-*/bin/java"))  # one name is a link to the other
        jars = self.root / "usr/share/java"
        with open(self.folder / "out", "wb") as out:
            self.process = subprocess.Popen(
                [java, "-Xmx128m", "-cp", f"{jars}/slf4j-nop.jar:{jars}/*",
                 "org.apache.zookeeper.server.ZooKeeperServerMain", self.folder / "zoo.cfg"],
                stdin=subprocess.DEVNULL, stdout=out, stderr=out)
        for _ in range(600):
            assert self.process.poll() is None, (self.folder / "out").read_text(errors="replace")[-2000:]
            if self.serves():
                return self
            time.sleep(0.1)
        raise AssertionError("ZooKeeper does not answer")

    def serves(self):
        """It takes connections before it answers them."""
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=1) as to:
                to.sendall(b"srvr")
                return b"Mode:" in to.recv(4096)
        except OSError:
            return False

    def stop(self):
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait()
