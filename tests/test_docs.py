"""What the Python in docs/ prints is what stands beneath it."""

import importlib.util
import re
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[1] / "docs"
EXAMPLES = re.compile(r"^```python\n(.*?)^```\n\n```text\n(.*?)^```", re.M | re.S)
LINKS = re.compile(r"\]\(([^)\s]+)\)")
BESIDE = [DOCS.parent / f"{name}.md" for name in ("README", "CONTRIBUTING", "SECURITY")]
LINKED = [*BESIDE, *sorted(DOCS.glob("*.md"))]

PAGES = {page.name: page.read_text(encoding="utf-8") for page in sorted(DOCS.glob("*.md"))}
FOUND = [
    pytest.param(*match.groups(), id=f"{name}, {number}")
    for name, text in PAGES.items()
    for number, match in enumerate(EXAMPLES.finditer(text), 1)
    if "import dask" not in match[1]  # see tests/with_dask
]
PARTS = [part for part in FOUND if "torch" not in part.values[0]]  # those: tests/with_torch


def test_every_example_shows_what_it_prints():
    texts = PAGES.values()
    parts = sum(text.count("```python") - text.count("```python\nimport dask") for text in texts)
    assert parts == len(FOUND)
    assert 0 < len(FOUND) - len(PARTS) < 8


@pytest.mark.parametrize(("code", "printed"), PARTS)
def test_example_prints_what_it_says(code, printed, capsys):
    if "sklearn" in code:
        pytest.importorskip("sklearn", reason="scikit-learn, which brings the data, is an extra")
    exec(compile(code, "example", "exec"), {})
    assert capsys.readouterr().out == printed


@pytest.mark.parametrize("page", LINKED, ids=lambda page: page.name)
def test_links_point_to_files(page):
    targets = LINKS.findall(page.read_text(encoding="utf-8"))
    paths = {target.partition("#")[0] for target in targets if "://" not in target} - {""}
    assert not [path for path in sorted(paths) if not (page.parent / path).exists()]


def test_proofs_are_set_as_they_are_written():
    """Signs, indices and exponents; what would not be read the same stays."""
    spec = importlib.util.spec_from_file_location("typeset", DOCS / "extensions" / "typeset.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    text = "r_j <= alpha s_1^2/4, e^k_l - 1, e^K(s), `a_b` of [P_Q.md](P_Q.md)\n    x_j <= c^2"
    assert module.typeset(text) == (
        "r<sub>j</sub> ≤ α s<sub>1</sub><sup>2</sup>/4, e<sup>k<sub>l</sub></sup> - 1, e^K(s), "  # noqa: RUF001
        "`a_b` of [P_Q.md](P_Q.md)\n    x_j ≤ c^2\n"
    )
