# SPDX-License-Identifier: Apache-2.0
"""Where things lie that outlive a run, one builder at a time, and lines that say what is going on."""
import contextlib
import fcntl
import hashlib
import os
import subprocess
import sys
import time
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]


class EnvironmentError_(RuntimeError):
    """Something of the test environment cannot be had; the text is one clear line for the user."""


def directory() -> Path:
    """The cache folder, made if absent: ${XDG_CACHE_HOME:-~/.cache}/slurm-k8s."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    path = Path(base) / "slurm-k8s"
    path.mkdir(parents=True, exist_ok=True)
    return path.resolve()


def of_this_checkout(name: str) -> str:
    """NAME made different from that of other checkouts on this machine, which may test at the same time."""
    return f"{name}-{hashlib.sha256(str(REPOSITORY).encode()).hexdigest()[:6]}"


@contextlib.contextmanager
def lock(path: Path):
    """Hold an exclusive lock on PATH.lock; says so when another process has it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    file = Path(f"{path}.lock")
    while True:
        with open(file, "w") as held:
            try:
                fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                say(f"waiting for another process at {path.name}")
                fcntl.flock(held, fcntl.LOCK_EX)
            if not _is_file(file, held):  # whoever had it deleted it
                continue
            yield
            return


def _is_file(path: Path, file) -> bool:
    """Whether the open FILE is what PATH names now."""
    try:
        return os.path.samestat(os.stat(path), os.fstat(file.fileno()))
    except FileNotFoundError:
        return False


def say(text: str) -> None:
    """One progress line, on standard error: standard output belongs to the caller."""
    print(f"env: {text}", file=sys.stderr, flush=True)


@contextlib.contextmanager
def progress(what: str):
    """Say WHAT at the start, and how long it took at the end."""
    say(f"{what} ...")
    start = time.monotonic()
    yield
    say(f"{what}: done in {time.monotonic() - start:.0f} s")


def run_logged(command, log: Path, **kwargs) -> None:
    """Run COMMAND with its output in LOG; a failure names the log and shows its end."""
    with open(log, "ab") as output:
        output.write(f"\n$ {' '.join(map(str, command))}\n".encode())
        output.flush()
        result = subprocess.run(list(map(str, command)), stdin=subprocess.DEVNULL, stdout=output,
                                stderr=subprocess.STDOUT, **kwargs)
    if result.returncode != 0:
        tail = log.read_text(errors="replace").splitlines()[-15:]
        raise EnvironmentError_(f"{command[0]} failed with {result.returncode}; log {log}:\n  "
                                + "\n  ".join(tail))
