"""Write bounded_gaussian.npz: `python -m reference.make_bounded_gaussian` from tests/.

With names of tables (cdf/quantized ...) only these are made again, the others kept. Needs mpmath
(and gmpy2, to finish in minutes).
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
    target = Path(__file__).with_name("bounded_gaussian.npz")
    chosen = sys.argv[1:]
    tables = dict(np.load(target)) if chosen else {}
    for mechanism in MECHANISMS:
        for function in FUNCTIONS:
            name = f"{function}/{mechanism}"
            has_density = mechanism in ("rectified", "truncated")
            if (function == "pdf" and not has_density) or (chosen and name not in chosen):
                continue
            start = time.process_time()
            tables[name] = table(function, mechanism)
            tables[f"fingerprint/{name}"] = np.array(fingerprint(function, mechanism))
            print(f"{name}: {time.process_time() - start:.1f} s", file=sys.stderr)
    np.savez_compressed(target, **tables)


if __name__ == "__main__":
    main()
