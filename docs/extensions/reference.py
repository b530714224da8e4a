"""A page for every public name, and one for every public module, from what `__all__` says."""

import importlib
import inspect
import pkgutil
import re
from types import ModuleType

from files import GENERATED, write
from sphinx.application import Sphinx

import tightnoise

PAGES = GENERATED / "reference"
SEPARATE = ("cli", "reproduce", "data", "__main__")  # commands, and what they read


def public_modules() -> list[ModuleType]:
    """Return the package and those of its modules that users name, with `__all__`."""
    names = [
        module.name
        for module in pkgutil.iter_modules(tightnoise.__path__, "tightnoise.")
        if not module.name.split(".")[1].startswith("_")
        and module.name.split(".")[1] not in SEPARATE
    ]
    return [tightnoise, *(importlib.import_module(name) for name in sorted(names))]


def homes(modules: list[ModuleType]) -> dict[tuple[str, str], str]:
    """Return, of (module, public name), the name that its page has.

    A thing that several modules export has one page, under the first of them: the package's own.
    """
    first: dict[int, str] = {}
    found = {}
    for module in modules:
        for name in module.__all__:
            thing = getattr(module, name)
            if inspect.ismodule(thing) or name == "__version__":
                continue
            full = f"{module.__name__}.{name}"
            found[module.__name__, name] = first.setdefault(id(thing), full)
    return found


def titled(name: str) -> str:
    """Return the head of a page."""
    return f"{name}\n{'=' * len(name)}\n\n"


def page(name: str, thing: object) -> str:
    """Return the page of one public name."""
    if inspect.isclass(thing):
        body = f".. autoclass:: {name}\n   :members:\n   :inherited-members:\n"
        if issubclass(thing, Exception):
            body = f".. autoexception:: {name}\n"
    elif callable(thing):
        body = f".. autofunction:: {name}\n"
    else:
        body = f".. py:data:: {name}\n\n   ::\n\n      {thing!r}\n"
    module = name.rpartition(".")[0]
    up = f"In :doc:`{module} </generated/reference/modules/{module}>`.\n\n"
    # In no table of contents: a sidebar of hundreds of names serves nobody.
    return f":orphan:\n\n{titled(name.partition('.')[2])}{up}{body}"


def escaped(line: str) -> str:
    """Return a line of a docstring in which |x| is an absolute value, not a substitution."""
    if line.lstrip().startswith((">>>", "...")):
        return line
    parts = re.split(r"(`+[^`]*`+)", line)
    return "".join(part if part[:1] == "`" else part.replace("|", r"\|") for part in parts)


def escape(
    app: Sphinx, what: str, name: str, thing: object, options: object, lines: list[str]
) -> None:
    """Escape a docstring, outside of its examples."""
    end = lines.index("Examples") if "Examples" in lines else len(lines)
    lines[:end] = map(escaped, lines[:end])


def summary(thing: object) -> str:
    """Return the first sentence of what a name is."""
    text = inspect.getdoc(thing) if inspect.isroutine(thing) or inspect.isclass(thing) else None
    return escaped(" ".join((text or "").split("\n\n")[0].split()))


def module_page(module: ModuleType, places: dict[tuple[str, str], str]) -> str:
    """Return the page of a module: what it says of itself, and a table of its names."""
    rows = []
    for name in sorted(module.__all__, key=lambda name: (name.lower(), name)):
        place = places.get((module.__name__, name))
        if place is None:
            continue
        text = summary(getattr(module, name))
        rows.append(f"   * - :doc:`{name} </generated/reference/{place}>`\n     - {text}\n")
    table = f".. list-table::\n   :widths: 30 70\n\n{''.join(rows)}\n"
    about = f".. automodule:: {module.__name__}\n   :no-members:\n\n"
    return titled(module.__name__) + about + table


def write_reference(app: Sphinx) -> None:
    """Write all pages."""
    modules = public_modules()
    places = homes(modules)
    for module in modules:
        write(PAGES / "modules" / f"{module.__name__}.rst", module_page(module, places))
        for name in module.__all__:
            place = places.get((module.__name__, name))
            if place == f"{module.__name__}.{name}":
                write(PAGES / f"{place}.rst", page(place, getattr(module, name)))


BACK = re.compile(r"(/generated/reference/)([\w.]+)(\.html#)([\w.]+)")


def lead_back(app: Sphinx, pagename: str, template: str, context: dict, doctree: object) -> None:
    """Repair the links from sources back to pages.

    Sphinx takes all that is defined in a file for documented under one name of the module.
    """
    if pagename.startswith("_modules/"):

        def anchor(link: re.Match[str]) -> str:
            name = link[2]
            member = link[4].partition("." + name.rpartition(".")[2])[2]
            return f"{link[1]}{name}{link[3]}{name}{member}"

        context["body"] = BACK.sub(anchor, context["body"])


def setup(app: Sphinx) -> dict[str, bool]:
    """Register this extension."""
    app.connect("builder-inited", write_reference)
    app.connect("html-page-context", lead_back)
    app.connect("autodoc-process-docstring", escape, priority=1)  # before numpydoc
    return {"parallel_read_safe": True, "parallel_write_safe": True}
