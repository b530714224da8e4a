#!/usr/bin/env python3
"""Check the built site: every link in it leads somewhere, and every public name has a page.

python3 tests/tools/check_site.py build/site
"""

from __future__ import annotations

import importlib
import pkgutil
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import tightnoise

UNSEEN = {"__version__"}


class Page(HTMLParser):
    """The anchors of a page, and where its links and pictures lead."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors = {""}
        self.targets: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        for name, value in attributes:
            if name in ("id", "name") and value:
                self.anchors.add(value)
            elif value and ((tag, name) in (("a", "href"), ("link", "href")) or name == "src"):
                self.targets.add(value)


def broken_links(site: Path) -> list[str]:
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in site.rglob("*.html")}
    found = []
    for path, page in pages.items():
        for target in sorted(page.targets):
            parts = urlsplit(target)
            if parts.scheme or parts.netloc:
                continue  # others' sites
            file = (path.parent / unquote(parts.path)).resolve() if parts.path else path.resolve()
            leads = file.exists()
            if leads and file.suffix == ".html" and parts.fragment:
                leads = unquote(parts.fragment) in pages[file].anchors
            if not leads:
                found.append(f"{path.relative_to(site)}: {target}")
    return found


def names_without_a_page(site: Path) -> list[str]:
    """Return public names that no page of the reference is about.

    A thing that several modules export needs one page, under any of its names.
    """
    pages = {path.stem for path in (site / "generated" / "reference").glob("*.html")}
    modules = [tightnoise]
    for found in pkgutil.iter_modules(tightnoise.__path__, "tightnoise."):
        if (site / "generated" / "reference" / "modules" / f"{found.name}.html").exists():
            try:
                modules.append(importlib.import_module(found.name))
            except ImportError:  # an extra that is not there
                print(f"not checked: {found.name}")
    names: dict[int, set[str]] = {}
    for module in modules:
        for name in set(module.__all__) - UNSEEN:
            try:
                thing = getattr(module, name)
            except ImportError:
                continue
            if getattr(thing, "__name__", None) in sys.modules:
                continue  # a module, which has a page of its own
            names.setdefault(id(thing), set()).add(f"{module.__name__}.{name}")
    return sorted(min(same) for same in names.values() if not same & pages)


def main() -> int:
    site = Path(sys.argv[1]).resolve()
    faults = [f"link to nowhere: {link}" for link in broken_links(site)]
    faults += [f"no page: {name}" for name in names_without_a_page(site)]
    print(*faults, sep="\n", end="\n" if faults else "")
    print(f"{len(list(site.rglob('*.html')))} pages, {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
