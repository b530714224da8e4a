"""The greatest privacy loss in a box under an L2 sensitivity, in mpmath.

The Karush-Kuhn-Tucker conditions of the concave maximum, slope_i = nu c_i or c_i at its limit, by
one search for nu and one for each coordinate within it.
"""

from mpmath import mp, mpf

from reference import bounded_losses

NOISES = {**bounded_losses.FAMILIES, "truncated_theorem": bounded_losses.theorem}


def _root(function, low, high):
    return mp.findroot(
        function, (low, high), solver="anderson", tol=mpf(10) ** -60, maxsteps=60, verify=False
    )


def steps(noise, widths, radius, nu):
    """Return the differences that are best at a multiplier, in units of the scale."""
    found = []
    for w in widths:
        limit = w / 2 if noise == "truncated_theorem" else w

        def residual(k, w=w):
            return NOISES[noise](k, w)[1] - nu * k

        if limit <= radius and residual(limit) >= 0:
            found.append(limit)
        else:
            found.append(_root(residual, mpf(0), limit))
    return found


def ball_loss(noise, width, sensitivity, scale):
    """Return the greatest loss, for a sensitivity below the norm of the limits."""
    with mp.workdps(40):
        w = [mpf(float(side)) / mpf(float(scale)) for side in width]
        radius = mpf(float(sensitivity)) / mpf(float(scale))
        diagonal = mp.sqrt(mp.fsum(side**2 for side in w))

        def excess(log_nu):
            found = steps(noise, w, radius, mp.exp(log_nu))
            return mp.log(mp.fsum(k * k for k in found) / radius**2)

        low = high = mp.log(NOISES[noise](radius / 1000, max(w))[1] / radius)
        while excess(low) < 0:
            low -= 1
        while excess(high) > 0:
            high += 1
        best = steps(noise, w, radius, mp.exp(_root(excess, low, high)))
        # Onto the ball: what is left of the error of nu counts for its square.
        shrink = radius / mp.sqrt(mp.fsum(k * k for k in best))
        total = mp.fsum(
            NOISES[noise](min(k * shrink, side), side)[0] for k, side in zip(best, w, strict=True)
        )
        if noise == "truncated_theorem":
            total += (diagonal + radius / 2) * radius
        return total
