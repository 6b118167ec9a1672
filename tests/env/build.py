# SPDX-License-Identifier: Apache-2.0
"""Builds the project inside a Slurm root, in the repository's own build folder.

The repository lies at the same path inside as outside, so the results can be used from both.
"""
import argparse
import os
import subprocess
import sys
from pathlib import Path

from . import cache, slurm_root

VARIANTS = {
    "gcc": ({"CC": "gcc", "CXX": "g++"}, []),
    "clang": ({"CC": "clang", "CXX": "clang++"}, []),
    "asan": ({"CC": "gcc", "CXX": "g++"}, ["-Db_sanitize=address,undefined", "-Db_lundef=false"]),
}

# $1 an empty folder, $2 root, $3 repository; the rest is the command. A private mount namespace with
# an overlay whose upper layer is memory: the root stays as it is, and nothing is left to unmount.
_ENTER = """set -e
mnt=$1 root=$2 repository=$3; shift 3
mount -t tmpfs -o mode=755 tmpfs "$mnt"
mkdir "$mnt/upper" "$mnt/work" "$mnt/root"
mount -t overlay overlay -o "lowerdir=$root,upperdir=$mnt/upper,workdir=$mnt/work" "$mnt/root"
cd "$mnt/root"
mkdir -p ".$repository"
mount --bind "$repository" ".$repository"
mount -t proc proc proc
mount --rbind /dev dev
exec chroot . sh -c 'cd "$1"; shift; exec "$@"' sh "$repository" "$@"
"""


def run(codename: str, *command, env=None, check=True, **kwargs) -> subprocess.CompletedProcess:
    """Run COMMAND in the root of CODENAME, in the repository's folder; keywords as subprocess.run."""
    root = slurm_root.ensure(codename)
    mount_point = cache.directory() / "build-root"
    mount_point.mkdir(exist_ok=True)
    base = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "LC_ALL": "C.UTF-8"}
    return subprocess.run(
        ["unshare", "--mount", "--propagation", "private", "/bin/sh", "-c", _ENTER, "sh",
         str(mount_point), str(root), str(cache.REPOSITORY), *map(str, command)],
        env={**base, **(env or {})}, check=check, **kwargs)


def directory(codename: str, variant: str = "gcc") -> Path:
    """The build folder of that version and variant."""
    return cache.REPOSITORY / "build" / f"{codename}-{variant}"


def build(codename: str, variant: str = "gcc", targets=()) -> Path:
    """Build and return the build folder; quick when nothing changed. Raises EnvironmentError_."""
    env, options = VARIANTS[variant]
    where = directory(codename, variant)
    with cache.lock(where):
        with cache.progress(f"building {where.name}"):
            output = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True, "check": False}
            if not (where / "build.ninja").is_file():
                done = run(codename, "meson", "setup", *options, where, env=env, **output)
                if done.returncode != 0:
                    raise cache.EnvironmentError_(f"meson setup {where.name} failed:\n{done.stdout[-4000:]}")
            done = run(codename, "ninja", f"-j{os.cpu_count() or 2}", "-C", where, *targets, env=env, **output)
            if done.returncode != 0:
                raise cache.EnvironmentError_(f"ninja in {where.name} failed:\n{done.stdout[-6000:]}")
    return where


def main() -> int:
    """build.py CODENAME [VARIANT]: build and print the folder."""
    parser = argparse.ArgumentParser(prog="python3 -m tests.env.build", description=main.__doc__)
    parser.add_argument("codename", choices=slurm_root.SLURM_OF)
    parser.add_argument("variant", nargs="?", default="gcc", choices=VARIANTS)
    arguments = parser.parse_args()
    try:
        print(build(arguments.codename, arguments.variant))
    except cache.EnvironmentError_ as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
