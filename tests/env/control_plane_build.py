# SPDX-License-Identifier: Apache-2.0
"""The programs of the control plane: those that the machine has, else built from Go modules into the cache.

Order: the folder that KUBEBUILDER_ASSETS names (etcd, kube-apiserver, kubectl), the cache, a build.
"""
import hashlib
import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from . import cache, golang

KUBERNETES = "v1.37.2"


@dataclass(frozen=True)
class Module:
    """One Go module and the programs built from it: name of the program -> its main package."""
    name: str
    version: str
    programs: dict
    ldflags: str = "-s -w"


_VERSION = "k8s.io/component-base/version"
MODULES = (
    Module("go.etcd.io/etcd/server/v3", "v3.7.3", {"etcd": "go.etcd.io/etcd/server/v3"}),
    Module("k8s.io/kubernetes", KUBERNETES,
           {name: f"k8s.io/kubernetes/cmd/{name}"
            for name in ("kube-apiserver", "kube-controller-manager", "kubectl", "kubelet")},
           ldflags=f"-s -w -X {_VERSION}.gitVersion={KUBERNETES} -X {_VERSION}.gitMajor=1 "
                   f"-X {_VERSION}.gitMinor={KUBERNETES.split('.')[1]} "
                   f"-X k8s.io/client-go/pkg/version.gitVersion={KUBERNETES}"),
    Module("sigs.k8s.io/kwok", "v0.8.0", {"kwok": "sigs.k8s.io/kwok/cmd/kwok"}),
    Module("sigs.k8s.io/jobset", "v0.12.0", {"jobset-manager": "sigs.k8s.io/jobset"}),
    Module("github.com/kubeflow/trainer/v2", "v2.2.1",
           {"trainer-manager": "github.com/kubeflow/trainer/v2/cmd/trainer-controller-manager"}),
    Module("sigs.k8s.io/scheduler-plugins", "v0.34.1-devel",
           {"podgroup-controller": "sigs.k8s.io/scheduler-plugins/cmd/controller"}),
)

ASSETS = ("etcd", "kube-apiserver", "kubectl")
OLDEST_ASSETS_MINOR = 36  # MutatingAdmissionPolicy in admissionregistration.k8s.io/v1


def directory() -> Path:
    """The cache folder of these versions."""
    recipe = "\n".join(f"{m.name}@{m.version} {sorted(m.programs.items())} {m.ldflags}" for m in MODULES)
    return cache.directory() / f"control-plane-{hashlib.sha256(recipe.encode()).hexdigest()[:12]}"


def ensure(only=None) -> dict:
    """Program name -> path, of all programs or of those in ONLY; builds what is nowhere (25 minutes for all)."""
    found = _assets()
    for module in MODULES:
        missing = {}
        for program, package in module.programs.items():
            path = directory() / "bin" / program
            if program in found or only is not None and program not in only:
                continue
            found[program] = path
            if not path.is_file():
                missing[program] = package
        if missing:
            with cache.lock(directory()):
                _build(module, {p: package for p, package in missing.items() if not found[p].is_file()})
    return found


def _assets() -> dict:
    """Programs in KUBEBUILDER_ASSETS; none of them if they are too old for the tests."""
    folder = os.environ.get("KUBEBUILDER_ASSETS")
    found = {name: Path(folder).resolve() / name for name in ASSETS if folder and (Path(folder) / name).is_file()}
    if "kube-apiserver" in found:
        text = subprocess.run([found["kube-apiserver"], "--version"], capture_output=True, text=True).stdout
        minor = re.search(r"v1\.(\d+)", text)
        if not minor or int(minor[1]) < OLDEST_ASSETS_MINOR:
            cache.say(f"not using {folder}: its API server is older than 1.{OLDEST_ASSETS_MINOR}")
            return {}
    return found


def go(*arguments, cwd: Path, log=None) -> str:
    """Run the go command in CWD; its standard output, or "" when that goes to LOG."""
    # The work tree of a user may have a go.work; a C compiler may be missing.
    env = {**os.environ, "GOWORK": "off", "CGO_ENABLED": "0", "GOFLAGS": "-mod=mod", "HOME": str(Path.home())}
    command = [golang.ensure(), *arguments]
    if log:
        cache.run_logged(command, log, cwd=cwd, env=env)
        return ""
    done = subprocess.run(list(map(str, command)), cwd=cwd, env=env, capture_output=True, text=True)
    if done.returncode != 0:
        words = (done.stderr or done.stdout).strip()
        raise cache.EnvironmentError_(f"go {' '.join(map(str, arguments))} failed: {words}")
    return done.stdout


def source(name: str) -> Path:
    """The folder of that module's source in Go's module cache; downloads it if need be."""
    module = next(m for m in MODULES if m.name == name)
    work = directory() / "go"
    work.mkdir(parents=True, exist_ok=True)
    return Path(json.loads(go("mod", "download", "-json", f"{name}@{module.version}", cwd=work))["Dir"])


def _build(module: Module, programs: dict) -> None:
    """Build PROGRAMS in a wrapper module: `go install` refuses modules that carry replace lines."""
    work = directory() / "go" / module.name.replace("/", "_")
    log = directory() / "build.log"
    (directory() / "bin").mkdir(parents=True, exist_ok=True)
    with cache.progress(f"building {', '.join(programs)} ({module.name} {module.version})"):
        if not (work / "ready").is_file():
            work.mkdir(parents=True, exist_ok=True)
            _write_go_mod(module, work)
            go("get", "-tool", *(f"{package}@{module.version}" for package in module.programs.values()),
               cwd=work, log=log)
            (work / "ready").touch()
        for program, package in programs.items():
            target = directory() / "bin" / program
            with cache.progress(f"  {program}"):
                go("build", "-p", str(os.cpu_count() or 2), "-trimpath", "-ldflags", module.ldflags,
                   "-o", f"{target}.new", package, cwd=work, log=log)
            os.rename(f"{target}.new", target)


def _write_go_mod(module: Module, work: Path) -> None:
    """A module that replaces what MODULE's own go.mod replaces; its staging folders by their releases."""
    original = json.loads(go("mod", "edit", "-json", source(module.name) / "go.mod", cwd=work))
    staging = "v0." + module.version.split(".", 1)[1]
    lines = ["module control-plane", f"go {original['Go']}"]
    for replaced in original.get("Replace") or []:
        old, new = replaced["Old"]["Path"], replaced["New"]
        if new["Path"].startswith("./staging/"):
            lines.append(f"replace {old} => {old} {staging}")
        elif "Version" in new:
            lines.append(f"replace {old} => {new['Path']} {new['Version']}")
    (work / "go.mod").write_text("\n".join(lines) + "\n")
    (work / "go.sum").unlink(missing_ok=True)


def main() -> int:
    """control_plane_build.py [PROGRAM...]: build what is missing and print where the programs are."""
    try:
        for program, path in ensure(sys.argv[1:] or None).items():
            print(f"{program}\t{path}")
    except cache.EnvironmentError_ as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
