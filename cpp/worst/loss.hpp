// What additive noise is judged by.
#pragma once

namespace tightnoise {

// l1: the mean of |noise|; l2: its variance.
enum class AdditiveLoss { l1, l2 };

template <class Law>
double loss_of(const Law& law, AdditiveLoss loss) {
    return loss == AdditiveLoss::l1 ? law.mean_abs() : law.variance();
}

}  // namespace tightnoise
