"""Noise on the tensors of a network, and steps of training, beside Opacus; skipped without both."""

import itertools
import warnings

import numpy as np
import pytest

import tightnoise as tn

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    opacus = pytest.importorskip("opacus", reason="Opacus is not installed")
    optimizers = pytest.importorskip("opacus.optimizers.optimizer", reason="no Opacus")

WIDTHS = [(1000, 784), (1000,), (200, 1000), (200,), (10, 200), (10,)]  # 1e6 parameters
MECHANISMS = {
    "gaussian": tn.Gaussian(1.0),
    "rectified": tn.RectifiedGaussian(1.0, -3.0, 3.0),
    "sign": tn.StochasticSign(1.0),
    "truncated": tn.TruncatedGaussian(1.0, -1.0, 1.0),
}
MLP = [784, 1000, 200, 10]
OPACUS = optimizers._generate_noise


def step_of(mechanism, theta, out):
    """Release theta, and say what that costs its neighbours within an L2 ball."""
    mechanism.sample(theta, out=out)
    lower, upper = getattr(mechanism, "lower", -1.0), getattr(mechanism, "upper", 1.0)
    sketch = tn.Sketch.of(theta, lower, upper, sigma=mechanism.sigma)
    return mechanism.cost_at(sketch, sensitivity=1.0).rdp([8.0]).values[0]


@pytest.fixture(autouse=True)
def one_torch_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(params=[1_000_000, 25_000_000], ids=["d = 1e6", "d = 2.5e7"])
def theta(request):
    return 0.1 * np.random.default_rng(0).standard_normal(request.param, dtype=np.float32)


STEP = "noise, sketch and cost of one step beside Opacus' noise alone"


def group_of(theta):
    return f"{STEP}, {theta.size:.3g} numbers"


@pytest.mark.parametrize("name", MECHANISMS)
def test_step(timed, theta, name):
    out = np.empty_like(theta)
    assert timed(group_of(theta), lambda: step_of(MECHANISMS[name], theta, out), theta.size) > 0


@pytest.mark.parametrize("secure", [False, True], ids=["noise", "noise in secure mode"])
def test_step_by_opacus(timed, theta, secure):
    reference = torch.from_numpy(theta)
    timed(
        group_of(theta),
        lambda: reference + OPACUS(std=1.0, reference=reference, secure_mode=secure),
        theta.size,
    )


@pytest.mark.parametrize("name", MECHANISMS)
def test_cost_alone(timed, name):
    mechanism = MECHANISMS[name]
    theta = 0.1 * np.random.default_rng(0).standard_normal(100_000)
    lower, upper = getattr(mechanism, "lower", -1.0), getattr(mechanism, "upper", 1.0)
    sketch = tn.Sketch.of(theta, lower, upper, sigma=mechanism.sigma)

    def cost():
        return mechanism.cost_at(sketch, sensitivity=1.0).rdp([8.0]).values[0]

    assert cost() > 0  # the table is made here
    timed("cost with an L2 sensitivity from a sketch, after the table", cost, 1)


@pytest.mark.parametrize("name", ["opacus", *MECHANISMS])
@pytest.mark.filterwarnings("ignore")  # theirs
def test_training_step(timed, name):
    torch.manual_seed(0)
    layers = [torch.nn.Linear(a, b) for a, b in itertools.pairwise(MLP)]
    net = torch.nn.Sequential(layers[0], torch.nn.ReLU(), layers[1], torch.nn.ReLU(), layers[2])
    x, y = torch.randn(640, 784), torch.randint(10, (640,))
    data = torch.utils.data.TensorDataset(x, y)
    if name == "opacus":
        engine, options = opacus.PrivacyEngine(), {"noise_multiplier": 1.0}
    else:
        engine, options = tn.torch.PrivacyEngine(mechanism=MECHANISMS[name]), {}
    model, optimizer, _ = engine.make_private(
        module=net,
        optimizer=torch.optim.SGD(net.parameters(), lr=0.1),
        data_loader=torch.utils.data.DataLoader(data, batch_size=64),
        max_grad_norm=1.0,
        **options,
    )

    def step():
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(x[:64]), y[:64]).backward()
        optimizer.step()

    timed("a training step, network of 1e6 parameters, batch 64", step, 1)


@pytest.fixture
def sums():
    torch.manual_seed(0)
    return [torch.randn(shape) for shape in WIDTHS]


NETWORK = "noise on a network of 1e6 parameters"


@pytest.mark.parametrize("name", MECHANISMS)
def test_release(timed, sums, name):
    timed(NETWORK, lambda: tn.torch.release(sums, MECHANISMS[name]), 1_000_000)


@pytest.mark.parametrize("secure", [False, True], ids=["noise", "noise in secure mode"])
def test_release_by_opacus(timed, sums, secure):
    def noisy():
        for part in sums:
            part + OPACUS(std=1.0, reference=part, secure_mode=secure)

    timed(NETWORK, noisy, 1_000_000)
