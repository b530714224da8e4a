"""Check the objects of a build: python check_kernels.py BUILD [--verbose] [--tools PREFIX].

What noise is made of must have the same bits on every machine, so that multiplications and
additions are fused neither in the kernels of samplers whose floats are released (those built with
EXACT_BITS) nor in what prepares them, on whatever machine they are built for (another one's binary
utilities have a prefix, as aarch64-linux-gnu-). Samples on a grid are integers decided by bounds on
the error of floats: their kernels may fuse.

Kernel files are compiled once per x86 level, so nothing of one level may leak into another, and
loops must be vector code at every level:

- no weak symbol: the linker could keep the AVX-512 copy for every machine;
- no call of a scalar math function: it would make its loop scalar, and differs between machines;
- in every function, its largest loop on full vectors of the level has at least a quarter of the
  floating-point instructions of its largest scalar loop (the remainder after a vector loop is
  scalar code, once or several times the same; a loop that the compiler gave up on has no vectors).
  Of x86, by GCC: Clang is not what loops are tuned to.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from pathlib import Path

WIDEST = {"v1": "xmm", "v3": "ymm", "v4": "zmm"}
ARITHMETIC = re.compile(r"\bv?(?:add|sub|mul|div|sqrt|fn?m(?:add|sub)\d*)([ps])[sd]\s+(.*)")
JUMP = re.compile(r"\bj\w+\s+([0-9a-f]+)\b")
FUSED = re.compile(r"v?fn?m(?:add|sub)[\w.]*|fml[as]l?2?")
# The other objects of the core may call fma() where it is meant.
KERNELS = re.compile(r"tightnoise_(?P<exact>exact_)?(?P<name>\w+)_(?P<level>v[134])\.dir")
PREPARES = re.compile(
    r"tightnoise_core\.dir/.*/(?:alias_table|noise_preparation|vmf_sampling)\.cpp"
)
MUCH = 15  # scalar instructions in a loop: fewer are not worth the trouble

# Loops that are scalar by design, as "target: function": what combines the results of blocks, what
# runs once a call or a row, and what chooses its formula element by element.
SCALAR = re.compile(
    r"special: combine|sampling: shared_parameters|additive_grid: .*\b(?:settle|Steps)\b|"
    r"grid_truncated: .*(?:Law::draw\b.*constprop|\bdecide\b)|"
    r"bayes_capacity: (?!.*\b(?:narrow_\w+|sample_density|scaled_shortfall)\b)|"
    r"truncated_profile: (?!.*\b(?:narrow_\w+|sample_density|sum_expm1mx)\b)|"
    r"vmf_(?:sampling|grid): .*\b(?:total_of|add_parts|choose|settle.*constprop)\b|"
    r"divergence: (?!.*\b("
    r"narrow_\w+|sample_density|sum_expm1mx|standardise|log_ndtr_of|log_mass_of|combine_\w+|"
    r"cell_(?:beyond|between|largest|add)|fisher_(?!information|sum|truncated|quantized)\w+)\b)"
)

LIBM = re.compile(r"(exp|exp2|expm1|log|log1p|log2|pow|sin|cos|sincos|tan|erfc?|fma|round)f?")


prefix, verbose = "", False


def tool(name: str, *arguments: str) -> list[str]:
    """Return the lines a binary utility prints."""
    command = [prefix + name, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()


def symbols(path: Path, target: str) -> list[str]:
    """Return what is wrong with the symbols of an object file."""
    wrong = []
    for line in tool("nm", "-C", str(path)):
        kind, name = line[17:18], line[19:]
        if kind in "WVu":
            wrong.append(f"weak symbol {name}")
        elif kind == "U" and not SCALAR.match(f"{target}: ") and LIBM.fullmatch(name.split("@")[0]):
            wrong.append(f"calls {name}")
    return wrong


def functions(path: Path) -> dict[str, list[tuple[int, str]]]:
    """Return the (address, instruction) pairs of each function."""
    found: dict[str, list[tuple[int, str]]] = {}
    name = ""
    for line in tool("objdump", "-dC", "--no-show-raw-insn", str(path)):
        header = re.match(r"[0-9a-f]+ <(.*)>:$", line)
        instruction = re.match(r"\s+([0-9a-f]+):\s+(.*)", line)
        if header:
            name = header[1]
        elif instruction:
            found.setdefault(name, []).append((int(instruction[1], 16), instruction[2]))
    return found


def largest_loops(instructions: list[tuple[int, str]], register: str) -> tuple[int, int]:
    """Return how many instructions the largest full-vector and the largest scalar loop have.

    Loops are what a jump backwards encloses; only those that enclose no other are counted.
    """
    loops = []
    for address, text in instructions:
        jump = JUMP.match(text)
        if jump and instructions[0][0] <= int(jump[1], 16) <= address:
            loops.append((int(jump[1], 16), address))
    inner = [
        (first, last)
        for first, last in loops
        if not any(first <= f and t <= last and (f, t) != (first, last) for f, t in loops)
    ]
    wide = scalar = 0
    for first, last in inner:
        found = [
            ARITHMETIC.match(text) for address, text in instructions if first <= address <= last
        ]
        kinds = [(match[1], match[2]) for match in found if match]
        wide = max(wide, sum(kind == "p" and register in where for kind, where in kinds))
        scalar = max(scalar, sum(kind == "s" for kind, _ in kinds))
    return wide, scalar


def is_x86(path: Path) -> bool:
    """Whether an object is one for x86."""
    return any("x86-64" in line for line in tool("objdump", "-f", str(path)))


def short(name: str) -> str:
    """Return a name that fits on a line."""
    return name if len(name) <= 90 else name[:87] + "..."


def plain(name: str) -> str:
    """Return the name of a function without namespaces and casts."""
    return re.sub(r"tightnoise::|\(anonymous namespace\)::|\(void |\bvoid ", "", name)


def loops(found: dict[str, list[tuple[int, str]]], target: str, level: str) -> list[str]:
    """Return what is wrong with the loops of an x86 kernel."""
    wrong = []
    for full, instructions in found.items():
        name = plain(full)
        wide, scalar = largest_loops(instructions, WIDEST[level])
        if scalar > max(4 * wide, MUCH) and not SCALAR.match(f"{target}: {name}"):
            wrong.append(f"a scalar loop of {scalar} (vector loop of {wide}) in {short(name)}")
        elif verbose and scalar + wide > MUCH:
            print(f"{target} {level}: {wide:5d} {scalar:5d}  {short(name)}")
    return wrong


def fused(found: dict[str, list[tuple[int, str]]]) -> list[str]:
    """Return the functions that have fused instructions."""
    return [
        f"fused multiply-add in {short(plain(full))}"
        for full, instructions in found.items()
        if any(FUSED.fullmatch(text.split()[0]) for _, text in instructions)
    ]


def main() -> int:
    """Print what is wrong; 0 if nothing is."""
    global prefix, verbose
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=Path)
    parser.add_argument("--verbose", action="store_true", help="list the loops found in order too")
    parser.add_argument("--tools", default="", metavar="PREFIX", help="of nm and objdump")
    options = parser.parse_args()
    prefix, verbose = options.tools, options.verbose

    failures = exact = 0
    for path in sorted(options.build.rglob("*.o")):
        kernel = KERNELS.search(str(path))
        is_exact = PREPARES.search(str(path)) or (kernel and kernel["exact"])
        if not kernel and not is_exact:
            continue
        found = functions(path)
        wrong = fused(found) if is_exact else []
        exact += bool(is_exact)
        if kernel:
            wrong += symbols(path, kernel["name"])
            if is_x86(path) and b"clang version" not in path.read_bytes():
                wrong += loops(found, kernel["name"], kernel["level"])
        failures += len(wrong)
        for text in wrong:
            print(f"{path.relative_to(options.build)}: WRONG: {text}")
    if not exact:
        print(f"no objects of samplers under {options.build}")
    return int(failures > 0 or exact == 0)


if __name__ == "__main__":
    sys.exit(main())
