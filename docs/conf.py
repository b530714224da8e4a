"""How Sphinx builds the site: `sphinx-build -W docs build/site` (extra `docs`)."""

import sys
from contextlib import ExitStack
from pathlib import Path

from sphinx.ext.autodoc.mock import mock

import tightnoise

sys.path.insert(0, str(Path(__file__).parent / "extensions"))

project = "tightnoise"
author = "The tightnoise developers"
copyright = "The tightnoise developers"  # which Sphinx reads
version = release = tightnoise.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.viewcode",
    "files",
    "mathml",
    "outputs",
    "reference",
    "rooms",
]
exclude_patterns = ["extensions"]
nitpicky = True
# `name` in a docstring is a link where such a name is documented, and code elsewhere.
default_role = "py:obj"
nitpick_ignore_regex = [("py:.*", ".*")]

myst_enable_extensions = ["deflist", "dollarmath"]
myst_heading_anchors = 4
html_math_renderer = "mathml"

autodoc_typehints = "none"  # numpydoc's sections say them
autodoc_member_order = "bysource"
autodoc_mock_imports = ["torch", "opacus", "dask"]  # large, and what they bring is not ours
mocked = ExitStack()
mocked.enter_context(mock(autodoc_mock_imports))  # for all extensions, to the end
numpydoc_show_class_members = False  # autodoc shows them
numpydoc_xref_param_type = False

html_theme = "furo"
html_title = f"tightnoise {release}"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_copy_source = False
