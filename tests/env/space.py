# SPDX-License-Identifier: Apache-2.0
"""A private machine: an overlay over a base root in its own mount, network and host name namespaces.

Every instance has its own loopback interface, so all of them use the default ports; every file is
at its default path. A process belongs to a space if it is in its mount namespace: that, and never
a name or a bare process id, decides what is stopped.
"""
import os
import select
import signal
import subprocess
import time
from pathlib import Path

from . import cache

PATH = "/opt/slurm-k8s/bin:/usr/sbin:/usr/bin:/sbin:/bin"

# $1 base root, $2 the space's folder
_MOUNT = """set -e
base=$1 dir=$2
mkdir -p "$dir/upper" "$dir/work" "$dir/root" "$dir/ns"
overlay() { mount -t overlay slurm-k8s -o "lowerdir=$base,upperdir=$dir/upper,workdir=$dir/work" "$dir/root"; }
# Where the cache itself lies on an overlay (in a container), the changes go to memory.
mountpoint -q "$dir/root" || overlay 2>/dev/null || {
  mount -t tmpfs -o mode=755 slurm-k8s "$dir"; mkdir "$dir/upper" "$dir/work" "$dir/root" "$dir/ns"; overlay; }
# The file that holds a mount namespace must lie on a private mount.
mountpoint -q "$dir/ns" || { mount --bind "$dir/ns" "$dir/ns"; mount --make-private "$dir/ns"; }
touch "$dir/ns/mnt" "$dir/ns/net" "$dir/ns/uts"
"""

# $1 the overlay, $2 host name, then pairs FROM TO that are bound into it. Runs in the new namespaces.
_PIVOT = """set -e
cd "$1"; hostname "$2"; shift 2
mount -t proc proc proc
mount --rbind /dev dev
mount -t tmpfs -o mode=1777 tmpfs dev/shm
mount --rbind /sys sys
while [ $# -gt 0 ]; do
  if [ -d "$1" ]; then mkdir -p ".$2"; else mkdir -p ".${2%/*}"; touch ".$2"; fi
  mount --bind "$1" ".$2"; shift 2
done
mkdir -p .old
pivot_root . .old
cd /
umount -l /.old
rmdir /.old
ip link set lo up
# getaddrinfo takes a machine that has nothing but 127.0.0.1 for one without IPv4.
ip address add 192.0.2.1/32 dev lo
"""

_children = []  # Popen objects of background processes: kept, so that Python reaps them in its time


