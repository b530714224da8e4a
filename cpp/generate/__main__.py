"""Write the headers of coefficients: python cpp/generate, or with --check see that they are so."""

import sys
from pathlib import Path

import box_muller
import debye
import elementary
import gauss_legendre
import grid_truncated
import truncated_inside

CPP = Path(__file__).parents[1]
# Everything is computed in 60 digits and rounded once, so the text is the same on every machine.
HEADERS = {
    "numeric/coefficients.hpp": elementary.render,
    "numeric/debye_coefficients.hpp": debye.render,
    "numeric/gauss_legendre.hpp": gauss_legendre.render,
    "random/box_muller_coefficients.hpp": box_muller.render,
    "mechanisms/truncated_inside_coefficients.hpp": truncated_inside.render,
}
# By least squares in doubles: digits may be others elsewhere.
FITTED_HERE = {"mechanisms/grid_truncated_coefficients.hpp": grid_truncated.render}

if sys.argv[1:] == ["--check"]:
    stale = [name for name, render in HEADERS.items() if (CPP / name).read_text() != render()]
    sys.exit(f"run cpp/generate for {', '.join(stale)}" if stale else 0)
for name, render in (HEADERS | FITTED_HERE).items():
    (CPP / name).write_text(render())
