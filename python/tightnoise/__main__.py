"""`python -m tightnoise` is the command `tightnoise`."""

from tightnoise.cli import main

raise SystemExit(main())
