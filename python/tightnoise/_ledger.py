"""What all ledgers of costs share: the lock, and what may be added."""

from __future__ import annotations

import os
import threading

from tightnoise.costs import Cost

# Held where a ledger changes, or must not. One for all ledgers: a fork waits until none is half
# changed, and leaves the lock free in the child.
ledger_lock = threading.RLock()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=ledger_lock.acquire,
        after_in_parent=ledger_lock.release,
        after_in_child=ledger_lock.release,
    )


def cost_in(cost: object) -> Cost:
    """Return a Cost, or the property `cost` of anything else; TypeError if there is none."""
    own = cost if isinstance(cost, Cost) else getattr(cost, "cost", cost)
    if not isinstance(own, Cost):
        hint = ": pass mechanism.cost(sensitivity=...)" if callable(own) else ""
        raise TypeError(f"cost must be a Cost; got {type(cost).__name__}{hint}")
    return own
