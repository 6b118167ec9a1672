# SPDX-License-Identifier: Apache-2.0
"""What the machine itself must have before an instance can start."""
import os
import shutil
import subprocess

from . import cache

# Command -> Debian package.
TOOLS = {"debootstrap": "debootstrap", "nsenter": "util-linux", "setpriv": "util-linux", "mount": "mount",
         "hostname": "hostname"}


def prerequisites() -> None:
    """Install what is missing. Raises EnvironmentError_ with one line if that is not possible."""
    if os.geteuid() != 0:
        raise cache.EnvironmentError_("instances need mount and network namespaces: run as root")
    missing = sorted({package for tool, package in TOOLS.items() if not shutil.which(tool)})
    if not missing:
        return
    if not shutil.which("apt-get"):
        raise cache.EnvironmentError_(f"please install: {', '.join(missing)}")
    env = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    with cache.lock(cache.directory() / "apt"), cache.progress(f"installing {', '.join(missing)}"):
        subprocess.run(["apt-get", "update", "-qq"], env=env, stdout=subprocess.DEVNULL)
        done = subprocess.run(["apt-get", "install", "-y", "-qq", "--no-install-recommends", *missing], env=env,
                              capture_output=True, text=True)
    if done.returncode != 0:
        raise cache.EnvironmentError_(f"cannot install {', '.join(missing)}: {done.stderr.strip()}")
