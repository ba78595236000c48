"""Client processes on loopback, which sleep for their gradients and send through shaped links.

A link is a token bucket in its sender: the bytes of a message leave in parts, as its rate allows,
and count as received one latency after the last. A link without a rate is shaped by the kernel.
``python loopback.py HOST PORT CLIENT`` is a client.
"""

import json
import socket
import struct
import subprocess
import sys
import time
from queue import Queue
from threading import Thread

PARTS = 8
TAIL = struct.Struct("d")
HEAD = struct.Struct("q")


class Link:
    """One end of a connection with a rate in bits per second, for sending, and a latency.

    Without a rate the message leaves at once, and has left its link when the last byte arrives.
    """

    def __init__(self, connection, rate, latency):
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.connection, self.rate, self.latency = connection, rate, latency

    def send(self, bits):
        """Send a message of so many bits, in parts, and then the time at which it has left."""
        size = (bits + 7) // 8
        begin = time.monotonic()
        self.connection.sendall(HEAD.pack(size))
        if self.rate is None:
            self.connection.sendall(bytes(size) + TAIL.pack(0.0))
            return
        for part in range(PARTS):
            first, last = size * part // PARTS, size * (part + 1) // PARTS
            until(begin + bits * (part + 1) / PARTS / self.rate)
            self.connection.sendall(bytes(last - first))
        self.connection.sendall(TAIL.pack(time.monotonic()))

    def receive(self):
        """Wait for a message; return its number of bytes, or None at the end."""
        head = self._read(HEAD.size)
        if head is None:
            return None
        (size,) = HEAD.unpack(head)
        self._read(size)
        (left,) = TAIL.unpack(self._read(TAIL.size))
        until((time.monotonic() if self.rate is None else left) + self.latency)
        return size

    def _read(self, size):
        parts = b""
        while len(parts) < size:
            part = self.connection.recv(size - len(parts))
            if not part:
                return None
            parts += part
        return parts


def until(moment):
    """Sleep until a moment of the monotonic clock, which all processes share."""
    time.sleep(max(0.0, moment - time.monotonic()))


def serve_as_client(host, port, number):
    """Do the steps that the server has sent: receive, work for some seconds, send some bits."""
    connection = connected(host, port)
    connection.sendall(HEAD.pack(number))
    (size,) = HEAD.unpack(connection.recv(HEAD.size, socket.MSG_WAITALL))
    asked = json.loads(connection.recv(size, socket.MSG_WAITALL))
    link = Link(connection, asked["rate"], asked["latency"])
    until(asked["begin"])
    for step, amount in asked["steps"]:
        if step == "work":
            time.sleep(amount)
        elif step == "send":
            link.send(amount)
        elif link.receive() is None:
            return
    connection.sendall(HEAD.pack(0) + TAIL.pack(time.monotonic()))  # it is done


def connected(host, port):
    """Connect to the server, whose network may still have to be made."""
    deadline = time.monotonic() + 10
    while True:
        try:
            return socket.create_connection((host, port), timeout=None)
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.02)


def here(client, words, clients):
    """Start a client on loopback; its links are token buckets with these rates up and down."""
    process = subprocess.Popen([*words[:3], "127.0.0.1", *words[3:]])
    return process, clients.uplink[client], clients.downlink[client]


class Fleet:
    """The client processes, seen from the server: a queue of what arrives, and a link to each."""

    def __init__(self, clients, steps, *, start=here):
        """Start a process for every client, with its steps."""
        n = len(clients.gradient)
        self.arrivals = [Queue() for _ in range(n)]
        with socket.create_server(("127.0.0.1" if start is here else "0.0.0.0", 0)) as server:
            port = str(server.getsockname()[1])
            started = [
                start(i, [sys.executable, "-S", __file__, port, str(i)], clients) for i in range(n)
            ]
            self._processes, up, down = zip(*started, strict=True)
            connections = {}
            for _ in range(n):
                connection, _ = server.accept()
                (number,) = HEAD.unpack(connection.recv(HEAD.size, socket.MSG_WAITALL))
                connections[number] = connection
        self.begin = time.monotonic() + 0.1
        self._links = []
        for i in range(n):
            asked = {"rate": up[i], "latency": clients.latency, "begin": self.begin,
                     "steps": steps[i]}  # fmt: skip
            words = json.dumps(asked).encode()
            connections[i].sendall(HEAD.pack(len(words)) + words)
            self._links.append(Link(connections[i], down[i], clients.latency))
        self._leaving = [Queue() for _ in range(n)]
        for i in range(n):
            Thread(target=self._read, args=(i,), daemon=True).start()
            Thread(target=self._write, args=(i,), daemon=True).start()
        until(self.begin)

    def send(self, client, bits):
        """Send a message to a client behind those before, without waiting for it."""
        self._leaving[client].put(bits)

    def stop(self):
        """End the processes."""
        for link in self._links:
            link.connection.close()
        for process in self._processes:
            process.kill()
            process.wait()

    def _read(self, client):
        try:
            while self._links[client].receive() is not None:
                self.arrivals[client].put(time.monotonic())
        except OSError:  # the link is closed
            return

    def _write(self, client):
        try:
            while True:
                self._links[client].send(self._leaving[client].get())
        except OSError:
            return


if __name__ == "__main__":
    serve_as_client(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
