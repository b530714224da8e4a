"""Proofs in the plain notation of comments, set for reading: Greek letters, relations, indices.

Signs only: what a formula says, and where its brackets stand, is left as it is written.
"""

# ruff: noqa: RUF001
import re

GREEK = {
    **{"alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "epsilon": "ε", "theta": "θ"},
    **{"kappa": "κ", "lambda": "λ", "mu": "μ", "pi": "π", "rho": "ρ", "sigma": "σ", "tau": "τ"},
    **{"phi": "φ", "psi": "ψ", "Phi": "Φ"},
}
SIGNS = {"<=": "≤", ">=": "≥", "!=": "≠"}
LETTER = re.compile(rf"(?<![A-Za-z])({'|'.join(GREEK)})(?![A-Za-z])")
ONE = r"(?:\(-?[\w α-ω/+-]{1,12}\)|-?[A-Za-z0-9α-ω]+)"
# What follows a letter, a number or a bracket: an index, an exponent that may have one, or both. An
# exponent that goes on (e^K(s)) stays as it is written.
INDEX = re.compile(rf"(?<=[A-Za-z0-9α-ωΦ)\]'])(?:_({ONE}))?(?:\^({ONE})(?:_({ONE}))?(?![\w(^]))?")
# Code, where links lead, names of files and functions.
CODE = re.compile(r"(`[^`]*`|\]\([^)]*\)|\w+(?:_\w+){2,}|\w+\.(?:[ch]pp|md|py)\b)")


def signs(text: str) -> str:
    """Return a line with its Greek letters and relations."""
    for plain, sign in SIGNS.items():
        text = text.replace(plain, sign)
    return LETTER.sub(lambda word: GREEK[word[1]], text)


def indexed(text: str) -> str:
    """Return a line of prose with what is raised or lowered in its place."""

    def inner(part: str | None) -> str:
        return indexed((part or "").removeprefix("(").removesuffix(")"))

    def place(found: re.Match[str]) -> str:
        low, high, under = map(inner, found.groups())
        under = under and f"<sub>{under}</sub>"
        return (low and f"<sub>{low}</sub>") + (high and f"<sup>{high}{under}</sup>")

    return INDEX.sub(place, text)


def typeset(text: str) -> str:
    """Return a page in which formulas, in lines of their own or within prose, are set."""
    lines = []
    for line in text.splitlines():
        if line.startswith("    "):  # a block: its columns stay
            lines.append(signs(line))
            continue
        parts = CODE.split(line)
        parts[::2] = [indexed(signs(part)) for part in parts[::2]]
        lines.append("".join(parts))
    return "\n".join(lines) + "\n"
