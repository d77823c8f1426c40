"""A current ClickHouse without its server: its engine as a library (libchdb of chdb), and the part of its HTTP
interface that fade uses, in a process of its own. FADE_CHDB names the library. Users, clusters and TLS are not there.

python3 newer_clickhouse.py LIBRARY FOLDER PORT
"""
import ctypes
import ctypes.util
import http.server
import os
import pathlib
import socket
import subprocess
import sys
import time
import urllib.parse

import pytest

import clickhouse

LIBRARY = os.environ.get("FADE_CHDB", "")
NEEDED = pytest.mark.skipif(not LIBRARY, reason="FADE_CHDB names no libchdb.so")
# Parameters of a request that are no settings of the engine.
OF_HTTP = {"query", "query_id", "database", "decompress"}
BLOCK = "FORMAT Native"
HEAD = 16 + 9  # of a compressed block: checksum, method, sizes


class Server(clickhouse.Server):
    def start(self):
        self.folder.mkdir(exist_ok=True)
        with open(self.folder / "out", "ab") as out:
            self.process = subprocess.Popen(
                [sys.executable, __file__, LIBRARY, self.data, str(self.http)],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
            )
        for _ in range(1200):
            assert self.process.poll() is None, (self.folder / "out").read_text(errors="replace")[-2000:]
            try:
                socket.create_connection(("127.0.0.1", self.http)).close()
                return self
            except OSError:
                time.sleep(0.05)
        raise AssertionError("the library does not answer")


class Engine:
    def __init__(self, library, folder):
        self.lib = ctypes.CDLL(library)
        pointer, text, size = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t
        for name, result, arguments in (
            ("chdb_connect", ctypes.POINTER(pointer), [ctypes.c_int, ctypes.POINTER(text)]),
            ("chdb_query_n", pointer, [pointer, text, size, text, size]),
            ("chdb_result_buffer", pointer, [pointer]),
            ("chdb_result_length", size, [pointer]),
            ("chdb_result_error", text, [pointer]),
            ("chdb_destroy_query_result", None, [pointer]),
        ):
            function = getattr(self.lib, name)
            function.restype, function.argtypes = result, arguments
        self.last, self.block = {}, folder.parent / "block"
        words = (text * 2)(b"clickhouse", f"--path={folder}".encode())
        self.connection = self.lib.chdb_connect(2, words)

    def once(self, sql):
        """A statement for all later ones. Returns the words of an error."""
        what = sql.partition("=")[0] if sql.startswith("SET") else "USE"
        if self.last.get(what) == sql:
            return None
        error = self.ask(sql.encode())[1]
        if not error:
            self.last[what] = sql
        return error

    def ask(self, sql):
        """The answer, or the words of the error."""
        form = b"TabSeparated"
        result = self.lib.chdb_query_n(self.connection[0], sql, len(sql), form, len(form))
        try:
            if error := self.lib.chdb_result_error(result):
                return None, error
            size = self.lib.chdb_result_length(result)
            return ctypes.string_at(self.lib.chdb_result_buffer(result), size) if size else b"", None
        finally:
            self.lib.chdb_destroy_query_result(result)


def unpacked(body):
    """ClickHouse's compressed blocks: all are zstd."""
    zstd, out = ctypes.CDLL(ctypes.util.find_library("zstd")), []
    zstd.ZSTD_decompress.restype = ctypes.c_size_t
    while body:
        packed, plain = (int.from_bytes(body[at : at + 4], "little") for at in (17, 21))
        room = ctypes.create_string_buffer(plain)
        data = body[HEAD : 16 + packed]
        got = zstd.ZSTD_decompress(room, ctypes.c_size_t(plain), data, ctypes.c_size_t(len(data)))
        assert body[16] == 0x90 and got == plain, (body[16], got, plain)
        out.append(room.raw)
        body = body[16 + packed :]
    return b"".join(out)


def answer(engine, words, body):
    for name, value in words.items():
        # A setting that the engine does not know is an error, as it is over HTTP.
        if name not in OF_HTTP and (error := engine.once(f"SET {name} = {value}")):
            return None, error
    if error := engine.once(f"USE {words.get('database', 'default')}"):
        return None, error
    if "query" not in words:
        return engine.ask(body)
    # The library takes the bytes behind a statement for text, so a block goes through a file.
    assert words["query"].endswith(BLOCK) and words["decompress"] == "1", words
    engine.block.write_bytes(unpacked(body))
    return engine.ask(words["query"].replace(BLOCK, f"SELECT * FROM file('{engine.block}', 'Native')").encode())


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.0"

    def do_POST(self):
        words = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(self.path).query, keep_blank_values=True))
        body = self.rfile.read(int(self.headers["Content-Length"]))
        text, error = answer(self.server.engine, words, body)
        self.send_response(200 if error is None else 500)
        data = error if text is None else text
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


class Listener(http.server.HTTPServer):  # one request after the other: the engine's connection is for one thread
    request_queue_size = 64

    def __init__(self, port, engine):
        super().__init__(("127.0.0.1", port), Handler)
        self.engine = engine


if __name__ == "__main__":
    Listener(int(sys.argv[3]), Engine(sys.argv[1], pathlib.Path(sys.argv[2]))).serve_forever()
