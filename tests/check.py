# SPDX-License-Identifier: Apache-2.0
"""./check [--list] [SUITE...]: builds, runs the suites, and counts.

The last line is "N passed, N failed". A skipped test counts as failed: nothing is skipped here.
"""
import argparse
import os
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass, field
from pathlib import Path

from tests.env import build, cache, slurm_root

REPOSITORY = cache.REPOSITORY
# What is compiled: every Slurm version with both compilers.
BUILDS = [(codename, compiler) for codename in slurm_root.SLURM_OF for compiler in ("gcc", "clang")]
# Where the unit tests run: each version, and once under the sanitizers.
UNIT_RUNS = [("forky", "gcc"), ("trixie", "clang"), ("bookworm", "gcc"), ("trixie", "asan")]
UNIT_TIMEOUT_S = 120
SANITIZERS = {"ASAN_OPTIONS": "detect_leaks=1:abort_on_error=0", "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1"}


@dataclass
class Count:
    """Tests that passed, and the names of those that did not."""
    passed: int = 0
    failed: list = field(default_factory=list)

    def add(self, other: "Count") -> None:
        """Take in what another count found."""
        self.passed += other.passed
        self.failed += other.failed

    def note(self, name: str, good: bool, output: str = "") -> None:
        """Count one; what a failed one printed is shown."""
        if good:
            self.passed += 1
            return
        self.failed.append(name)
        print(f"FAILED {name}\n{output}", flush=True)


def read_junit(file: Path, prefix: str) -> Count:
    """The counts of a JUnit report, as Catch2 and pytest write it."""
    count = Count()
    for case in ElementTree.parse(file).iter("testcase"):
        name = f"{prefix} {case.get('classname', '')}::{case.get('name')}"
        if any(case.find(kind) is not None for kind in ("failure", "error", "skipped")):
            count.failed.append(name)
        else:
            count.passed += 1
    return count


def suite_lint() -> Count:
    """Rules about the text of the code."""
    count = Count()
    done = subprocess.run([REPOSITORY / ".ci/check-includes"], capture_output=True, text=True)
    count.note("lint include rule", done.returncode == 0, done.stdout)
    sources = subprocess.run(["git", "ls-files", "*.cpp", "*.hpp"], cwd=REPOSITORY, capture_output=True,
                             text=True, check=True).stdout.split()
    done = subprocess.run(["clang-format", "--dry-run", "--Werror", *sources], cwd=REPOSITORY,
                          capture_output=True, text=True)
    count.note("lint clang-format", done.returncode == 0, done.stderr[-3000:])
    count.add(run_pytest("lint", ["tests/lint"]))
    return count


def suite_build() -> Count:
    """Every Slurm version, GCC and clang, without a warning."""
    count = Count()
    for codename, compiler in BUILDS:
        name = f"build Slurm {slurm_root.SLURM_OF[codename]} {compiler}"
        try:
            build.build(codename, compiler)
            count.note(name, True)
        except cache.EnvironmentError_ as error:
            count.note(name, False, str(error))
    return count


def suite_unit() -> Count:
    """Catch2, on each Slurm version, and under the sanitizers."""
    count = Count()
    for codename, variant in UNIT_RUNS:
        where = build.build(codename, variant)
        tests = sorted(p for p in (where / "tests/unit").glob("unit_*") if p.is_file() and os.access(p, os.X_OK))
        if not tests:
            count.note(f"unit {where.name}", False, "there are no unit tests")
        for test in tests:
            count.add(run_unit(codename, where, test))
    return count


def run_unit(codename: str, where: Path, test: Path) -> Count:
    """One test program, inside its Slurm root."""
    name, report = f"unit {where.name} {test.name}", where / f"{test.name}.xml"
    report.unlink(missing_ok=True)
    try:
        done = build.run(codename, test, "-r", "junit", "-o", report, env=SANITIZERS, check=False,
                         capture_output=True, text=True, timeout=UNIT_TIMEOUT_S)
    except subprocess.TimeoutExpired:
        count = Count()
        count.note(name, False, f"no end after {UNIT_TIMEOUT_S} s")
        return count
    try:
        count = read_junit(report, name)
    except (OSError, ElementTree.ParseError):
        count = Count()
    if done.returncode != 0:
        output = report.read_text(errors="replace")[-6000:] if report.exists() else ""
        if not count.failed:  # a sanitizer, or a crash
            count.failed.append(name)
        print(f"FAILED {name}: status {done.returncode}\n{output}\n{done.stderr[-6000:]}", flush=True)
    return count


def run_pytest(name: str, paths) -> Count:
    """pytest over PATHS, output shown as it comes."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        done = subprocess.run([sys.executable, "-m", "pytest", "-q", "-ra", "--junitxml", report, *paths],
                              cwd=REPOSITORY)
        try:
            count = read_junit(report, name)
        except (OSError, ElementTree.ParseError):
            count = Count()
        if done.returncode != 0 and not count.failed:
            count.failed.append(f"{name}: pytest ended with {done.returncode}")
        return count


SUITES = {
    "lint": suite_lint,
    "build": suite_build,
    "unit": suite_unit,
    "env": lambda: run_pytest("env", ["tests/env"]),
    "plugin": lambda: run_pytest("plugin", ["tests/plugin"]),
    "e2e": lambda: run_pytest("e2e", ["tests/e2e"]),
    "crash": lambda: run_pytest("crash", ["tests/crash"]),
}
# Parts of those above that belong together, for whoever works on them.
TOPICS = {
    "policy": lambda: run_pytest("policy", [f"tests/plugin/test_{name}.py" for name in (
        "accounting", "forgery", "job_submit", "takeover", "verbs")] + [
            "tests/e2e/test_administrator.py", "tests/e2e/test_limits.py"]),
}


def main() -> int:
    """Status 0 if nothing failed and something passed."""
    parser = argparse.ArgumentParser(prog="./check", description="Builds and tests; all suites by default.")
    parser.add_argument("suites", nargs="*", metavar="SUITE", help=", ".join([*SUITES, *TOPICS]))
    arguments = parser.parse_args()
    unknown = [name for name in arguments.suites if name not in SUITES | TOPICS]
    if unknown:
        parser.error(f"no suite {', '.join(unknown)}: there are {', '.join([*SUITES, *TOPICS])}")
    with cache.lock(REPOSITORY / "build/check"):
        return report(run_suites(arguments.suites or SUITES))


def run_suites(names) -> Count:
    """One after the other; a suite that cannot begin counts as failed."""
    total = Count()
    for name in names:
        start = time.monotonic()
        print(f"== {name}", flush=True)
        try:
            count = (SUITES | TOPICS)[name]()
        except cache.EnvironmentError_ as error:
            count = Count()
            count.note(name, False, str(error))
        print(f"== {name}: {count.passed} passed, {len(count.failed)} failed in {time.monotonic() - start:.0f} s",
              flush=True)
        total.add(count)
    return total


def report(total: Count) -> int:
    """Print what failed and the last line; the exit status."""
    for name in total.failed:
        print(f"failed: {name}")
    print(f"{total.passed} passed, {len(total.failed)} failed")
    return 0 if total.passed and not total.failed else 1


if __name__ == "__main__":
    sys.exit(main())
