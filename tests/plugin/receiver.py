# SPDX-License-Identifier: Apache-2.0
"""A receiver of hints on a unix socket that can be absent, slow, silent or hostile."""
import json
import os
import socket
import threading
import time

TAKEN = b"HTTP/1.1 204 No Content\r\n\r\n"


class Receiver:
    """behaviour: "take" (204), "hang" (read, never answer), "trickle" (the same answer, but one byte every half
    second), "flood" (an endless answer), "garbage"."""

    def __init__(self, path):
        self._path, self.behaviour = path, "take"
        self._lock, self._arrived = threading.Condition(threading.RLock()), []
        self.tokens, self.requests = set(), 0
        path.unlink(missing_ok=True)
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(path))
        os.chmod(path, 0o777)
        self._listener.listen(16)
        self._connections, self._servers = [], []
        self._acceptor = threading.Thread(target=self._accept, daemon=True)
        self._acceptor.start()

    def close(self) -> None:
        """As if it had never been there."""
        self._path.unlink(missing_ok=True)
        # A thread in accept() would keep a socket that is merely closed, and what waits there.
        self._listener.shutdown(socket.SHUT_RDWR)
        self._acceptor.join()
        self._listener.close()
        self.behave("take")
        for connection in self._connections:
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass  # it had ended by itself
        for server in self._servers:
            server.join()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self._connections.append(connection)
            self._servers.append(threading.Thread(target=self._serve, args=(connection,), daemon=True))
            self._servers[-1].start()

    def _serve(self, connection) -> None:
        stream = connection.makefile("rb")
        try:
            while line := stream.readline():
                headers = {}
                while (header := stream.readline().strip()):
                    key, _, value = header.decode().partition(": ")
                    headers[key.lower()] = value
                body = stream.read(int(headers.get("content-length", 0)))
                assert line.startswith(b"POST /v1/events ")
                with self._lock:
                    self.requests += 1
                    self._lock.notify_all()
                self._answer(connection, headers, body)
        except (OSError, ValueError):
            pass
        finally:
            stream.close()
            connection.close()

    def _answer(self, connection, headers, body) -> None:
        if self.behaviour == "hang":
            self._wait_while("hang", 60)
            raise ValueError("hung up")
        if self.behaviour == "trickle":
            for byte in TAKEN:
                connection.sendall(bytes([byte]))
                if not self._wait_while("trickle", 0.5):
                    break
            raise ValueError("hung up")
        if self.behaviour == "flood":
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100000000\r\n\r\n")
            while True:
                connection.sendall(b"x" * 65536)
        if self.behaviour == "garbage":
            connection.sendall(b"\0\xff not HTTP at all\r\n\r\n")
            raise ValueError("hung up")
        with self._lock:
            self.tokens.add(headers.get("authorization"))
            self._arrived.append((time.time(), json.loads(body)))
            self._lock.notify_all()
        connection.sendall(TAKEN)

    def _wait_while(self, behaviour: str, seconds: float) -> bool:
        """Whether it still behaves so after that time."""
        with self._lock:
            return not self._lock.wait_for(lambda: self.behaviour != behaviour, seconds)

    def behave(self, behaviour: str) -> None:
        """From the next request on; those that are held are let go."""
        with self._lock:
            self.behaviour = behaviour
            self._lock.notify_all()

    def hints(self) -> list:
        """(seconds since the epoch, hint) of all that came."""
        with self._lock:
            return [(at, hint) for at, batch in self._arrived for hint in batch["events"]]

    def batches(self) -> list:
        """All that came, as sent."""
        with self._lock:
            return [batch for _, batch in self._arrived]

    def wait(self, what: str, good, timeout: float = 15):
        """The first true GOOD(self) after something arrived."""
        deadline = time.monotonic() + timeout
        with self._lock:
            while not (result := good(self)):
                left = deadline - time.monotonic()
                assert left > 0, f"not within {timeout} s: {what}; came: {[h for _, h in self.hints()][-20:]}"
                self._lock.wait(left)
        return result
