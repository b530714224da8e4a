"""Epsilon of a training with plain von Mises-Fisher noise by kappa, computed elsewhere.

At delta 1/60000, of 1,407 Poisson-sampled batches of 128, "remove", in 13,700 dimensions.
"""

TRAINED = {
    25: 0.1081216989,
    50: 0.2850799386,
    75: 0.7904714883,
    100: 2.6829530387,
    125: 6.0840715697,
    150: 11.6160886841,
    175: 19.8569240164,
    200: 31.16859194206,
    300: 108.748,
    400: 232.331,
    500: 395.033,
}
