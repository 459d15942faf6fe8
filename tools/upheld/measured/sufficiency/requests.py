"""UPH504, UPH505: requests that did not complete, or that nobody counted."""

from __future__ import annotations

from upheld.measured.reading import Requests, Row
from upheld.measured.sufficiency.shortcoming import Shortcoming


def nothing_completed(row: Row, name: str) -> Shortcoming | None:
    """No request completed, so nothing was measured; or nobody says whether any did."""
    if row.requests is None or name.startswith("requests."):
        return None
    if row.requests.completed is None:
        return Shortcoming(
            "UPH504",
            "the file does not say how many requests completed",
            "add the file as the tool wrote it",
        )
    if row.requests.completed == 0:
        return Shortcoming(
            "UPH504",
            "no request completed, so nothing was measured",
            "mend the server or the client's options and run the benchmark again",
            "error",
        )
    return None


def requests_failed(row: Row, name: str) -> Shortcoming | None:
    """Requests failed: the others were measured under less load, or are the lucky ones."""
    if row.requests is None or name.startswith("requests."):
        return None
    if row.requests.failed is None:
        return Shortcoming(
            "UPH505",
            "nothing says how many requests failed, which is not the same as none",
            "run the benchmark with a version that counts failures",
        )
    if row.requests.failed > 0:
        sent = row.requests.attempted
        of = f" of {sent:,}" if sent is not None else ""
        timed = ""
        if row.requests.failed_are_timed:
            timed = "; their times are among the latencies"
        elif row.requests.completed:
            timed = "; latencies are of the others only"
        return Shortcoming(
            "UPH505",
            f"{row.requests.failed:,}{of} requests failed{timed}",
            "find out why they failed, and measure again without failures",
        )
    return _unaccounted(row.requests)


def _unaccounted(requests: Requests) -> Shortcoming | None:
    """Requests that neither completed nor failed: still open when the run was cut off."""
    if requests.attempted is None or not requests.completed or requests.failed is None:
        return None
    open_still = requests.attempted - requests.completed - requests.failed
    if open_still <= 0:
        return None
    return Shortcoming(
        "UPH505",
        f"{open_still:,} of {requests.attempted:,} requests neither completed nor failed; "
        "latencies are of the others only",
        "let the run end by the number of requests, not by a time at which some are still open",
    )
