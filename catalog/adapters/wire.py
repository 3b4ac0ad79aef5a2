"""Looking a name up and talking to the address that was checked, under one deadline.

The check lives in the function that connects, so that nothing lies between the two: one lookup, every answer
checked, and the socket opened to a checked address. The name stays for the Host header, for TLS server name
indication and for the certificate.
"""

from __future__ import annotations

import functools
import queue
import socket
import ssl
import threading
import time
from collections.abc import Callable, Container, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import certifi
import httpcore

from catalog.adapters.address import HostPort, IPAddress, Target, address_of, why_refused
from catalog.adapters.errors import FetchFailed, Refused

# One address that swallows packets must not use up the time of the next one.
CONNECT_SECONDS = 10.0


class Deadline:
    """The time left to a whole fetch: lookups, connections, redirects and bodies together."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._ends = time.monotonic() + seconds

    def left(self) -> float:
        """Seconds left, more than 0. Raises FetchFailed once there are none."""
        left = self._ends - time.monotonic()
        if left <= 0:
            raise self.passed()
        return left

    def passed(self) -> FetchFailed:
        return FetchFailed("timeout", f"not finished within {self._seconds:g} s")


def look_up(name: str, port: int) -> list[str]:
    """The addresses of `name`, in the order to try them. Raises OSError when there are none."""
    return [str(entry[4][0]) for entry in socket.getaddrinfo(name, port, type=socket.SOCK_STREAM)]


def open_socket(address: IPAddress, port: int, timeout: float) -> socket.socket:
    """A connected socket. Takes an address, never a name: the second lookup would be the unchecked one."""
    family = socket.AF_INET if address.version == 4 else socket.AF_INET6
    opened = socket.socket(family, socket.SOCK_STREAM)
    try:
        opened.settimeout(timeout)
        opened.connect((str(address), port))
    except BaseException:
        opened.close()
        raise
    return opened


@functools.cache  # reading the certificate bundle takes longer than most requests
def verifying_tls() -> ssl.SSLContext:
    return ssl.create_default_context(cafile=certifi.where())


@dataclass(frozen=True, slots=True)
class Internet:
    """The outside world, as a fetch meets it."""

    look_up: Callable[[str, int], Iterable[str]] = look_up
    open_socket: Callable[[IPAddress, int, float], socket.socket] = open_socket
    tls: Callable[[], ssl.SSLContext] = verifying_tls


INTERNET = Internet()


class CheckedBackend(httpcore.NetworkBackend):
    """httpcore's way to the network: leads to checked addresses of one target and nowhere else."""

    def __init__(
        self, target: Target, *, allowed: Container[HostPort], internet: Internet, deadline: Deadline
    ) -> None:
        self._target = target
        self._is_allowed = (target.host, target.port) in allowed
        self._internet = internet
        self._deadline = deadline

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.NetworkStream:
        failure = FetchFailed("unreachable", f"{self._target.host} has no address")
        for address in self._checked_addresses():
            patience = min(self._deadline.left(), CONNECT_SECONDS)
            try:
                return _Stream(
                    self._internet.open_socket(address, self._target.port, patience), self._deadline
                )
            except TimeoutError:
                failure = FetchFailed("timeout", f"no connection to {address} within {patience:.0f} s")
            except OSError as error:
                failure = FetchFailed("unreachable", f"{address}: {error.strerror or error}")
        raise failure

    def _checked_addresses(self) -> list[IPAddress]:
        """Every address of the target. One that may not be connected to spoils the whole answer."""
        if self._target.address is not None:
            return [self._target.address]  # judged with the URL
        try:
            addresses = [address_of(text) for text in self._looked_up()]
            for address in addresses:
                if not self._is_allowed and (reason := why_refused(address)):
                    raise Refused(f"{self._target.host} resolves to {address}, which is {reason}")
        except Refused as refused:
            raise FetchFailed("blocked", str(refused)) from refused
        return addresses

    def _looked_up(self) -> list[str]:
        """One lookup, in a thread: the resolver knows no deadline of ours and can take half a minute.

        The final dot keeps the machine's search domains out of it. A host an operator listed is looked up
        as written, since it may be a name that only the machine knows.
        """
        name = self._target.host if self._is_allowed else f"{self._target.host}."
        answers: queue.SimpleQueue[list[str] | Exception] = queue.SimpleQueue()

        def ask() -> None:
            try:
                answers.put(list(self._internet.look_up(name, self._target.port)))
            except (OSError, UnicodeError) as error:
                answers.put(error)

        threading.Thread(target=ask, name="lookup", daemon=True).start()
        try:
            answer = answers.get(timeout=self._deadline.left())
        except queue.Empty:
            raise self._deadline.passed() from None
        if isinstance(answer, Exception):
            raise FetchFailed("unreachable", f"{self._target.host} does not resolve") from answer
        return answer


class _Stream(httpcore.NetworkStream):
    """A socket whose every wait ends with the deadline of the fetch, however the bytes trickle."""

    def __init__(self, connected: socket.socket, deadline: Deadline) -> None:
        self._socket = connected
        self._deadline = deadline

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        with self._waiting():
            return self._socket.recv(max_bytes)

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        with self._waiting():
            self._socket.sendall(buffer)

    def close(self) -> None:
        self._socket.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        try:
            self._socket.settimeout(self._deadline.left())
            secured = ssl_context.wrap_socket(self._socket, server_hostname=server_hostname)
        except TimeoutError:
            raise self._deadline.passed() from None
        except OSError as error:  # a bad certificate, no common version, or hanging up in the handshake
            raise FetchFailed("tls", _tls_fault(error)) from error
        finally:
            if self._socket.fileno() != -1:  # wrap_socket detaches it when it succeeds
                self._socket.close()
        return _Stream(secured, self._deadline)

    def get_extra_info(self, info: str) -> Any:
        if info == "ssl_object" and isinstance(self._socket, ssl.SSLSocket):
            return self._socket
        return None

    @contextmanager
    def _waiting(self) -> Iterator[None]:
        self._socket.settimeout(self._deadline.left())
        try:
            yield
        except TimeoutError:
            raise self._deadline.passed() from None
        except ssl.SSLError as error:
            raise FetchFailed("tls", _tls_fault(error)) from error
        except OSError as error:
            raise FetchFailed("unreachable", f"connection lost: {error.strerror or error}") from error


def _tls_fault(error: OSError) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"certificate refused: {error.verify_message}"
    return f"no TLS connection: {getattr(error, 'reason', None) or error.strerror or error}"
