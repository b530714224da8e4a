"""debye_coefficients.hpp: Debye's expansion, from exact rationals."""

from __future__ import annotations

from fractions import Fraction

from fits import header, table

TERMS = 12

# A polynomial in y is the list of its coefficients, lowest power first.
Polynomial = list[Fraction]


def product(a: Polynomial, b: Polynomial) -> Polynomial:
    """Return a b."""
    result = [Fraction(0)] * (len(a) + len(b) - 1)
    for i, x in enumerate(a):
        for j, y in enumerate(b):
            result[i + j] += x * y
    return result


def debye(terms: int) -> list[Polynomial]:
    """Return the Debye polynomials U_0, ..., U_terms as the b_k in U_k(t) = t^k b_k(t^2).

    U_(k+1)(t) = t^2 (1 - t^2) U_k'(t) / 2 + (1/8) integral_0^t (1 - 5 s^2) U_k(s) ds
    (DLMF 10.41.9), for the coefficient of t^(k + 2 j) in U_k.
    """
    polynomials = [[Fraction(1)]]
    for k in range(terms):
        following = [Fraction(0)] * (k + 2)
        for j, b in enumerate(polynomials[k]):
            power = k + 2 * j
            following[j] += b * (Fraction(power, 2) + Fraction(1, 8 * (power + 1)))
            following[j + 1] -= b * (Fraction(power, 2) + Fraction(5, 8 * (power + 3)))
        polynomials.append(following)
    return polynomials


def logarithm(b: list[Polynomial]) -> list[Polynomial]:
    """Return q_1, q_2, ... of log sum_k b_k(y) v^k = sum_k q_k(y) v^k.

    From the derivative in v: k b_k = sum_(j=1)^k j q_j b_(k-j).
    """
    q: list[Polynomial] = [[Fraction(0)]]
    for k in range(1, len(b)):
        rest = [k * c for c in b[k]]
        for j in range(1, k):
            for power, c in enumerate(product(q[j], b[k - j])):
                rest[power] -= j * c
        q.append([c / k for c in rest])
    return q[1:]


def render() -> str:
    """Return the header."""
    q = logarithm(debye(TERMS))
    slope = [[(k + 2 * j) * c for j, c in enumerate(row)] for k, row in enumerate(q, 1)]
    return header(
        """\
The uniform expansion of log I_nu: row k - 1 holds a polynomial of degree k in y, lowest power
first. Exact rationals rounded once.""",
        f"""\
constexpr int kDebyeTerms = {TERMS};

// q_k(y) in log sum_k U_k(t) nu^-k = sum_k q_k(t^2) (t / nu)^k, U_k the polynomials of Debye's
// expansion.
{table("kDebye", q)}
// p_k(y) = k q_k(y) + 2 y q_k'(y), which is t d/dt of t^k q_k(t^2), over t^k.
{table("kDebyeSlope", slope)}""",
    )
