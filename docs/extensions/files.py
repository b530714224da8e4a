"""Pages of files outside of docs/: proofs beside the code, and every source that a page links to.

They are written to docs/generated/ at each build, so that each text stands once in the repository.
"""

import os
import re
from pathlib import Path

from sphinx.application import Sphinx
from typeset import typeset

DOCS = Path(__file__).resolve().parents[1]
ROOT = DOCS.parent
GENERATED = DOCS / "generated"
BESIDE = [ROOT / f"{name}.md" for name in ("CONTRIBUTING", "SECURITY", "CHANGELOG")]
PROOFS = [*sorted(ROOT.glob("cpp/**/*.md")), *sorted(ROOT.glob("python/**/*.md"))]

LINK = re.compile(r"\]\(([^)\s#]+)(#[^)\s]*)?\)")
ORPHAN = "---\norphan: true\n---\n\n"  # in no table of contents
LANGUAGES = {".py": "python", ".hpp": "cpp", ".cpp": "cpp", ".cff": "yaml", ".toml": "toml"}


def page_of(file: Path) -> Path:
    """Return the page, within docs/, that shows a file of the repository."""
    if file.suffix == ".md" and file.is_relative_to(DOCS):
        return file
    if file.suffix == ".md":
        return GENERATED / "texts" / file.relative_to(ROOT)
    return GENERATED / "sources" / f"{file.relative_to(ROOT)}.md"


def linked(text: str, folder: Path) -> tuple[str, set[Path]]:
    """Return a text whose links to files lead to pages, and the files that they lead to."""
    files = set()

    def to_page(link: re.Match[str]) -> str:
        file = Path(os.path.normpath(folder / link[1]))
        if "://" in link[1] or not file.is_file():
            return link[0]  # MyST warns of what is not there
        files.add(file)
        return f"](/{page_of(file).relative_to(DOCS)}{link[2] or ''})"

    return LINK.sub(to_page, text), files


WRITTEN: set[Path] = set()


def write(page: Path, text: str) -> None:
    """Write a page, unless it is there already: Sphinx reads again what is newer."""
    WRITTEN.add(page)
    if not page.exists() or page.read_text(encoding="utf-8") != text:
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(text, encoding="utf-8")


def write_pages(app: Sphinx) -> None:
    """Write the pages of all proofs, and of what is linked from a page, directly or not."""
    waiting, done = {*DOCS.glob("*.md"), *PROOFS, *BESIDE}, set()
    while waiting:
        file = waiting.pop()
        done.add(file)
        text = file.read_text(encoding="utf-8")
        if file.suffix == ".md":
            text, found = linked(text, file.parent)
            waiting |= found - done
            text = typeset(text) if file in PROOFS else text
            text = text if file in (*PROOFS, *BESIDE) else ORPHAN + text
        else:
            name, language = file.relative_to(ROOT), LANGUAGES.get(file.suffix, "text")
            fence = "`" * 6
            text = f"{ORPHAN}# {name}\n\n{fence}{language}\n{text}\n{fence}\n"
        if page_of(file) != file:
            write(page_of(file), text)


def remove_others(app: Sphinx) -> None:
    """Remove pages of earlier builds, of what is no more."""
    for page in GENERATED.rglob("*"):
        if page.suffix in (".md", ".rst") and page not in WRITTEN:
            page.unlink()


def read_page(app: Sphinx, docname: str, source: list[str]) -> None:
    """Lead the links of a page in docs/ to pages."""
    if not docname.startswith("generated/"):
        source[0], _ = linked(source[0], DOCS)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register this extension."""
    app.connect("builder-inited", write_pages)
    app.connect("builder-inited", remove_others, priority=900)  # when all have written theirs
    app.connect("source-read", read_page)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
