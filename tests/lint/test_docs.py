# SPDX-License-Identifier: Apache-2.0
"""The tables of the documentation say what the code has, and all of it."""
import re
import subprocess
from pathlib import Path

from tests.env import slurm_root

ROOT = Path(__file__).resolve().parents[2]


def text(path: str) -> str:
    """A file of the repository."""
    return (ROOT / path).read_text()


def table(path: str, heading: str, column: int = 1) -> set:
    """The code words in a column of the table under a heading."""
    part = text(path).split(f"\n{heading}\n")[1].split("\n#")[0]
    cells = [line.split("|")[column] for line in part.splitlines() if line.startswith("| `")]
    return {word for cell in cells for word in re.findall(r"`([^`]+)`", cell)}


def constants() -> dict:
    """Name -> value of include/wellknown.hpp."""
    return dict(re.findall(r'constexpr char (\w+)\[\] = "([^"]+)";', text("include/wellknown.hpp")))


def test_job_options_are_those_of_the_user_page():
    prefix = {"kSlinky": "kSlinkyPrefix", "kSunk": "kSunkPrefix", "kOwn": "kOwnPrefix"}
    rows = re.findall(r'Option\{(\w+), "([^"]+)"', text("sidecar/workload/annotations.cpp"))
    assert len(rows) > 15
    code = {constants()[prefix[family]] + name for family, name in rows}
    assert code == table("docs/user.md", "## Options")


def test_written_keys_are_those_of_the_user_page():
    values = constants()
    assert {values["kJobIdLabel"], values["kSlurmNodeAnnotation"]} == table(
        "docs/user.md", "## What is written on your objects")


def test_every_documented_key_of_other_projects_is_on_a_page():
    pages = text("docs/user.md") + text("docs/administrator.md")
    source = text("include/wellknown.hpp")
    keys = re.findall(r'/// key: .*\ninline constexpr char \w+\[\] = "([^"]+)"', source)
    assert len(keys) >= 4
    assert [key for key in keys if key not in pages] == []


def test_events_are_those_of_the_user_page():
    code = "".join(text(f"sidecar/controller/{name}.cpp") for name in ("reporter", "submitter", "reconcile", "jobs"))
    reasons = set(re.findall(r'(?:(?:warn|doom)\([\w.>-]+,\s+|post_event\([^{]*\{\w+, |return )"([A-Z][A-Za-z]+)"', code))
    assert len(reasons) > 5 and reasons == table("docs/user.md", "## Events of your pods")


def test_sidecar_configuration_is_that_of_the_administrator_page():
    source = text("sidecar/config.cpp")
    sections = {"kubernetes": "kubernetes_rows", "slurm": "slurm_rows", "listener": "listener_rows", "log": "log_rows"}
    code = {"clusterId"}
    for section, function in sections.items():
        body = source.split(f"Reader::Rows {function}(")[1].split("\n}\n")[0]
        names = re.findall(r'\{"(\w+)",\s*\[&\]\(const YAML::Node', body)
        assert names, section
        code |= {f"{section}.{name}" for name in names}
    assert code == table("docs/administrator.md", "## Configuration of the sidecar")


def test_example_of_the_sidecars_configuration_has_every_key():
    example = text("etc/sidecar.yaml.example")
    for key in table("docs/administrator.md", "## Configuration of the sidecar"):
        assert re.search(rf"^\s*(?:# )?{key.split('.')[-1]}:", example, re.M), key


def test_k8s_conf_is_that_of_the_administrator_page():
    code = set(re.findall(r'Key\{"(\w+)",', text("plugins/policy_parser.cpp")))
    assert len(code) > 20
    assert code == table("docs/administrator.md", "## k8s.conf")


def test_verbs_are_those_of_the_administrator_page():
    code = set(re.findall(r'\{VerbKind::\w+, "(\w+)"\}', text("include/verb.cpp")))
    assert len(code) >= 5
    assert code == table("docs/administrator.md", "### What the sidecar may have done")


