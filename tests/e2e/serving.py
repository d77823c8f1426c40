"""A running fade-query serve, for the tests that ask it."""
import http.client
import json
import signal
import subprocess
import urllib.parse

import pytest

from page_recordings import PATIENCE, record, train  # noqa: F401
from queries import ENVIRONMENT


class Server:
    """A running fade-query serve."""

    def __init__(self, build, path, *options, **variables):
        self.process = subprocess.Popen(
            [build.fade_query, path, "serve", *options],
            cwd=path.parent,
            env={**ENVIRONMENT, **variables},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.address = self.process.stdout.readline().strip()
        assert self.address, self.process.stderr.read()
        parts = urllib.parse.urlsplit(self.address)
        self.port, self.path, self.host = parts.port, parts.path, parts.netloc

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.communicate()

    def connect(self):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)

    def get(self, path, method="GET", **headers):
        connection = self.connect()
        connection.request(method, path, headers=headers)
        answer = connection.getresponse()
        answer.text = answer.read().decode()
        connection.close()
        return answer

    def ask(self, name, **parameters):
        answer = self.get(f"{self.path}{name}?{urllib.parse.urlencode(parameters)}")
        assert answer.status == 200, (name, answer.status)
        return json.loads(answer.text)

    def end(self, how=signal.SIGINT):
        self.process.send_signal(how)
        self.process.communicate(timeout=PATIENCE)
        return self.process.returncode


@pytest.fixture(scope="module")
def server(build, train):
    with Server(build, train) as running:
        yield running
