"""Chromium without a window, driven over its DevTools protocol on a pipe: messages are JSON with a NUL behind each."""
import fcntl
import json
import os
import select
import shutil
import subprocess
import sys
import time

PROGRAM = shutil.which("chromium") or shutil.which("chromium-browser")
NEEDS_BROWSER = "chromium is not installed (Debian: apt install chromium)"
PATIENCE = 90  # seconds, on a busy machine
OPTIONS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--no-first-run",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
]

PLACES = (
    "import os, sys; os.dup2(int(sys.argv[1]), 3); os.dup2(int(sys.argv[2]), 4); os.execv(sys.argv[3], sys.argv[3:])"
)


class Browser:
    """One page in a browser of its own. errors: what its console said; requests: addresses that it asked for."""

    def __init__(self, folder, *options):
        (theirs_in, self.to), (self.out, theirs_out) = os.pipe(), os.pipe()
        high = [fcntl.fcntl(fd, fcntl.F_DUPFD, 10) for fd in (theirs_in, theirs_out)]  # 3 and 4 are the browser's
        command = [
            sys.executable,
            "-c",
            PLACES,
            *map(str, high),
            PROGRAM,
            *OPTIONS,
            f"--user-data-dir={folder}",
            *options,
            "about:blank",
        ]
        self.process = subprocess.Popen(
            command,
            pass_fds=high,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "HOME": str(folder)},
        )
        for fd in (theirs_in, theirs_out, *high):
            os.close(fd)
        self.buffer, self.number, self.session, self.events, self.errors, self.requests = b"", 0, None, [], [], []

    def __enter__(self):
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        os.close(self.to)
        os.close(self.out)

    def receive(self, deadline):
        while b"\0" not in self.buffer:
            if not select.select([self.out], [], [], max(0, deadline - time.monotonic()))[0]:
                raise TimeoutError("the browser does not answer")
            more = os.read(self.out, 1 << 20)
            if not more:
                raise EOFError("the browser ended")
            self.buffer += more
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def note(self, event):
        self.events.append(event["method"])
        about = event.get("params", {})
        if event["method"] == "Runtime.exceptionThrown":
            self.errors.append(about["exceptionDetails"].get("exception", {}).get("description", "exception"))
        elif event["method"] == "Runtime.consoleAPICalled" and about["type"] in ("error", "warning"):
            self.errors.append(str(about["args"]))
        elif event["method"] == "Log.entryAdded":
            self.errors.append(about["entry"]["text"])
        elif event["method"] == "Network.requestWillBeSent":
            self.requests.append(about["request"]["url"])

    def call(self, method, **parameters):
        self.number += 1
        message = {
            "id": self.number,
            "method": method,
            "params": parameters,
            **({"sessionId": self.session} if self.session else {}),
        }
        os.write(self.to, json.dumps(message).encode() + b"\0")
        deadline = time.monotonic() + PATIENCE
        while True:
            answer = self.receive(deadline)
            if answer.get("id") == self.number:
                assert "error" not in answer, answer
                return answer["result"]
            if "method" in answer:
                self.note(answer)

    def open(self, address, wait="document.readyState === 'complete'"):
        self.call("Page.navigate", url=address)
        deadline = time.monotonic() + PATIENCE
        while not self.value(wait):
            assert time.monotonic() < deadline, f"never: {wait}"
            time.sleep(0.05)

    def value(self, expression):
        """The value of JavaScript; what it throws fails the test."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def key(self, key):
        text = key if len(key) == 1 else ""
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, text=text)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key)
