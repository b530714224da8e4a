"""Every public name is documented with an example, and every example prints what it says."""

import doctest
import importlib
import inspect
import pkgutil
import pydoc
import re

import pytest

import tightnoise

# Modules that import PyTorch are left to tests/with_torch.
EVERY_MODULE = ["tightnoise"] + [
    module.name
    for module in pkgutil.walk_packages(tightnoise.__path__, "tightnoise.")
    if not module.name.startswith(("tightnoise._core", "tightnoise.__main__"))
    and not module.name.startswith(("tightnoise.dask", "tightnoise.torch"))  # see tests/with_*
    and not module.name.startswith("tightnoise.reproduce.reconstruction._")  # imports torch
]
MODULES = [
    name for name in EVERY_MODULE if not any(part.startswith("_") for part in name.split(".")[1:])
]


def public_names():
    for name in MODULES:
        module = importlib.import_module(name)
        for public in getattr(module, "__all__", []):
            thing = getattr(module, public)
            if inspect.isclass(thing) or inspect.isroutine(thing):  # not aliases of types
                yield pytest.param(thing, id=f"{name}.{public}")


@pytest.mark.parametrize("name", MODULES)
def test_module_says_what_it_is(name):
    module = importlib.import_module(name)
    assert module.__doc__


@pytest.mark.parametrize("thing", list(public_names()))
def test_public_name_has_an_example(thing):
    text = inspect.getdoc(thing)
    assert text
    if not (inspect.isclass(thing) and issubclass(thing, Exception)):
        assert "Examples\n--------" in text
        assert ">>>" in text


@pytest.mark.parametrize("name", EVERY_MODULE)
def test_examples(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = doctest.testmod(importlib.import_module(name))
    assert result.failed == 0


@pytest.mark.parametrize("thing", list(public_names()))
def test_help_shows_no_private_name(thing):
    text = pydoc.render_doc(thing, renderer=pydoc.plaintext)
    shown = re.findall(r"^ \|  (_[a-z]\w*)", text, re.M)
    of_tuples = {"_asdict", "_field_defaults", "_fields", "_make", "_replace"}  # public, by Python
    assert set(shown) <= (of_tuples if hasattr(thing, "_make") else set())
