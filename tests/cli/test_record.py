"""`upheld record`, as it is typed: real commands in a process of their own."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

import pytest
import yaml

from small_corpus import ADR, RAW, SmallCorpus
from upheld.judge.judgement import Judgement

TOOLS = Path(__file__).parents[2] / "tools"
RUN = "evidence/runs/trial.yaml"
FOLDER = "evidence/runs/raw/trial"


@dataclass
class Recorder:
    """Runs `upheld record --id trial` on a corpus, from a working folder beside it."""

    small: SmallCorpus
    work: Path
    environment: dict[str, str] = field(
        default_factory=lambda: {**os.environ, "PYTHONPATH": str(TOOLS)}
    )

    def line(self, *options: str, command: tuple[str, ...], id_: str = "trial") -> list[str]:
        named = ["--root", str(self.small.root), "--by", "Tester", "--id", id_]
        return [sys.executable, "-m", "upheld.cli", "record", *named, *options, "--", *command]

    def __call__(
        self, *options: str, command: tuple[str, ...], id_: str = "trial"
    ) -> subprocess.CompletedProcess[bytes]:
        result = subprocess.run(
            self.line(*options, command=command, id_=id_),
            cwd=self.work, env=self.environment, capture_output=True, check=False,
        )  # fmt: skip
        assert b"Traceback" not in result.stderr, result.stderr.decode()
        return result

    def start(self, *options: str, command: tuple[str, ...]) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            self.line(*options, command=command),
            cwd=self.work, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip

    def script(self, text: str) -> tuple[str, str]:
        file = self.work / "benchmark.py"
        file.write_text(text)
        return sys.executable, str(file)

    @property
    def record(self) -> dict[str, Any]:
        found: dict[str, Any] = yaml.safe_load((self.small.root / RUN).read_text())
        return found

    @property
    def capture(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.small.root / FOLDER / "capture.json").read_text())
        return found

    def kept(self, path: str) -> bytes:
        return (self.small.root / FOLDER / path).read_bytes()

    def left_behind(self) -> list[str]:
        """Everything about a run that stands below evidence/runs, besides what was there."""
        below = self.small.root / "evidence" / "runs"
        names = sorted(str(each.relative_to(below)) for each in below.rglob("*") if each.is_file())
        return [name for name in names if "serve-16" not in name]

    def first_token(self) -> Judgement:
        """The claim on the first token, with this run as its evidence, on the run's own day."""
        self.small.replace(ADR, "evidence: [{run: serve-16}]", "evidence: [{run: trial}]")
        measured_on = self.record["date"]
        assert isinstance(measured_on, date)
        return self.small.claim("first-token", measured_on)


@pytest.fixture
def record(small: SmallCorpus, tmp_path: Path) -> Recorder:
    work = tmp_path / "work"
    work.mkdir()
    return Recorder(small, work)


def until(holds: Callable[[], bool]) -> None:
    """Wait for something that another process does."""
    deadline = time.monotonic() + 30
    while not holds():
        assert time.monotonic() < deadline, "it did not happen within 30 s"
        time.sleep(0.02)


def copies_the_result_of_serve_16(small: SmallCorpus) -> str:
    """A benchmark that writes the file which vLLM's bench serve wrote in the small corpus."""
    result = (small.root / RAW).read_text()
    return f"from pathlib import Path\nPath('result.json').write_text({result!r})\nprint('done')\n"


