"""`tightnoise session`: a file with a budget for releases, started or shown."""

from __future__ import annotations

import tightnoise as tn
from tightnoise.cli._options import Commands, Options
from tightnoise.cli._output import print_json
from tightnoise.cli._parameters import add_options, given, parameters_of


def add_to(commands: Commands) -> None:
    """Declare the command and its options."""
    session = commands.add_parser(
        "session",
        help="start a budget for releases, or show one",
        description="Start a session with a budget, in a new file, or show the one in a file: what "
        "is spent, and what was released, by name and time. `tightnoise release --session` spends "
        "it.",
    )
    session.add_argument("session", metavar="BUDGET.json", help="new if a budget is given")
    add_options(session, ("", tn.Session), ("", tn.Session))
    session.add_argument("--json", action="store_true", help="print JSON")
    session.set_defaults(run=_run)


def _run(options: Options) -> None:
    if any(getattr(options, name) is not None for name in parameters_of(tn.Session)):
        session = tn.Session(**given(options, tn.Session))
        session.save(options.session)
    else:
        session = tn.Session.load(options.session)
    if options.json:
        print_json(
            {
                "version": tn.__version__,
                "budget": session.budget.state_dict(),
                "remaining": session.budget.remaining,
                "releases": [entry._asdict() for entry in session.releases],
            }
        )
    else:
        print(session)
