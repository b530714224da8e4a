"""One of two workers (rank, folder): what it got is written to a file of the folder."""

import importlib.util
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


def refusal(function, *arguments):
    try:
        function(*arguments)
    except (TypeError, ValueError) as error:
        return str(error)
    return "released"


def shards_of(theta, sizes):
    """Of a vector, the part that this rank has by the sizes, as two tensors; released."""
    begin = sum(sizes[:rank])
    mine = theta[begin : begin + sizes[rank]].split([sizes[rank] // 2, -(-sizes[rank] // 2)])
    noisy = tn.torch.release_shard(mine, m, rng=tn.random.NoiseStream(7))
    assert [part.shape for part in noisy] == [part.shape for part in mine]
    return torch.cat(noisy).tolist()


def weights_of_two_steps():
    """Of a network that both train by Opacus, each on its half."""
    import opacus
    from opacus.distributed import DifferentiallyPrivateDistributedDataParallel as Wrapped

    torch.manual_seed(1)
    net = torch.nn.Linear(4, 3)
    engine = tn.torch.PrivacyEngine(mechanism=m, rng=tn.random.NoiseStream(9 + rank))
    data = torch.utils.data.TensorDataset(torch.randn(64, 4), torch.randint(3, (64,)))
    model, optimizer, loader = engine.make_private(
        module=Wrapped(net),
        optimizer=torch.optim.SGD(net.parameters(), lr=0.1),
        data_loader=torch.utils.data.DataLoader(data, batch_size=16),
        max_grad_norm=0.5,
    )
    for _, (x, y) in zip(range(2), loader, strict=False):
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
    largest = max(float(p.grad.abs().max()) for p in model.parameters())
    assert largest <= 2.0 / 16 * (1 + 1e-6), (largest, opacus.__version__)
    return [p.detach().reshape(-1).tolist() for p in model.parameters()], engine.get_epsilon(1e-5)


mine = np.linspace(-3, 3, 4000)[2000 * rank : 2000 * (rank + 1)]
sketch = tn.torch.gather_sketch(tn.Sketch.of(mine, -2.0, 2.0, sigma=1.0))
told = {
    "released": released.tolist(),
    "refused": refusal(tn.torch.release, [torch.tensor([float("nan") if rank else 1.0])], m),
    "uneven": refusal(tn.torch.release, [torch.zeros(2 + rank)], m),
    "kinds": refusal(tn.torch.release, [torch.zeros(2, dtype=torch.long if rank else None)], m),
    "shards refused": [
        refusal(tn.torch.release_shard, [torch.tensor([float("nan") if rank else 1.0])], m),
        refusal(tn.torch.release_shard, [torch.zeros(2)], tn.Gaussian(1.0 + rank)),
        refusal(tn.torch.release_shard, [torch.zeros(2).double() if rank else torch.zeros(2)], m),
        refusal(tn.torch.gather_sketch, tn.Sketch.of(mine, -2.0, 2.0 + rank)),
    ],
    "cost": m.cost_at(sketch, coordinate_sensitivity=0.01).rdp([2.0, 8.0]).values.tolist(),
}
shards = {
    str(sizes): shards_of(torch.linspace(-3, 3, 2001), sizes)
    for sizes in ([2001, 0], [0, 2001], [256, 1745], [1000, 1001], [1, 2000])
}
if importlib.util.find_spec("opacus"):
    told["weights"], told["epsilon"] = weights_of_two_steps()
(folder / f"{rank}.json").write_text(json.dumps([told, shards]))
dist.destroy_process_group()