class TestACommandThatSucceeds:
    def test_its_output_is_shown_and_kept_and_the_corpus_stays_clean(
        self, record: Recorder
    ) -> None:
        both = "import sys; print('to out'); print('to err', file=sys.stderr)"
        result = record(command=(sys.executable, "-c", both))
        assert result.returncode == 0, result.stderr
        assert result.stdout == b"to out\n"
        assert result.stderr.startswith(b"to err\n")
        assert record.kept("stdout.txt") == b"to out\n"
        assert record.kept("stderr.txt") == b"to err\n"
        assert record.record["outcome"] == "completed"
        assert record.record["by"] == "Tester"
        assert record.small.judge().findings == []

    def test_what_only_the_host_knows_is_noted_and_read_back(self, record: Recorder) -> None:
        assert record(command=(sys.executable, "-c", "")).returncode == 0
        noted = record.capture
        (execution,) = noted["executions"]
        assert (execution["outcome"], execution["exit_status"]) == ("completed", 0)
        assert execution["started"] < execution["ended"]
        assert execution["started"].endswith("Z")
        assert noted["host"]["processor_count"] == os.cpu_count()
        (evidence,) = [each for id_, each in record.small.judge().runs.items() if id_ == "trial"]
        (capture,) = evidence.captures
        assert capture.envelope["processor_count"] == os.cpu_count()
        assert capture.stated["date"] == execution["started"]

    def test_a_file_that_it_wrote_carries_a_claim_once_people_said_the_rest(
        self, record: Recorder
    ) -> None:
        command = record.script(copies_the_result_of_serve_16(record.small))
        result = record("--keep", "*.json", command=command)
        assert result.returncode == 0, result.stderr
        raw = (record.small.root / RAW).read_bytes()
        assert record.kept("files/result.json") == raw
        assert f"Read as evidence: {FOLDER}/files/result.json".encode() in result.stderr
        assert b"No file states: model revision, engine, engine version" in result.stderr
        assert "# No file states these." in (record.small.root / RUN).read_text()
        assert "states" not in record.record
        said = (record.small.root / "evidence/runs/serve-16.yaml").read_text()
        record.small.append(RUN, said[said.index("states:") :])
        assert record.first_token().verdict == "upheld"

    def test_output_in_a_known_format_is_evidence_itself(self, record: Recorder) -> None:
        result = (record.small.root / RAW).read_text()
        command = record.script(f"print({result!r}, end='')")
        assert record(command=command).returncode == 0
        formats = {each["path"]: each["format"] for each in record.record["files"]}
        assert formats == {
            f"{FOLDER}/capture.json": "upheld-capture",
            f"{FOLDER}/stdout.txt": "vllm-bench-serve",
        }

    def test_repeats_are_one_run_of_which_no_part_can_be_left_out(self, record: Recorder) -> None:
        command = record.script(copies_the_result_of_serve_16(record.small))
        result = record("--repeat", "3", "--keep", "*.json", command=command)
        assert result.returncode == 0, result.stderr
        assert result.stdout == b"done\n" * 3
        evidence = record.small.judge().runs["trial"]
        assert [each.file.path for each in evidence.rows] == [
            f"{FOLDER}/{number}/files/result.json" for number in (1, 2, 3)
        ]
        assert [each["folder"] for each in record.capture["executions"]] == ["1", "2", "3"]

    def test_ten_repeats_stay_in_their_order(self, record: Recorder) -> None:
        assert record("--repeat", "10", command=("true",)).returncode == 0
        folders = [each["folder"] for each in record.capture["executions"]]
        assert folders == sorted(folders)
        assert folders[0] == "01"

    def test_bytes_that_are_no_text_are_kept_as_they_are(self, record: Recorder) -> None:
        command = (sys.executable, "-c", "import os; os.write(1, bytes(range(256)) * 3)")
        result = record(command=command)
        assert result.returncode == 0, result.stderr
        assert result.stdout == record.kept("stdout.txt") == bytes(range(256)) * 3
        assert record.small.judge().findings == []

    def test_fifty_megabytes_are_kept_to_the_last_byte(self, record: Recorder) -> None:
        command = (sys.executable, "-c", "print('x' * 49_999_999)")
        result = record(command=command)
        assert result.returncode == 0, result.stderr
        assert len(result.stdout) == 50_000_000
        assert record.kept("stdout.txt") == b"x" * 49_999_999 + b"\n"

    def test_the_command_is_kept_as_typed_and_of_the_environment_a_short_list(
        self, record: Recorder
    ) -> None:
        record.environment |= {"OMP_NUM_THREADS": "2", "HF_TOKEN": "hf_secret", "AWS_KEY": "aws"}
        record(command=(sys.executable, "-c", "pass", "two words", "--flag"))
        assert record.record["command"].endswith("-c pass 'two words' --flag")
        assert record.capture["command"][1:] == ["-c", "pass", "two words", "--flag"]
        assert record.capture["environment"] == {"OMP_NUM_THREADS": "2"}
        written = b"".join(
            each.read_bytes() for each in record.small.root.rglob("*") if each.is_file()
        )
        assert b"hf_secret" not in written
        assert os.uname().nodename.encode() not in written

    def test_a_command_that_is_no_utf_8_is_kept_with_escapes(self, record: Recorder) -> None:
        name = os.fsdecode(b"caf\xe9")
        assert record(command=(sys.executable, "-c", "", name)).returncode == 0
        assert record.capture["command"][-1] == r"caf\xe9"
        assert record.small.judge().findings == []

    def test_a_command_of_several_lines_is_kept_in_the_capture_alone(
        self, record: Recorder
    ) -> None:
        assert record(command=(sys.executable, "-c", "a = 1\nb = 2")).returncode == 0
        assert "command" not in record.record
        assert record.capture["command"][-1] == "a = 1\nb = 2"

    def test_a_reader_who_went_away_costs_nothing(self, record: Recorder) -> None:
        process = record.start(command=(sys.executable, "-c", "print('x' * 1_000_000)"))
        assert process.stdout is not None
        process.stdout.close()
        assert process.wait(timeout=60) == 0
        assert len(record.kept("stdout.txt")) == 1_000_001


