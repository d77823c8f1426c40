"""Real ClickHouse servers on loopback, with folders and ports of their own, ended by their process numbers."""
import pathlib
import shutil
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request

PROGRAM = shutil.which("clickhouse-server")
USER, PASSWORD = "fade", "secret"

CONFIG = """<?xml version="1.0"?>
<yandex>
  <logger><level>warning</level><log>{folder}/server.log</log><errorlog>{folder}/errors.log</errorlog></logger>
  <http_port>{http}</http_port>{tls}<tcp_port>{tcp}</tcp_port><listen_host>127.0.0.1</listen_host>
  <max_connections>64</max_connections><max_concurrent_queries>32</max_concurrent_queries>
  <mark_cache_size>16777216</mark_cache_size>
  <path>{data}/</path><tmp_path>{data}/tmp/</tmp_path><format_schema_path>{folder}/</format_schema_path>
  <users_config>{folder}/users.xml</users_config>
  <default_profile>default</default_profile><default_database>default</default_database><timezone>UTC</timezone>
  <remote_servers><pair>{shards}</pair></remote_servers>{replicated}
</yandex>
"""
TLS = """<https_port>{port}</https_port><openSSL><server>
    <certificateFile>{certificate}</certificateFile><privateKeyFile>{key}</privateKeyFile>
    <verificationMode>none</verificationMode><loadDefaultCAFile>false</loadDefaultCAFile></server></openSSL>
  """
REPLICA = """<replica><host>127.0.0.1</host><port>{tcp}</port>
  <user>fade</user><password>secret</password></replica>"""
REPLICATED = """
  <zookeeper><node><host>127.0.0.1</host><port>{keeper}</port></node>
    <session_timeout_ms>5000</session_timeout_ms></zookeeper>
  <macros><shard>1</shard><replica>{tcp}</replica></macros>
  <interserver_http_host>127.0.0.1</interserver_http_host><interserver_http_port>{between}</interserver_http_port>"""
USERS = """<?xml version="1.0"?>
<yandex>
  <profiles><default><max_memory_usage>1000000000</max_memory_usage></default></profiles>
  <users><fade><password>secret</password><networks><ip>127.0.0.1</ip></networks>
    <profile>default</profile><quota>default</quota></fade></users>
  <quotas><default></default></quotas>
</yandex>
"""


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Server:
    def __init__(self, folder, data=None):
        self.folder, self.data = folder, data or folder / "data"
        self.http, self.https, self.tcp = free_port(), free_port(), free_port()
        self.url = f"http://127.0.0.1:{self.http}"
        self.process = None

    def start(self, shards=(), program=(PROGRAM,), tls=None, keeper=None):
        """`tls`: a certificate and its key, for the port `https` beside the usual one. With the port of a ZooKeeper the
        servers are replicas of one shard, else each is a shard."""
        self.folder.mkdir(exist_ok=True)
        self.data.mkdir(exist_ok=True)
        (self.data / "tmp").mkdir(exist_ok=True)
        if not (self.folder / "config.xml").exists():
            each = [REPLICA.format(tcp=one.tcp) for one in shards or [self]]
            of_all = "".join(f"<shard>{one}</shard>" for one in each)
            replicated = ""
            if keeper:
                of_all = f"<shard><internal_replication>true</internal_replication>{''.join(each)}</shard>"
                replicated = REPLICATED.format(keeper=keeper, tcp=self.tcp, between=free_port())
            words = dict(folder=self.folder, data=self.data, http=self.http, tcp=self.tcp, shards=of_all)
            words["tls"] = TLS.format(port=self.https, certificate=tls[0], key=tls[1]) if tls else ""
            words["replicated"] = replicated
            (self.folder / "config.xml").write_text(CONFIG.format(**words))
            (self.folder / "users.xml").write_text(USERS)
        with open(self.folder / "out", "ab") as out:
            self.process = subprocess.Popen(
                [*program, f"--config-file={self.folder}/config.xml"],
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
            )
        self.wait_until_up()
        return self

    def wait_until_up(self):
        for _ in range(1200):
            assert self.process.poll() is None, (self.folder / "errors.log").read_text(errors="replace")[-2000:]
            try:
                return self.ask("SELECT 1")
            except OSError:
                time.sleep(0.05)
        raise AssertionError("the server does not answer")

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self):
        """At once: an orderly end takes seconds, and its data is never used again."""
        if self.process and self.process.poll() is None:
            self.kill()

    def ask(self, sql, database="default", **parameters):
        """Rows as lists of texts."""
        words = urllib.parse.urlencode({"database": database, **parameters})
        request = urllib.request.Request(
            f"{self.url}/?{words}",
            data=(sql + " ").encode(),
            headers={"X-ClickHouse-User": USER, "X-ClickHouse-Key": PASSWORD},
        )
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                text = answer.read().decode()
        except urllib.error.HTTPError as error:
            raise AssertionError(error.read().decode()) from error
        return [line.split("\t") for line in text.splitlines()]

    def number(self, sql, database="fade"):
        return int(self.ask(sql, database)[0][0])


def environment():
    return {"CLICKHOUSE_USER": USER, "CLICKHOUSE_PASSWORD": PASSWORD}


def folder_of(tmp_path_factory, name):
    return pathlib.Path(tmp_path_factory.mktemp(name))
