"""What the build decides: compilers, SIMD levels, and what the checks of its objects find."""

from __future__ import annotations

import platform
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TARGETS = ROOT / "cmake/targets.cmake"


def decided(**known: str) -> subprocess.CompletedProcess[str]:
    """What is decided about a compiler and a target."""
    if shutil.which("cmake") is None or not TARGETS.exists():
        pytest.skip("no CMake, or no sources")
    command = ["cmake", *(f"-D{name}={value}" for name, value in known.items()), "-P", TARGETS]
    return subprocess.run(command, capture_output=True, text=True)


@pytest.mark.parametrize("variant", ["MSVC", "GNU"])
def test_clang_is_told_by_its_id_and_microsofts_compiler_refused(variant) -> None:
    known = {"CMAKE_SYSTEM_PROCESSOR": "AMD64", "MSVC": "1"}
    known["CMAKE_CXX_COMPILER_FRONTEND_VARIANT"] = variant
    clang = decided(**known, CMAKE_CXX_COMPILER_ID="Clang")
    assert clang.returncode == 0
    assert "SIMD levels v1;v3;v4" in clang.stdout
    msvc = decided(**known, CMAKE_CXX_COMPILER_ID="MSVC")
    assert msvc.returncode != 0
    assert "needs GCC or Clang" in msvc.stderr


@pytest.mark.parametrize(
    ("system", "processor", "architectures", "levels"),
    [
        ("Linux", "x86_64", "", "v1;v3;v4"),
        ("Linux", "aarch64", "", "v1"),
        ("Linux", "x86_64", "arm64", "v1;v3;v4"),  # means nothing there
        ("Darwin", "arm64", "", "v1"),
        ("Darwin", "x86_64", "", "v1;v3;v4"),
        ("Darwin", "x86_64", "arm64", "v1"),
        ("Darwin", "arm64", "x86_64", "v1;v3;v4"),
        ("Darwin", "arm64", "x86_64;arm64", "v1"),
        ("Darwin", "x86_64", "arm64;x86_64", "v1"),
    ],
)
def test_levels_are_those_of_what_is_compiled_for(system, processor, architectures, levels) -> None:
    known = {"CMAKE_SYSTEM_NAME": system, "CMAKE_SYSTEM_PROCESSOR": processor}
    out = decided(**known, CMAKE_CXX_COMPILER_ID="GNU", CMAKE_OSX_ARCHITECTURES=architectures)
    assert out.returncode == 0, out.stderr
    assert f"SIMD levels {levels} for" in out.stdout


@pytest.mark.parametrize("option", ["TIGHTNOISE_BASELINE", "TIGHTNOISE_SANITIZE"])
def test_the_baseline_alone(option) -> None:
    known = {"CMAKE_SYSTEM_PROCESSOR": "x86_64", "CMAKE_CXX_COMPILER_ID": "GNU", option: "ON"}
    assert "SIMD levels v1 for" in decided(**known).stdout


FUSES = {"x86_64": ["-march=x86-64-v3"], "aarch64": [], "arm64": []}


@pytest.mark.parametrize("contraction", ["fast", "off"])
@pytest.mark.parametrize(
    "place",
    [
        "tightnoise_exact_sampling_v1.dir/cpp/sampling_kernels.cpp.o",
        "tightnoise_core.dir/cpp/mechanisms/noise_preparation.cpp.o",
    ],
)
def test_fused_instructions_are_found_in_what_noise_is_made_of(tmp_path, place, contraction):
    compiler = shutil.which("c++")
    flags = FUSES.get(platform.machine())
    if compiler is None or flags is None or shutil.which("objdump") is None:
        pytest.skip("no compiler, no objdump or no fused instructions")
    source = tmp_path / "source.cpp"
    source.write_text("double fused(double a, double b, double c) { return a * b + c; }\n")
    made = tmp_path / place
    made.parent.mkdir(parents=True)
    options = ["-O2", f"-ffp-contract={contraction}", *flags, "-c", source, "-o", made]
    subprocess.run([compiler, *options], check=True)
    check = [sys.executable, ROOT / "tests/tools/check_kernels.py", tmp_path]
    found = subprocess.run(check, capture_output=True, text=True)
    assert found.returncode == (contraction == "fast"), found.stdout + found.stderr
    assert ("fused multiply-add in fused(" in found.stdout) == (contraction == "fast")
