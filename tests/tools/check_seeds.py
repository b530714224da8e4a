"""Check that seeds mean the same noise on another machine: python check_seeds.py BUILD OTHER.

BUILD is a build for this machine; the core is built for the other one in OTHER. seeds.cpp, linked
to either, draws from every sampler with hundreds of parameters; its lines must be the same. The
objects of the other machine are looked at, too: nothing that noise is made of may be fused.

The other machine is aarch64 unless --target says so; an emulator runs its program. Needs CMake,
the cross compiler and qemu: on Debian, apt install g++-aarch64-linux-gnu qemu-user.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def output(*command: object) -> str:
    """Return what a command prints; what goes wrong is printed."""
    return subprocess.run(
        list(map(str, command)), check=True, stdout=subprocess.PIPE, text=True
    ).stdout


def here(build: Path, program: Path) -> str:
    """Return what seeds mean on this machine."""
    archive = next(build.rglob("libtightnoise_core.a"))
    is_x86 = os.uname().machine == "x86_64"
    flags = ["-std=c++17", "-O2", "-ffp-contract=off", f"-I{ROOT / 'cpp'}"]
    flags += ["-DTIGHTNOISE_X86_LEVELS"] * is_x86
    source = ROOT / "tests/seeds.cpp"
    compiler = os.environ.get("CXX", "c++")
    output(compiler, *flags, source, archive, "-fopenmp", "-o", program)
    return output(program)


def there(target: str, emulator: str, build: Path) -> str:
    """Return what they mean on the other one."""
    headers = importlib.util.find_spec("libboost_headers")
    if headers is None:
        raise SystemExit("no Boost headers: pip install libboost-headers")
    settings = {
        "SKBUILD_PROJECT_NAME": "tightnoise",
        "SKBUILD_PROJECT_VERSION": "0",
        "BOOST_MATH_INCLUDE_DIR": Path(next(iter(headers.submodule_search_locations))) / "include",
        "CMAKE_BUILD_TYPE": "Release",
        "CMAKE_CXX_COMPILER": f"{target}-g++",
        "CMAKE_EXE_LINKER_FLAGS": "-static",
        "CMAKE_SYSTEM_NAME": "Linux",
        "CMAKE_SYSTEM_PROCESSOR": target.split("-")[0],
        "TIGHTNOISE_OPENMP": "OFF",
        "TIGHTNOISE_PYTHON": "OFF",
        "TIGHTNOISE_WERROR": "ON",
    }
    output("cmake", "-S", ROOT, "-B", build, *(f"-D{name}={settings[name]}" for name in settings))
    output("cmake", "--build", build, "--parallel", os.cpu_count())
    return output(emulator, build / "seeds")


def main() -> int:
    """Print what differs; 0 if nothing does."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=Path)
    parser.add_argument("other", type=Path)
    parser.add_argument("--target", default="aarch64-linux-gnu", help="prefix of the compiler")
    parser.add_argument("--emulator", default="qemu-aarch64")
    options = parser.parse_args()

    other = there(options.target, options.emulator, options.other).splitlines()
    one = here(options.build, options.other / "seeds_here").splitlines()
    different = [a for a, b in zip(one, other, strict=True) if a != b]
    for line in different:
        print(f"differs: {line}")
    print(f"{len(different)} of {len(one)} differ between this machine and {options.target}")
    check = [sys.executable, ROOT / "tests/tools/check_kernels.py", options.other]
    is_wrong = subprocess.run([*check, f"--tools={options.target}-"]).returncode
    return int(bool(different) or not one or bool(is_wrong))


if __name__ == "__main__":
    sys.exit(main())
