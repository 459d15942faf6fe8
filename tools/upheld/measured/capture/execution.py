"""One execution of a command: shown while it runs, kept as it was printed, stopped with us."""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import FrameType
from typing import IO, Literal, Self

from upheld.corpus.files import MAX_RAW_BYTES

Outcome = Literal["completed", "failed", "interrupted"]

STDOUT, STDERR = "stdout.txt", "stderr.txt"

STOPS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""The signals by which somebody stops a run; they are passed on to the command."""

GRACE = 10.0
"""Seconds that a stopped command has to end before it is killed; a second signal kills at once."""

_LINGER = 2.0  # seconds for what is still in the pipes when the command has ended
_BEAT = 0.1
_PIECE = 65_536


class NotStarted(Exception):
    """The command can't be started; the message says why."""


@dataclass(frozen=True, slots=True)
class Execution:
    """How one execution went. Times are in UTC.

    `exit_status` is None where `signal`, such as SIGSEGV, ended the command. `stopped_by` is the
    signal that this process received and passed on. `cut` names the streams that were longer than
    what is kept of one.
    """

    started: datetime
    ended: datetime
    exit_status: int | None
    signal: str | None
    stopped_by: str | None
    cut: tuple[str, ...] = ()

    @property
    def outcome(self) -> Outcome:
        """Interrupted where somebody stopped it, whatever its exit status; else by that."""
        if self.stopped_by or self.signal in {each.name for each in STOPS}:
            return "interrupted"
        return "completed" if self.exit_status == 0 and not self.cut else "failed"


class Stops:
    """Notes the signals of STOPS while it is open, and passes them on to the running command.

    Only for the main thread, as Python hands signals to no other.
    """

    def __init__(self) -> None:
        self.received: str | None = None
        self._kill_at: float | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._former: dict[signal.Signals, object] = {}

    def __enter__(self) -> Self:
        for each in STOPS:
            self._former[each] = signal.signal(each, self._stop)
        return self

    def __exit__(self, *_: object) -> None:
        for each, former in self._former.items():
            signal.signal(each, former)  # type: ignore[arg-type]  # what signal() itself returned

    def watch(self, process: subprocess.Popen[bytes]) -> None:
        """Pass signals on to this process and all that it started, the earlier ones at once."""
        self._process = process
        if self.received is not None:
            self._pass_on(signal.Signals[self.received])

    def kill_overdue(self) -> None:
        """Kill a stopped command whose time is over."""
        if self._kill_at is not None and time.monotonic() >= self._kill_at:
            self.kill()

    def kill(self) -> None:
        """End the command and all that it started, at once."""
        self._send(signal.SIGKILL)

    def leave(self) -> None:
        """The command has ended; where it was stopped, nothing that it started stays."""
        if self.received is not None:
            self.kill()
        self._process = None

    def _stop(self, number: int, _: FrameType | None) -> None:
        again = self.received is not None
        self.received = self.received or signal.Signals(number).name
        if self._process is not None:
            self._pass_on(signal.SIGKILL if again else signal.Signals(number))

    def _pass_on(self, which: signal.Signals) -> None:
        self._kill_at = self._kill_at or time.monotonic() + GRACE
        self._send(which)

    def _send(self, which: signal.Signals) -> None:
        if self._process is None:
            return
        try:
            # The command leads a process group of its own: see start_new_session below.
            os.killpg(self._process.pid, which)
        except (ProcessLookupError, PermissionError):
            return


def execute(command: Sequence[str], folder: Path, stops: Stops) -> Execution:
    """Run the command, with its output shown and kept in `folder`.

    Raises:
        NotStarted: it is no program that can run here.
        OSError: its output can't be written.
    """
    with (folder / STDOUT).open("xb") as out, (folder / STDERR).open("xb") as err:
        started = datetime.now(UTC)
        with _start(command) as process:
            assert process.stdout is not None, "it is a pipe"
            assert process.stderr is not None, "it is a pipe"
            streams = (_Stream(process.stdout, out, 1), _Stream(process.stderr, err, 2))
            stops.watch(process)
            try:
                ended = _pump(process, streams, stops)
            except BaseException:
                stops.kill()
                raise
            finally:
                stops.leave()
    status = process.returncode
    return Execution(
        started=started,
        ended=ended,
        exit_status=status if status >= 0 else None,
        signal=signal.Signals(-status).name if status < 0 else None,
        stopped_by=stops.received,
        cut=tuple(Path(each.kept.name).name for each in streams if each.cut),
    )


def _start(command: Sequence[str]) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(  # noqa: S603  # the command that the user typed
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
        )
    except OSError as error:
        raise NotStarted(error.strerror or "it can't be started") from None


class _Stream:
    """A pipe whose content is kept up to a limit and shown while somebody looks."""

    def __init__(self, pipe: IO[bytes], kept: IO[bytes], shown_on: int) -> None:
        self.pipe = pipe
        self.kept = kept
        self.cut = False
        self._room = MAX_RAW_BYTES
        self._shown_on: int | None = shown_on

    def take(self, data: bytes) -> None:
        self.kept.write(data[: self._room])
        self.kept.flush()
        self.cut = self.cut or len(data) > self._room
        self._room -= min(len(data), self._room)
        while data and self._shown_on is not None:
            try:
                data = data[os.write(self._shown_on, data) :]
            except OSError:
                # Who looked is gone; the run is kept all the same.
                self._shown_on = None


def _pump(process: subprocess.Popen[bytes], streams: Sequence[_Stream], stops: Stops) -> datetime:
    """Take in the streams until the command has ended; when that was."""
    ended: datetime | None = None
    until = 0.0
    with selectors.DefaultSelector() as selector:
        for stream in streams:
            selector.register(stream.pipe, selectors.EVENT_READ, stream)
        while ended is None or (selector.get_map() and time.monotonic() < until):
            for key, _ in selector.select(_BEAT):
                data = os.read(key.fd, _PIECE)
                if data:
                    key.data.take(data)
                else:
                    selector.unregister(key.fileobj)
            stops.kill_overdue()
            if ended is None and process.poll() is not None:
                ended = datetime.now(UTC)
                until = time.monotonic() + _LINGER
    return ended
