# SPDX-License-Identifier: Apache-2.0
"""A Go toolchain: the one of this machine if it is new enough, else Debian's, taken from the newest root."""
import os
import re
import shutil
import subprocess
from pathlib import Path

from . import cache, slurm_root

# From here on Go fetches by itself, as a module, the newer toolchain that a go.mod asks for.
OLDEST = (1, 21)
PLACES = ("/usr/local/go/bin/go", "/usr/lib/go/bin/go")

# $1 root, $2 the folder that receives usr/lib/go-* and usr/share/go-*
_UNPACK = """set -e
mkdir -p "$2"
mount -t tmpfs -o mode=755 tmpfs /mnt
mkdir /mnt/upper /mnt/work /mnt/root
mount -t overlay overlay -o "lowerdir=$1,upperdir=/mnt/upper,workdir=/mnt/work" /mnt/root
mount -t proc proc /mnt/root/proc
mkdir /mnt/root/go
cat > /mnt/root/go/fetch <<'END'
set -e
cd /go
apt-get update -qq
go=$(apt-cache depends golang-go | sed -n 's/^ *Depends: \\(golang-[0-9.]*-go\\)$/\\1/p')
apt-get download -qq "$go" "${go%-go}-src"
END
chroot /mnt/root sh /go/fetch
for deb in /mnt/root/go/*.deb; do dpkg -x "$deb" "$2"; done
"""


def ensure() -> Path:
    """The go command to use. Raises EnvironmentError_ with one line when there is none to be had."""
    for candidate in (shutil.which("go"), *PLACES):
        if candidate and _version(candidate) >= OLDEST:
            return Path(candidate)
    target = cache.directory() / "go"
    with cache.lock(target):
        if not target.is_dir():
            with cache.progress("taking Go from Debian (this machine has none that is new enough)"):
                _unpack(target)
    found = sorted(target.glob("usr/lib/go-*/bin/go"))
    if not found or _version(found[-1]) < OLDEST:
        raise cache.EnvironmentError_(f"Go {'.'.join(map(str, OLDEST))} or newer is needed: put one into PATH")
    return found[-1]


def _unpack(target: Path) -> None:
    building = target.with_name("go.building")
    shutil.rmtree(building, ignore_errors=True)
    cache.run_logged(["unshare", "--mount", "--propagation", "private", "sh", "-c", _UNPACK, "sh",
                      slurm_root.ensure("forky"), building], target.with_name("go.log"))
    for tree in building.glob("usr/lib/go-*"):
        for link in tree.iterdir():  # links to /usr/share/go-*, which is beside it here
            destination = os.readlink(link) if link.is_symlink() else ""
            if "share/go-" in destination:
                link.unlink()
                link.symlink_to(f"../../share/{destination.split('share/', 1)[1]}")
    building.rename(target)


def _version(go) -> tuple:
    """(major, minor) of that go command, of the command itself rather than of what a go.mod asks for."""
    done = subprocess.run([go, "env", "GOVERSION"], capture_output=True, text=True, cwd="/",
                          env={**os.environ, "GOTOOLCHAIN": "local"})
    found = re.match(r"go(\d+)\.(\d+)", done.stdout)
    return (int(found[1]), int(found[2])) if found else (0, 0)
