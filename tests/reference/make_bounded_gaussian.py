"""Write bounded_gaussian.npz: `python -m reference.make_bounded_gaussian` from tests/.

Needs mpmath (and, to finish in minutes, gmpy2).
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np

from reference import bounded_gaussian as exact
from reference.bounded_gaussian_cases import MECHANISMS, fingerprint, points

FUNCTIONS = {
    "renyi": ("shift", "alpha"),
    "renyi_far": ("shift", "alpha"),
    "hockey_stick": ("shift", "epsilon"),
    "fisher_information": (),
    "mean": (),
    "variance": (),
    "pdf": ("x",),
    "cdf": ("x",),
}


def table(function: str, mechanism: str) -> np.ndarray:
    data = {name: column.tolist() for name, column in points(function, mechanism).items()}
    evaluate = getattr(exact, "renyi" if function == "renyi_far" else function)
    values = []
    for i in range(len(data["theta"])):
        names = ("theta", "sigma", "lower", "upper", "levels")
        case = exact.Case(mechanism, *(data[name][i] for name in names))
        values.append(float(evaluate(case, *(data[name][i] for name in FUNCTIONS[function]))))
    return np.array(values)


def main() -> None:
    tables = {}
    for mechanism in MECHANISMS:
        for function in FUNCTIONS:
            if function == "pdf" and mechanism in ("quantized", "sign"):
                continue
            start = time.process_time()
            tables[f"{function}/{mechanism}"] = table(function, mechanism)
            tables[f"fingerprint/{function}/{mechanism}"] = np.array(
                fingerprint(function, mechanism)
            )
            seconds = time.process_time() - start
            print(f"{function}/{mechanism}: {seconds:.1f} s", file=sys.stderr)
    np.savez_compressed(Path(__file__).with_name("bounded_gaussian.npz"), **tables)


if __name__ == "__main__":
    main()
