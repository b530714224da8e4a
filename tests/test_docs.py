"""What the Python in docs/ prints is what stands beneath it."""

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[1] / "docs"
EXAMPLES = re.compile(r"^```python\n(.*?)^```\n\n```text\n(.*?)^```", re.M | re.S)


PAGES = {page.name: page.read_text(encoding="utf-8") for page in sorted(DOCS.glob("*.md"))}
PARTS = [
    pytest.param(*match.groups(), id=f"{name}, {number}")
    for name, text in PAGES.items()
    for number, match in enumerate(EXAMPLES.finditer(text), 1)
]


def test_every_example_shows_what_it_prints():
    assert sum(text.count("```python") for text in PAGES.values()) == len(PARTS) > 0


@pytest.mark.parametrize(("code", "printed"), PARTS)
def test_example_prints_what_it_says(code, printed, capsys):
    exec(compile(code, "example", "exec"), {})
    assert capsys.readouterr().out == printed


def test_privacy_loss_distributions_are_of_releases_without_sampling():
    """README, pages and reproductions say one thing: `privacy_loss` takes no sampling rate."""
    root = DOCS.parent
    files = [root / "README.md", *DOCS.glob("*.md"), *root.glob("python/**/*.py")]
    said = {file.name: " ".join(file.read_text(encoding="utf-8").split()) for file in files}
    assert not [name for name, text in said.items() if "not part of this release" in text]
    assert "releases without sampling also exactly, by privacy-loss" in said["README.md"]
    assert "for releases without sampling only" in said["directional-noise.md"]