class TestACommandThatFails:
    def test_it_is_kept_and_marked_and_never_counts(self, record: Recorder) -> None:
        fails = copies_the_result_of_serve_16(record.small) + "raise SystemExit(3)\n"
        result = record("--keep", "*.json", command=record.script(fails))
        assert result.returncode == 1
        assert b"outcome failed" in result.stderr
        assert b"never counts as evidence" in result.stderr
        assert record.record["outcome"] == "failed"
        assert record.capture["executions"][0]["exit_status"] == 3
        assert [each["path"] for each in record.record["files"]] == [f"{FOLDER}/capture.json"]
        assert f"{FOLDER}/files/result.json" in [each["path"] for each in record.record["kept"]]
        assert record.small.judge().findings == []
        first = record.first_token()
        assert first.verdict == "unsupported"
        assert first.outcome.because == "trial can't be used: it failed."

    def test_a_record_that_calls_it_completed_is_found_out(self, record: Recorder) -> None:
        record(command=(sys.executable, "-c", "raise SystemExit(1)"))
        record.small.replace(RUN, "outcome: failed", "outcome: completed")
        (finding,) = record.small.judge().findings
        assert finding.rule == "UPH509"
        assert "said to be completed" in finding.message
        assert record.first_token().verdict == "unsupported"

    def test_the_first_repeat_that_fails_is_the_last(self, record: Recorder) -> None:
        once = (
            "from pathlib import Path\n"
            "ran_before = Path('ran').exists()\n"
            "Path('ran').touch()\n"
            "raise SystemExit(ran_before)\n"
        )
        assert record("--repeat", "3", command=record.script(once)).returncode == 1
        outcomes = [each["outcome"] for each in record.capture["executions"]]
        assert outcomes == ["completed", "failed"]
        assert record.record["outcome"] == "failed"

    def test_a_crash_is_a_failure_and_names_its_signal(self, record: Recorder) -> None:
        crash = "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)"
        assert record(command=(sys.executable, "-c", crash)).returncode == 1
        (execution,) = record.capture["executions"]
        assert (execution["outcome"], execution["signal"]) == ("failed", "SIGSEGV")
        assert execution["exit_status"] is None

    def test_a_file_in_error_is_kept_and_not_read(self, record: Recorder) -> None:
        failed = Path(__file__).parents[1] / "corpora/benchmarks/vllm-serve-all-failed.json"
        command = record.script(f"print({failed.read_text()!r})")
        result = record(command=command)
        assert result.returncode == 0, result.stderr
        assert b"stdout.txt is kept only: UPH504" in result.stderr
        assert record.small.judge().findings == []


