# SPDX-License-Identifier: Apache-2.0
"""The daemons of one instance, known by name: start, readiness, signals, end."""
import os
import signal
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path

from . import cache
from .space import Space


def wait_for(predicate, timeout: float, what: str, interval: float = 0.05):
    """The first true result of PREDICATE, asked every INTERVAL seconds; TimeoutError names WHAT."""
    deadline = time.monotonic() + timeout
    while True:
        result = predicate()
        if result:
            return result
        if time.monotonic() >= deadline:
            raise TimeoutError(f"not within {timeout:g} s: {what}")
        time.sleep(interval)


@dataclass(frozen=True)
class Program:
    """How one daemon is started, and how one sees that it is ready."""
    name: str
    command: tuple
    ready: tuple = ()  # a command inside that succeeds once the daemon is ready
    user: str | None = None
    env: dict = field(default_factory=dict)
    pid_file: str = ""  # set for daemons that go to the background by themselves, as Slurm's do
    host_name: str | None = None


class Processes:
    """Keeps ids under DIRECTORY/pid and output under DIRECTORY/log; only processes of SPACE are ever touched."""

    def __init__(self, space: Space, directory: Path):
        self.space, self.pids, self.logs = space, directory / "pid", directory / "log"

    def log(self, name: str) -> Path:
        """The file with that daemon's output."""
        return self.logs / f"{name}.log"

    def pid(self, program: Program):
        """The id of the running process, or None. Slurm's change at a reconfigure: never keep one."""
        path = self.space.root / program.pid_file.lstrip("/") if program.pid_file else self.pids / program.name
        try:
            pid = int(path.read_text())
            if self.space.owns(pid) and self._is(program, pid):
                return pid
        except (OSError, ValueError):
            pass
        return None

    def start(self, program: Program) -> None:
        """Start it unless it runs. Raises EnvironmentError_ with the end of its log if it cannot start."""
        if self.pid(program):
            return
        self.pids.mkdir(parents=True, exist_ok=True)
        self.logs.mkdir(parents=True, exist_ok=True)
        log = self.log(program.name)
        if not program.pid_file:
            pid = self.space.spawn(program.command, log, user=program.user, env=program.env)
            (self.pids / program.name).write_text(str(pid))
            return
        line = self.space.enter(*program.command, user=program.user, own_host_name=program.host_name)
        with open(log, "ab") as output:
            done = subprocess.run(line, env=self.space.environment(program.user, program.env), timeout=60,
                                  stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
                                  start_new_session=True)
        if done.returncode != 0:
            raise cache.EnvironmentError_(f"{program.name} does not start:\n{self._tail(program)}")

    def wait_ready(self, program: Program, timeout: float = 60) -> None:
        """Wait until it answers. Raises EnvironmentError_ if it died, TimeoutError if it takes too long."""
        def ready():
            running = self.pid(program)
            if not program.pid_file and not running:
                raise cache.EnvironmentError_(f"{program.name} ended:\n{self._tail(program)}")
            # Those with a file write it when they are in the background, and slurmctld may not yet have missed them.
            return running and (not program.ready or self.space.run(*program.ready, check=False).returncode == 0)
        try:
            wait_for(ready, timeout, f"{program.name} is ready")
        except TimeoutError as error:
            raise TimeoutError(f"{error}\n{self._tail(program)}") from None

    def kill(self, program: Program, number=signal.SIGKILL) -> None:
        """Send a signal; after one that ends processes, wait for the end (30 s)."""
        pid = self.pid(program)
        ends = number in (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
        if pid is None or not self.space.signal(pid, number, 30 if ends else 0):
            raise RuntimeError(f"{program.name} does not run, or does not end on signal {int(number)}")

    def end(self, programs, grace: float = 10.0) -> None:
        """End all of PROGRAMS at once; SIGKILL for those that are left after GRACE seconds."""
        self.space.end([pid for pid in map(self.pid, programs) if pid], grace)

    def _is(self, program: Program, pid: int) -> bool:
        """Whether PID still runs the program: ids are used again."""
        if not program.pid_file:
            return True
        name = os.path.basename(program.command[0])
        return os.path.basename(os.readlink(f"/proc/{pid}/exe")).startswith(name)

    def _tail(self, program: Program, lines: int = 15) -> str:
        try:
            text = self.log(program.name).read_text(errors="replace")
        except FileNotFoundError:
            text = ""
        return "\n".join(f"  {line[:400]}" for line in text.splitlines()[-lines:])
