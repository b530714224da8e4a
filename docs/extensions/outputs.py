"""``{output}``: a command of the package, run when the site is built, with what it prints or draws.

The command is the directive's text; ``FIGURE.png`` in it stands for the figure that it draws.
"""

import contextlib
import io
import shlex
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from tightnoise.cli import main


class Output(SphinxDirective):
    """The command, and its figure or else its text."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        """Run the command; a page with a command that fails is an error."""
        command = " ".join(line.rstrip("\\").strip() for line in self.content)
        number = self.env.new_serialno("output")
        name = f"{self.env.docname.replace('/', '-')}-{number}.png"
        figure = Path(self.env.srcdir) / "generated" / "figures" / name
        figure.parent.mkdir(parents=True, exist_ok=True)
        words = [str(figure) if word == "FIGURE.png" else word for word in shlex.split(command)]
        draws = str(figure) in words
        printed, notes = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(notes):
            code = main([*words[1:], "--force"] if draws else words[1:])
        if words[0] != "tightnoise" or code:
            raise self.error(f"{command}: {notes.getvalue()}")
        shown = nodes.literal_block(command, f"$ {command}", language="console")
        if draws:
            return [shown, nodes.image(uri=f"/generated/figures/{name}", alt=command)]
        return [shown, nodes.literal_block(printed.getvalue(), printed.getvalue(), language="text")]


def setup(app: Sphinx) -> dict[str, bool]:
    """Register this extension."""
    app.add_directive("output", Output)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