def test_options_of_the_policy_command_are_those_of_its_manual():
    source, manual = text("tools/command.cpp"), text("docs/slurm-k8s-policy.8").replace("\\-", "-")
    code = {word for names in re.findall(r'(?:add_option|set_version_flag)\("(-[^"]+)"', source)
            for word in names.split(",")} | {"-h", "--help"}  # CLI11's own
    assert len(code) > 8
    options = manual.split("\n.SH OPTIONS\n")[1].split("\n.SH")[0]
    tags = re.findall(r"^\.TP\n(.*)", options, re.M)
    assert code == {word for tag in tags for word in re.findall(r"(?<![\w-])--?[a-z][a-z-]*", tag)}
    commands = manual.split("\n.SH COMMANDS\n")[1].split("\n.SH")[0]
    assert set(re.findall(r'add_subcommand\("(\w+)"', source)) == set(
        re.findall(r"^\.TP\n\.BI? (\w+)", commands, re.M))


def test_each_command_of_the_administrator_has_a_test():
    tests = text("tests/e2e/test_administrator.py") + text("tests/e2e/test_limits.py")
    words = {word for cell in table("docs/administrator.md", "## What Slurm's commands do to pods")
             for word in re.split(r"[ =]+", cell) if word}
    assert len(words) > 20
    assert [word for word in words if word.removeprefix("--") not in tests] == []


def test_metrics_are_those_of_the_administrator_page():
    code = set(re.findall(r'"(slurm_k8s_\w+)"', text("sidecar/metrics.cpp")))
    assert len(code) > 8
    assert code == table("docs/administrator.md", "## Watch it")


def test_rights_in_kubernetes_are_those_that_the_test_environment_grants():
    import yaml
    documents = [d for d in yaml.safe_load_all(text("tests/env/manifests/sidecar-rbac.yaml")) if d]
    rules = [rule for d in documents if d["kind"] == "ClusterRole" for rule in d["rules"]]
    granted = {(f"{r}.{g}" if g else r, verb) for rule in rules for g in rule["apiGroups"]
               for r in rule["resources"] for verb in rule["verbs"]}
    part = text("docs/administrator.md").split("\n### Rights in Kubernetes\n")[1].split("\n#")[0]
    documented = {(cells[1].strip(), verb.strip()) for line in part.splitlines() if line.startswith("| ")
                  and (cells := line.split("|"))[1].strip() not in ("resource",) for verb in cells[2].split(",")}
    assert granted == documented


def known(pattern: str) -> list:
    """Files that git knows."""
    return subprocess.run(["git", "ls-files", pattern], cwd=ROOT, capture_output=True, text=True,
                          check=True).stdout.split()


def folders(under: str = "") -> set:
    """Folders right below another one, as "tests/unit/"."""
    return set(re.findall(rf"^{under}[^/\n]+/", "\n".join(known(".")), re.M))


def test_packages_are_those_that_the_builds_have_and_cover_mesons_dependencies():
    part = text("docs/developer.md").split("Debian packages: ")[1].split("\n\n")[0]
    documented = set(re.findall(r"`([^`]+)`", part))
    assert documented <= set(slurm_root.PACKAGES)
    assert {name for name in slurm_root.PACKAGES if name.endswith("-dev")} <= documented
    builds = "".join(text(name) for name in known("*meson.build"))
    needed = set(re.findall(r"dependency\('([^']+)'", builds)) - {"threads"}
    assert len(needed) > 5
    for name in needed:
        assert any(re.sub("-core|-with-main", "", name.lower()) in package for package in documented), name


def test_folders_are_those_of_the_developer_page():
    assert folders() - {"tests/"} | folders("tests/") == table("docs/developer.md", "## Where things are")


def test_folders_of_the_sidecar_are_those_of_the_architecture_page():
    documented = table("docs/architecture.md", "## Sidecar")
    assert folders("sidecar/") == {f"{name}/" for name in documented}


def test_files_that_a_change_touches_exist():
    rows = [line for line in text("docs/developer.md").split("\n| change | touch |\n")[1].split("\n\n")[0].splitlines()
            if not line.startswith("|---")]
    assert len(rows) > 5
    for row in rows:
        folder = ROOT
        for name in re.findall(r"`([^`]+)`", row.split("|")[2]):
            path = ROOT / name if "/" in name else folder / name  # a bare name lies beside the one before it
            assert path.is_file(), f"{row.split('|')[1].strip()}: {name}"
            folder = path.parent


def test_links_between_pages_lead_somewhere():
    for page in ["README.md", *(str(p.relative_to(ROOT)) for p in (ROOT / "docs").glob("*.md"))]:
        for target in re.findall(r"\]\(([^)#:]+)\)", text(page)):
            assert ((ROOT / page).parent / target).exists(), f"{page}: {target}"
