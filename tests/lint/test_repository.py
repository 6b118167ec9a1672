# SPDX-License-Identifier: Apache-2.0
"""What the repository may hold, and how large its pieces may be."""
import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MAX_LINES = 500
CODE = (".cpp", ".hpp", ".py")


def files() -> list:
    """What git knows, as paths from the root."""
    done = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True)
    return [name for name in done.stdout.splitlines() if (ROOT / name).is_file()]


def test_no_file_is_binary():
    for name in files():
        assert b"\0" not in (ROOT / name).read_bytes(), name


def test_no_path_of_a_developers_machine_is_in_it():
    for name in files():
        found = re.search(r"/(?:home|Users)/[a-z]\w+/|/root/\.|/work/", (ROOT / name).read_text())
        assert not found or name == "tests/lint/test_repository.py", f"{name}: {found.group(0)}"


def test_every_source_file_names_its_licence():
    for name in files():
        if name.endswith(CODE) and (ROOT / name).stat().st_size:
            assert "SPDX-License-Identifier: Apache-2.0" in (ROOT / name).read_text()[:200], name


def test_no_source_file_is_long():
    for name in files():
        if name.endswith(CODE):
            assert len((ROOT / name).read_text().splitlines()) <= MAX_LINES, name


def test_nothing_is_left_to_do_without_an_issue():
    for name in files():
        if name.endswith(CODE) and name != "tests/lint/test_repository.py":
            assert not re.search(r"\b(TODO|FIXME|XXX)\b", (ROOT / name).read_text()), name
