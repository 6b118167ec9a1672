# SPDX-License-Identifier: Apache-2.0
"""Small scripts, so that kubectl and Slurm's commands work from a shell outside the instance."""
from pathlib import Path

from .space import PATH

SLURM_COMMANDS = ("squeue", "sbatch", "srun", "scontrol", "scancel", "sinfo", "salloc", "sacct")

_HEAD = """#!/bin/sh
ns={namespaces}
grep -q " $ns/net " /proc/self/mountinfo || {{ echo "instance {name} does not run" >&2; exit 1; }}
"""
# A script of the user lies outside, where the shell of the wrapper stays.
_SCRIPTS = """n=$#
while [ $n -gt 0 ]; do
  argument=$1; shift; n=$((n - 1))
  [ -f "$argument" ] && [ "$(head -c 2 "$argument")" = "#!" ] && argument=/proc/$$/root$(realpath "$argument")
  set -- "$@" "$argument"
done
"""
_SLURM = _HEAD + """{scripts}nsenter --mount=$ns/mnt --net=$ns/net --uts=$ns/uts \\
  env -i PATH={path} HOME=/root USER=root LC_ALL=C.UTF-8 TERM="${{TERM:-dumb}}" \\
  sh -c 'cd; exec "$@"' sh {command} "$@"
"""
_KUBECTL = _HEAD + """export KUBECONFIG={kubeconfig} KUBECACHEDIR={cache}
exec nsenter --net=$ns/net {kubectl} "$@"
"""


def write_wrappers(instance) -> Path:
    """Write them into the instance's bin folder."""
    folder = instance.directory / "bin"
    folder.mkdir(exist_ok=True)
    head = {"namespaces": instance.space.namespaces, "name": instance.name}
    scripts = {command: _SLURM.format(command=command, path=PATH, **head,
                                       scripts=_SCRIPTS if command == "sbatch" else "exec ")
               for command in SLURM_COMMANDS}
    if instance.control_plane:
        scripts["kubectl"] = _KUBECTL.format(
            kubectl=instance.control_plane.binaries["kubectl"], kubeconfig=instance.control_plane.kubeconfig,
            cache=instance.directory / "kube-cache", **head)
    for name, text in scripts.items():
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    return folder
