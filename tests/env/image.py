# SPDX-License-Identifier: Apache-2.0
"""A container archive with one static program, made by hand: nothing is ever pulled."""
import hashlib
import io
import json
import platform
import tarfile
from pathlib import Path

PAUSE = "test.slurm-k8s.dev/pause:1"
GUIDE = "registry.invalid/torch:none"  # the image that the guide's runtime names
_ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}


def write(archive: Path, program: Path) -> None:
    """Write ARCHIVE (for `ctr images import`) with PROGRAM as PAUSE and as GUIDE."""
    layer = _tar({"etc/passwd": (b"root:x:0:0::/:/\n", 0o644), program.name: (program.read_bytes(), 0o755)})
    files, manifest = {"layer.tar": (layer, 0o644)}, []
    for name, command in ((PAUSE, [f"/{program.name}", "pause"]), (GUIDE, [f"/{program.name}"])):
        config = json.dumps({
            "architecture": _ARCHITECTURES.get(platform.machine(), platform.machine()), "os": "linux",
            "config": {"Entrypoint": command, "Env": ["PATH=/"]},
            "rootfs": {"type": "layers", "diff_ids": [f"sha256:{hashlib.sha256(layer).hexdigest()}"]},
        }).encode()
        file = f"{hashlib.sha256(config).hexdigest()}.json"
        files[file] = (config, 0o644)
        manifest.append({"Config": file, "RepoTags": [name], "Layers": ["layer.tar"]})
    files["manifest.json"] = (json.dumps(manifest).encode(), 0o644)
    archive.write_bytes(_tar(files))


def _tar(files: dict) -> bytes:
    """A tar of name -> (contents, mode)."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for name, (contents, mode) in files.items():
            info = tarfile.TarInfo(name)
            info.size, info.mode = len(contents), mode
            tar.addfile(info, io.BytesIO(contents))
    return buffer.getvalue()
