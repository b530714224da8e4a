"""One of two workers (rank, folder): what it got is written to a file of the folder."""

import json
import sys
from pathlib import Path

import numpy as np
import torch
import torch.distributed as dist

import tightnoise as tn

rank, folder = int(sys.argv[1]), Path(sys.argv[2])
dist.init_process_group("gloo", init_method=f"file://{folder}/meet", rank=rank, world_size=2)

m = tn.RectifiedGaussian(1.0, -2.0, 2.0)
part = torch.arange(6, dtype=torch.float32) * (1 + rank)
(released,) = tn.torch.release([part], m, rng=tn.random.NoiseStream(7))


def refusal(tensors):
    try:
        tn.torch.release(tensors, m)
    except ValueError as error:
        return str(error)
    return "released"


mine = np.linspace(-3, 3, 4000)[2000 * rank : 2000 * (rank + 1)]
sketch = tn.torch.gather_sketch(tn.Sketch.of(mine, -2.0, 2.0, sigma=1.0))
told = {
    "released": released.tolist(),
    "refused": refusal([torch.tensor([float("nan") if rank else 1.0])]),
    "uneven": refusal([torch.zeros(2 + rank)]),
    "cost": m.cost_at(sketch, coordinate_sensitivity=0.01).rdp([2.0, 8.0]).values.tolist(),
}
(folder / f"{rank}.json").write_text(json.dumps(told))
dist.destroy_process_group()
