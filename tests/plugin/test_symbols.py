# SPDX-License-Identifier: Apache-2.0
"""What the plugins export, and that Slurm has all that they need."""
import subprocess

import pytest

from tests.env import build, slurm, slurm_root

COMMON = {"plugin_name", "plugin_type", "plugin_version", "init", "fini"}
EXPORTED = {
    "job_submit_k8s.so": COMMON | {"job_submit", "job_modify"},
    "prep_k8s.so": COMMON | {"prep_p_register_callbacks", "prep_p_prolog", "prep_p_epilog", "prep_p_required",
                             "prep_p_prolog_slurmctld", "prep_p_epilog_slurmctld"},
}
SLURM_LIBRARY = f"{slurm.PLUGIN_DIR}/libslurmfull.so"


def symbols(file, *options) -> set:
    """Names of nm -D, without versions."""
    done = subprocess.run(["nm", "-D", *options, file], capture_output=True, text=True, check=True)
    return {line.split()[-1].split("@")[0] for line in done.stdout.splitlines()
            if not (options == ("--undefined-only",) and line.split()[-2] in "wv")}


@pytest.mark.parametrize("codename", slurm_root.SLURM_OF)
@pytest.mark.parametrize("name", EXPORTED)
def test_exports_are_exactly_the_entry_points(codename, name):
    file = build.build(codename) / "plugins" / name
    assert symbols(file, "--defined-only") == EXPORTED[name]


@pytest.mark.parametrize("codename", slurm_root.SLURM_OF)
@pytest.mark.parametrize("name", EXPORTED)
def test_slurm_has_every_symbol_that_is_missing(codename, name):
    file, root = build.build(codename) / "plugins" / name, slurm_root.ensure(codename)
    missing = symbols(file, "--undefined-only")
    needed = subprocess.run(["objdump", "-p", file], capture_output=True, text=True, check=True).stdout
    libraries = [line.split()[-1] for line in needed.splitlines() if "NEEDED" in line]
    for library in libraries:
        for folder in (slurm.LIBRARIES, slurm.LIBRARIES.removeprefix("usr/")):
            if (root / folder / library).exists():
                missing -= symbols((root / folder / library).resolve(), "--defined-only")
                break
    known = symbols(root / SLURM_LIBRARY, "--defined-only") | symbols(root / "usr/sbin/slurmctld-wlm", "--defined-only")
    assert "slurm_error" in missing and missing - known == set()


@pytest.mark.parametrize("codename", slurm_root.SLURM_OF)
@pytest.mark.parametrize("name", EXPORTED)
def test_slurm_conf_is_read_under_its_lock_only(codename, name):
    missing = symbols(build.build(codename) / "plugins" / name, "--undefined-only")
    assert "slurm_conf" not in missing and {"slurm_conf_lock", "slurm_conf_unlock"} <= missing