class Space:
    """The namespaces and mounts under one folder; nothing in here knows Slurm or Kubernetes."""

    def __init__(self, directory: Path, host_name: str):
        self.directory, self.host_name = directory, host_name
        self.root, self.namespaces = directory / "root", directory / "ns"

    def exists(self) -> bool:
        """Whether the namespaces are there (they go with a reboot)."""
        try:
            return (self.namespaces / "mnt").stat().st_dev != self.namespaces.stat().st_dev
        except FileNotFoundError:
            return False

    def in_memory(self) -> bool:
        """Whether its files are in memory only, so that remove() would lose them."""
        return os.path.ismount(self.directory)

    def create(self, base: Path, binds) -> None:
        """Make it from the root BASE; BINDS are pairs of a path outside and its path inside."""
        if self.exists():
            return
        if os.geteuid() != 0:
            raise cache.EnvironmentError_("instances need mount and network namespaces: run as root")
        self.directory.mkdir(parents=True, exist_ok=True)
        pairs = [str(part) for pair in binds for part in pair]
        for command in (
                ["sh", "-c", _MOUNT, "sh", base, self.directory],
                ["unshare", f"--mount={self.namespaces}/mnt", f"--net={self.namespaces}/net",
                 f"--uts={self.namespaces}/uts", "--propagation", "private",
                 "sh", "-c", _PIVOT, "sh", self.root, self.host_name, *pairs]):
            done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
            if done.returncode != 0:
                self.remove()
                raise cache.EnvironmentError_(f"cannot make the namespaces: {done.stderr.strip()}")

    def remove(self) -> None:
        """End every process in it and let namespaces and mounts go; files stay."""
        self.end_all()
        for name in ("mnt", "net", "uts"):
            subprocess.run(["umount", self.namespaces / name], capture_output=True)
        for path in (self.namespaces, self.root):  # a bind mount like the first does not look like one
            subprocess.run(["umount", "-l", path], capture_output=True)
        if self.in_memory():
            subprocess.run(["umount", "-l", self.directory], capture_output=True)

    def enter(self, *command, user=None, own_host_name=None):
        """The command line that runs COMMAND inside."""
        ns = self.namespaces
        line = ["nsenter", f"--mount={ns}/mnt", f"--net={ns}/net", f"--uts={ns}/uts"]
        if own_host_name:
            line += ["unshare", "--uts", "sh", "-c", 'hostname "$1"; shift; exec "$@"', "sh", own_host_name]
        if user:
            line += ["setpriv", f"--reuid={user}", f"--regid={user}", "--init-groups"]
        return line + [str(part) for part in command]

    def environment(self, user=None, extra=None):
        """The environment of a command inside."""
        home = "/root" if user in (None, "root") else f"/home/{user}"
        base = {"PATH": PATH, "HOME": home, "USER": user or "root", "LC_ALL": "C.UTF-8",
                "TERM": os.environ.get("TERM", "dumb")}
        return {**base, **(extra or {})}

    def run(self, *command, user=None, check=True, timeout=60, input=None, env=None, own_host_name=None):
        """Run COMMAND inside; the CompletedProcess with text output. A failure shows what it printed."""
        line = self.enter(*command, user=user, own_host_name=own_host_name)
        done = subprocess.run(line, env=self.environment(user, env), capture_output=True, text=True,
                              timeout=timeout, **({"input": input} if input is not None
                                                  else {"stdin": subprocess.DEVNULL}))
        if check and done.returncode != 0:
            raise RuntimeError(f"{' '.join(map(str, command))}: rc {done.returncode}\n{done.stdout}{done.stderr}")
        return done

    def spawn(self, command, log: Path, user=None, env=None) -> int:
        """Start COMMAND inside in the background, output appended to LOG; its process id."""
        with open(log, "ab") as output:
            child = subprocess.Popen(self.enter(*command, user=user), env=self.environment(user, env),
                                     stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
                                     start_new_session=True)
        _children.append(child)
        return child.pid

    def owns(self, pid: int) -> bool:
        """Whether PID is alive in here. A process that nsenter has not yet brought in is waited for."""
        for _ in range(100):
            try:
                here = os.stat(self.namespaces / "mnt").st_ino
                if os.stat(f"/proc/{pid}/ns/mnt").st_ino == here:
                    return True
                if not any(child.pid == pid and child.poll() is None for child in _children):
                    return False
            except (FileNotFoundError, ProcessLookupError, PermissionError):
                return False
            time.sleep(0.01)
        return False

    def processes(self):
        """Ids of all processes inside."""
        if not self.exists():
            return []
        here, found = os.stat(self.namespaces / "mnt").st_ino, []
        for entry in os.listdir("/proc"):
            try:
                if entry.isdigit() and os.stat(f"/proc/{entry}/ns/mnt").st_ino == here:
                    found.append(int(entry))
            except OSError:
                continue
        return found

    def signal(self, pid: int, number=signal.SIGTERM, seconds: float = 0) -> bool:
        """Send a signal if PID is ours, and wait up to SECONDS for its end; safe against reuse of the id.

        Whether it was sent and, if SECONDS are given, the process ended. Its sockets are free then: the
        last of its threads is gone.
        """
        try:
            descriptor = os.pidfd_open(pid)
        except OSError:
            return False
        waiting = {descriptor: pid}
        try:
            if not self.owns(pid):
                return False
            signal.pidfd_send_signal(descriptor, number)
            if seconds:
                _wait_ended(waiting, seconds)
            return not (seconds and waiting)
        except ProcessLookupError:
            return False
        finally:
            for left in waiting:
                os.close(left)

    def end(self, pids, grace=10.0) -> None:
        """SIGTERM to all of PIDS that are ours, wait for their end, SIGKILL after GRACE seconds."""
        waiting = {}
        for pid in pids:
            try:
                descriptor = os.pidfd_open(pid)
            except OSError:
                continue
            if self.owns(pid):
                waiting[descriptor] = pid
            else:
                os.close(descriptor)
        try:
            for number, seconds in ((signal.SIGTERM, grace), (signal.SIGKILL, 5.0)):
                for descriptor in waiting:
                    try:
                        signal.pidfd_send_signal(descriptor, number)
                    except ProcessLookupError:
                        pass
                _wait_ended(waiting, seconds)
        finally:
            for descriptor in waiting:
                os.close(descriptor)

    def end_all(self, grace=5.0) -> None:
        """End every process inside."""
        pids = [pid for pid in self.processes() if pid != os.getpid()]
        if pids:
            self.end(pids, grace)


def _wait_ended(waiting: dict, seconds: float) -> None:
    """Wait until the processes behind the descriptors ended; those that did are closed and dropped."""
    poller = select.poll()
    for descriptor in waiting:
        poller.register(descriptor, select.POLLIN)
    deadline = time.monotonic() + seconds
    while waiting and (left := deadline - time.monotonic()) > 0:
        for descriptor, _ in poller.poll(left * 1000):
            poller.unregister(descriptor)
            os.close(descriptor)
            del waiting[descriptor]
