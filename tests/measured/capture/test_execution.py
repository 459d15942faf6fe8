from __future__ import annotations

import os
import signal
import sys
import threading
import time
from pathlib import Path

import pytest

from upheld.measured.capture import execution
from upheld.measured.capture.execution import Execution, NotStarted, Stops, execute


def run(folder: Path, code: str) -> Execution:
    with Stops() as stops:
        return execute([sys.executable, "-c", code], folder, stops)


def test_times_are_in_utc_and_enclose_the_run(tmp_path: Path) -> None:
    found = run(tmp_path, "import time; time.sleep(0.3)")
    assert found.started.utcoffset() == found.ended.utcoffset()
    assert (found.ended - found.started).total_seconds() >= 0.3
    assert found.started.isoformat().endswith("+00:00")


def test_what_is_beyond_the_limit_is_not_kept_and_the_run_failed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(execution, "MAX_RAW_BYTES", 10)
    found = run(tmp_path, "print('x' * 100)")
    assert (tmp_path / "stdout.txt").read_bytes() == b"x" * 10
    assert found.cut == ("stdout.txt",)
    assert (found.exit_status, found.outcome) == (0, "failed")


def test_what_a_command_left_running_does_not_hold_it_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(execution, "_LINGER", 0.2)
    code = (
        "import subprocess, sys\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(30)'])\n"
        "print(child.pid)"
    )
    begun = time.monotonic()
    found = run(tmp_path, code)
    os.kill(int((tmp_path / "stdout.txt").read_bytes()), signal.SIGKILL)
    assert found.outcome == "completed"
    assert time.monotonic() - begun < 20


def test_a_command_that_closed_its_output_is_waited_for(tmp_path: Path) -> None:
    found = run(tmp_path, "import os, time; os.close(1); os.close(2); time.sleep(0.5); os._exit(4)")
    assert found.exit_status == 4


def test_one_that_does_not_listen_is_killed_when_its_time_is_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(execution, "GRACE", 0.5)

    def stop() -> None:
        while b"begun" not in (tmp_path / "stdout.txt").read_bytes():
            time.sleep(0.02)
        os.kill(os.getpid(), signal.SIGTERM)

    code = (
        "import signal, time\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "print('begun', flush=True)\n"
        "time.sleep(30)"
    )
    threading.Timer(0.5, stop).start()
    found = run(tmp_path, code)
    assert (found.signal, found.stopped_by) == ("SIGKILL", "SIGTERM")
    assert found.outcome == "interrupted"


def test_a_command_that_was_stopped_by_somebody_else_was_interrupted(tmp_path: Path) -> None:
    found = run(tmp_path, "import os, signal; os.kill(os.getpid(), signal.SIGTERM)")
    assert (found.signal, found.stopped_by) == ("SIGTERM", None)
    assert found.outcome == "interrupted"


def test_the_former_handlers_are_back_afterwards(tmp_path: Path) -> None:
    before = signal.getsignal(signal.SIGTERM)
    run(tmp_path, "")
    assert signal.getsignal(signal.SIGTERM) is before


def test_what_is_no_program_is_not_started(tmp_path: Path) -> None:
    with Stops() as stops, pytest.raises(NotStarted, match="No such file"):
        execute([str(tmp_path / "absent")], tmp_path, stops)
