# SPDX-License-Identifier: Apache-2.0
"""Debian roots that hold one Slurm version each, with all that is needed to build against it.

A root is made once, by debootstrap, and is never written afterwards: instances and builds lay an
overlay over it.
"""
import hashlib
import os
import re
import shutil
import subprocess
from pathlib import Path

from . import cache

SLURM_OF = {"forky": "26.05", "trixie": "24.11", "bookworm": "22.05"}

PACKAGES = (
    "slurmctld slurmd slurm-client slurm-wlm-basic-plugins libslurm-dev munge "
    "slurmdbd slurm-wlm-mysql-plugin slurm-wlm-jwt-plugin mariadb-server "
    "g++ clang meson ninja-build pkg-config libcurl4-openssl-dev rapidjson-dev catch2 "
    "libmicrohttpd-dev libyaml-cpp-dev prometheus-cpp-dev libspdlog-dev libcli11-dev "
    "curl procps iproute2 ca-certificates openssl python3").split()
# The true hybrid nodes (kubelet beside slurmd) exist with the newest Slurm only.
EXTRA_PACKAGES = {"forky": "containerd runc containernetworking-plugins".split()}

USERS = (("slurm-k8s", "--system --no-create-home --shell /usr/sbin/nologin"),
         ("alice", "-u 2001 -m"), ("bob", "-u 2002 -m"))

APT_CONF = """Acquire::Check-Valid-Until "false";
Acquire::Check-Date "false";
Acquire::Languages "none";
APT::Install-Recommends "false";
APT::Install-Suggests "false";
"""


def packages(codename: str):
    """All packages of that root."""
    return PACKAGES + EXTRA_PACKAGES.get(codename, [])


def path(codename: str) -> Path:
    """Where the root of CODENAME lies; it may not be there yet. The key covers its contents."""
    recipe = "\n".join([*sorted(packages(codename)), *map(" ".join, USERS), APT_CONF])
    key = hashlib.sha256(recipe.encode()).hexdigest()[:12]
    return cache.directory() / "roots" / f"{codename}-{key}"


def ensure(codename: str) -> Path:
    """The root of CODENAME, made if absent (about two minutes)."""
    if codename not in SLURM_OF:
        raise cache.EnvironmentError_(f"no Slurm root {codename!r}: use {', '.join(SLURM_OF)}")
    root = path(codename)
    if root.is_dir():
        return root
    with cache.lock(root):
        if not root.is_dir():
            with cache.progress(f"making the {codename} root (Slurm {SLURM_OF[codename]})"):
                _make(codename, root)
    return root


def debian_mirror() -> str:
    """The Debian archive that this machine itself uses, from either form of apt sources."""
    for file in sorted(Path("/etc/apt").glob("sources.list.d/*.sources")):
        for stanza in re.split(r"\n\s*\n", file.read_text()):
            field = {k.lower(): v for k, v in re.findall(r"^(\w[\w-]*):[ \t]*(.*)$", stanza, re.M)}
            if "main" in field.get("components", "").split() and "deb" in field.get("types", "").split():
                uri = (_mirror_list(field.get("uris", "")).split() or [""])[0]
                if "debian" in uri and "security" not in uri:
                    return uri
    for file in [Path("/etc/apt/sources.list"), *sorted(Path("/etc/apt").glob("sources.list.d/*.list"))]:
        if not file.is_file():
            continue
        for uri in re.findall(r"^deb\s+(?:\[[^]]*\]\s+)?(\S+)\s+\S+.*\bmain\b", file.read_text(), re.M):
            uri = _mirror_list(uri)
            if "debian" in uri and "security" not in uri:
                return uri
    raise cache.EnvironmentError_("no Debian archive found in /etc/apt: sources with component main are needed")


def _mirror_list(uri: str) -> str:
    """URI itself, or the first entry of the file that a "mirror+file:" URI (cloud images) names."""
    if not uri.startswith("mirror+file:"):
        return uri
    entries = Path("/" + uri.removeprefix("mirror+file:").strip().lstrip("/")).read_text().split()
    return entries[0] if entries else ""


def _host_proxy() -> str:
    """The lines of this machine's apt configuration that name a proxy."""
    dump = subprocess.run(["apt-config", "dump"], capture_output=True, text=True).stdout
    return "".join(f"{line}\n" for line in dump.splitlines()
                   if re.match(r"Acquire::https?::Proxy\b", line, re.I))


def _debootstrap_script(codename: str) -> str:
    """debootstrap's script for CODENAME; older debootstraps do not know newer suites."""
    scripts = Path("/usr/share/debootstrap/scripts")
    return str(scripts / (codename if (scripts / codename).exists() else "sid"))


def _make(codename: str, root: Path) -> None:
    if os.geteuid() != 0:
        raise cache.EnvironmentError_("the Slurm roots are made by root: run as root")
    if not shutil.which("debootstrap"):
        cache.say("installing debootstrap")
        subprocess.run(["apt-get", "install", "-y", "-qq", "--no-install-recommends", "debootstrap"],
                       check=True, stdout=subprocess.DEVNULL,
                       env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"})
    building = root.with_name(f"{root.name}.building")
    log = root.with_name(f"{root.name}.log")
    log.unlink(missing_ok=True)
    shutil.rmtree(building, ignore_errors=True)
    keyring = "/usr/share/keyrings/debian-archive-keyring.gpg"
    cache.run_logged(["debootstrap", "--variant=minbase", "--include=ca-certificates",
                      f"--keyring={keyring}", codename,
                      building, debian_mirror(), _debootstrap_script(codename)], log)
    (building / "etc/apt/apt.conf.d/99sandbox").write_text(APT_CONF + _host_proxy())
    policy = building / "usr/sbin/policy-rc.d"
    policy.write_text("#!/bin/sh\nexit 101\n")  # no daemon starts at its installation
    policy.chmod(0o755)
    # A mount namespace of its own: what dies half-way leaves no mount behind.
    script = ('set -e; r=$1; shift; mount -t proc proc "$r/proc"; export DEBIAN_FRONTEND=noninteractive; '
              'chroot "$r" apt-get update -qq; '
              'chroot "$r" apt-get install -y -qq --no-install-recommends "$@"; chroot "$r" apt-get clean')
    cache.run_logged(["unshare", "--mount", "--propagation", "private", "sh", "-c", script, "sh",
                      building, *packages(codename)], log, env={**os.environ, "LC_ALL": "C.UTF-8"})
    for name, options in USERS:
        cache.run_logged(["chroot", building, "useradd", *options.split(), name], log)
    building.rename(root)