class TestACommandThatIsStopped:
    @pytest.mark.parametrize("by", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
    def test_what_there_was_is_kept_as_interrupted(
        self, record: Recorder, by: signal.Signals
    ) -> None:
        waits = "print('begun', flush=True); import time; time.sleep(60)"
        process = record.start(command=(sys.executable, "-c", waits))
        assert process.stdout is not None
        assert process.stdout.readline() == b"begun\n"
        process.send_signal(by)
        _, errors = process.communicate(timeout=30)
        assert process.returncode == 1, errors
        assert b"Traceback" not in errors.partition(b"Written:")[2]
        assert b"outcome interrupted" in errors
        assert record.record["outcome"] == "interrupted"
        assert record.capture["executions"][0]["stopped_by"] == by.name
        assert record.kept("stdout.txt") == b"begun\n"
        assert record.small.judge().findings == []
        assert record.first_token().outcome.because == "trial can't be used: it was interrupted."

    def test_one_that_ends_well_all_the_same_was_still_interrupted(self, record: Recorder) -> None:
        command = record.script(
            "import signal, sys, time\n"
            "signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))\n"
            "print('begun', flush=True)\n"
            "time.sleep(60)\n"
        )
        process = record.start("--repeat", "2", command=command)
        assert process.stdout is not None
        assert process.stdout.readline() == b"begun\n"
        process.terminate()
        process.communicate(timeout=30)
        assert process.returncode == 1
        (execution,) = record.capture["executions"]
        assert (execution["outcome"], execution["exit_status"]) == ("interrupted", 0)

    def test_a_second_signal_ends_one_that_does_not_listen_and_its_children(
        self, record: Recorder
    ) -> None:
        command = record.script(
            "import os, signal, subprocess, sys, time\n"
            "signal.signal(signal.SIGINT, signal.SIG_IGN)\n"
            "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])\n"
            "print(child.pid, flush=True)\n"
            "time.sleep(60)\n"
        )
        process = record.start(command=command)
        assert process.stdout is not None
        child = int(process.stdout.readline())
        process.send_signal(signal.SIGINT)
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=30)
        assert process.returncode == 1
        assert record.capture["executions"][0]["signal"] == "SIGKILL"
        assert record.record["outcome"] == "interrupted"

        def is_gone() -> bool:
            try:
                state = Path(f"/proc/{child}/stat").read_text().rpartition(") ")[2][0]
            except (FileNotFoundError, ProcessLookupError):
                return True
            return state == "Z"

        until(is_gone)


