"""Authorities and certificates made by openssl, and a TLS proxy that may change its certificate."""
import pathlib
import select
import socket
import ssl
import subprocess
import threading

NEW_KEY = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes"


class Authority:
    def __init__(self, folder, name):
        self.folder, self.name = folder, name
        self.file = folder / f"{name}.pem"
        self._openssl(f"req -x509 {NEW_KEY} -keyout {name}.key -out {name}.pem -days 2 -subj /CN={name}")

    def _openssl(self, words):
        subprocess.run(["openssl", *words.split()], cwd=self.folder, check=True, capture_output=True)

    def certificate(self, name, host, days=2):
        """Files of a certificate and its key. `days` below 0: it has expired."""
        (self.folder / f"{name}.ext").write_text(f"subjectAltName={host}\n")
        self._openssl(f"req -new {NEW_KEY} -keyout {name}.key -out {name}.csr -subj /CN={name}")
        self._openssl(
            f"x509 -req -in {name}.csr -CA {self.file} -CAkey {self.name}.key -CAcreateserial -days {days}"
            f" -extfile {name}.ext -out {name}.pem"
        )
        return self.folder / f"{name}.pem", self.folder / f"{name}.key"


class Proxy:
    """Takes TLS on a port of its own and passes plain bytes to another port."""

    def __init__(self, port, certificate):
        self.port = port
        self.left = None  # bytes to pass to the server; then `next` is the certificate
        self.next = None
        self.use(certificate)
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"https://127.0.0.1:{self.listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def use(self, certificate):
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(*map(str, certificate))

    def cut_after(self, size, certificate):
        """Cuts the connection when the client has sent so many bytes, and has another certificate from then on."""
        self.left, self.next = size, certificate

    def close(self):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()

    def _accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=[client], daemon=True).start()

    def _serve(self, client):
        try:
            with self.context.wrap_socket(client, server_side=True) as near:
                with socket.create_connection(("127.0.0.1", self.port)) as far:
                    while self._pass_once(near, far):
                        pass
        except OSError:  # a client that does not trust the certificate, or one that was killed
            pass

    def _pass_once(self, near, far):
        ready = [near] if near.pending() else select.select([near, far], [], [])[0]
        for one, other in ((near, far), (far, near)):
            if one in ready:
                data = one.recv(1 << 14)
                if not data or one is near and self._is_cut(data, far):
                    return False
                other.sendall(data)
        return True

    def _is_cut(self, data, far):
        if self.left is None or len(data) < self.left:
            self.left = self.left and self.left - len(data)
            return False
        far.sendall(data[: self.left])
        self.left = None
        self.use(self.next)
        return True


def make(folder: pathlib.Path):
    """An authority, its certificates for 127.0.0.1 (good, expired), and an authority that signed none of them."""
    authority = Authority(folder, "authority")
    good = authority.certificate("good", "IP:127.0.0.1")
    return authority, good, authority.certificate("expired", "IP:127.0.0.1", days=-1), Authority(folder, "other")