class TestWhatCantBeRun:
    @pytest.mark.parametrize(
        ("options", "command", "says"),
        [
            ((), ("no-such-benchmark",), "is no program that can be run here"),
            (("--keep", "/etc/*"), (sys.executable,), "does not stay in the working folder"),
            (("--keep", "../*"), (sys.executable,), "does not stay in the working folder"),
            (("--engine-url", "localhost:8000"), (sys.executable,), "does not begin with http"),
            (("--engine-url", "http://a:b@h"), (sys.executable,), "a name or password"),
            (("--engine-url", "http://h/x"), (sys.executable,), "goes on after host and port"),
            (("--title", "two\nlines"), (sys.executable,), "not one plain line"),
            (("--output-dir", "../raw/x"), (sys.executable,), "leads outside"),
            (("--output-dir", "evidence/runs/x"), (sys.executable,), "not in a folder named raw"),
            (("--id", "../x"), (sys.executable,), "wants an id"),
            (("--id", "serve-16"), (sys.executable,), "there is a record serve-16 already"),
            (("--id", "SERVE-16"), (sys.executable,), "already"),
            (("--output-dir", "evidence/runs/raw/serve-16"), (sys.executable,), "is there already"),
        ],
    )  # fmt: skip
    def test_it_is_said_and_nothing_is_left(
        self, record: Recorder, options: tuple[str, ...], command: tuple[str, ...], says: str
    ) -> None:
        result = record(*options, command=command)
        assert result.returncode == 2
        assert says in result.stderr.decode()
        assert "help:" in result.stderr.decode()
        assert record.left_behind() == []

    def test_a_file_that_is_no_program_leaves_nothing(self, record: Recorder) -> None:
        file = record.work / "broken"
        file.write_bytes(b"\x00\x01")
        file.chmod(0o755)
        result = record(command=(str(file),))
        assert result.returncode == 2
        assert b"is not run:" in result.stderr
        assert record.left_behind() == []

    def test_a_full_disk_ends_the_command_and_loses_nothing(self, record: Recorder) -> None:
        endless = "import itertools\nfor _ in itertools.count(): print('x' * 1000)"
        result = subprocess.run(
            record.line(command=(sys.executable, "-c", endless)),
            cwd=record.work, env=record.environment, capture_output=True, check=False, timeout=60,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000)),
        )  # fmt: skip
        assert result.returncode == 2
        assert b"the run can't be kept: File too large" in result.stderr
        left = [name for name in record.left_behind() if name.endswith("stdout.txt")]
        assert left[0].startswith("raw/.upheld-")
        assert left[0].rpartition("/")[0].encode() in result.stderr
        assert record.small.judge().findings == []

    def test_a_name_that_no_record_can_hold_loses_nothing(self, record: Recorder) -> None:
        deep = "/".join(["x" * 200] * 3)
        command = record.script(
            f"import os\nos.makedirs({deep!r})\nopen({deep!r} + '/result.json', 'w').write('{{}}')"
        )
        result = record("--keep", "**/result.json", command=command)
        assert result.returncode == 2
        assert b"what there is by now is in" in result.stderr
        assert any(name.endswith("result.json") for name in record.left_behind())

    def test_nothing_that_exists_is_overwritten(self, record: Recorder) -> None:
        assert record(command=(sys.executable, "-c", "print(1)")).returncode == 0
        before = record.left_behind()
        again = record(command=(sys.executable, "-c", "print(2)"))
        assert again.returncode == 2
        assert record.left_behind() == before
        assert record.kept("stdout.txt") == b"1\n"

    def test_raw_files_do_not_go_through_a_link(self, record: Recorder, tmp_path: Path) -> None:
        elsewhere = tmp_path / "elsewhere"
        elsewhere.mkdir()
        (record.small.root / "evidence/runs/raw/there").symlink_to(elsewhere)
        result = record(
            "--output-dir", "evidence/runs/raw/there/x", command=(sys.executable, "-c", "")
        )
        assert result.returncode == 2
        assert list(elsewhere.iterdir()) == []


class TestFilesThatAreNotKept:
    def test_a_link_is_refused_and_the_exit_code_says_so(
        self, record: Recorder, tmp_path: Path
    ) -> None:
        (tmp_path / "secret.json").write_text("{}")
        command = record.script("import os; os.symlink('../secret.json', 'result.json')")
        result = record("--keep", "*.json", command=command)
        assert result.returncode == 1
        assert b"result.json is not kept: it is, or lies behind, a symbolic link" in result.stderr
        assert record.record["outcome"] == "completed"
        assert record.capture["executions"][0]["not_kept"][0]["path"] == "result.json"

    def test_a_folder_behind_a_link_is_refused_too(self, record: Recorder, tmp_path: Path) -> None:
        outside = tmp_path / "outside"
        outside.mkdir()
        command = record.script(
            f"import os, pathlib; os.symlink({str(outside)!r}, 'results')\n"
            "pathlib.Path('results/a.json').write_text('{}')\n"
        )
        result = record("--keep", "results/*.json", command=command)
        assert result.returncode == 1
        assert not (record.small.root / FOLDER / "files").exists()

    def test_what_was_there_before_is_not_of_this_run(self, record: Recorder) -> None:
        (record.work / "old.json").write_text("{}")
        command = record.script("open('new.json', 'w').write('{}')")
        assert record("--keep", "*.json", command=command).returncode == 0
        kept = sorted(each.name for each in (record.small.root / FOLDER / "files").iterdir())
        assert kept == ["new.json"]

    def test_what_is_written_here_is_not_taken_for_the_commands(self, record: Recorder) -> None:
        record.work = record.small.root
        result = record("--keep", "**/*.txt", command=(sys.executable, "-c", "print('a')"))
        assert result.returncode == 1
        assert b"the command wrote no file that matches" in result.stderr

    def test_a_pattern_that_nothing_matches_is_told(self, record: Recorder) -> None:
        result = record("--keep", "*.json", command=(sys.executable, "-c", ""))
        assert result.returncode == 1
        assert b"*.json is not kept: the command wrote no file that matches" in result.stderr
