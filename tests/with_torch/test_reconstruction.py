"""The study of Biswas et al. (2025), small: what it trains and attacks, and what it says of it."""

import dataclasses
import io
import json
import math

import numpy as np
import pytest

import tightnoise as tn
from tightnoise._files import FileError
from tightnoise.cli import main
from tightnoise.reproduce import STUDIES
from tightnoise.reproduce._images import Images
from tightnoise.reproduce._study import Plan, Settings, run

torch = pytest.importorskip("torch", reason="PyTorch is not installed: extra torch")

from tightnoise.reproduce.reconstruction import (  # noqa: E402
    _figures,
    _network,
    _plan,
    _tables,
)
from tightnoise.reproduce.reconstruction._network import (  # noqa: E402
    clipped_gradient,
    cross_entropy,
    network,
    task,
)
from tightnoise.reproduce.reconstruction._noises import (  # noqa: E402
    Noise,
    as_capacious,
    as_private,
    as_private_once,
    capacity,
    lifted_as_private,
)
from tightnoise.reproduce.reconstruction._plan import Scope  # noqa: E402
from tightnoise.reproduce.reconstruction._runs import (  # noqa: E402
    accuracy,
    attack_alone,
    attack_batch,
    guess,
    steps,
)
from tightnoise.reproduce.vmf._costs import DIM, gaussian_capacity, tight_epsilon_bounds  # noqa: E402


@pytest.fixture(scope="module")
def small():
    """Ten kinds of bars on noise, which a network of this size learns in no time."""
    rng = np.random.default_rng(5)
    labels = np.arange(400) % 10
    images = rng.uniform(0, 0.2, (400, 8, 8)).astype(np.float32)
    for image, label in zip(images, labels, strict=True):
        image[label % 5 + 1, :] += 0.8 * (label < 5)
        image[:, label % 5 + 1] += 0.8 * (label >= 5)
    return task(Images("bars", images[:300], labels[:300], images[300:], labels[300:]))


@pytest.fixture(scope="module")
def results(small):
    """A study of everything, with as little of each as there can be."""
    scope = Scope.of(small, 2, full=True)
    few = {"kappas": (75, 400), "batches": (16, 128), "alone": (500.0,)}
    scope = dataclasses.replace(scope, **few, epochs=1, iterations=2, l2_iterations=2)
    plan = Plan(_plan.about(scope), _plan.cells(scope), lambda _: [], lambda *_: None)
    return scope, run(plan)


@pytest.fixture(scope="module")
def tables(results):
    return {table.title: table for table in _tables.tables(*results)}


def test_the_network_is_the_paper_s(small):
    net = network(small, 0)
    assert [tuple(p.shape) for p in net.parameters()] == [(50, 256), (15, 50), (10, 15)]
    assert sum(p.numel() for p in net.parameters()) == DIM
    assert small.train.shape == (300, 1, 16, 16)
    assert 0 <= float(small.train.min()) <= float(small.train.max()) <= 1
    again = network(small, 0)
    assert all(torch.equal(a, b) for a, b in zip(net.parameters(), again.parameters(), strict=True))


def test_features_are_no_images():
    part = np.zeros((4, 7), np.float32), np.zeros(4, np.int64)
    with pytest.raises(FileError, match="some holds features; images are needed"):
        task(Images("some", *part, *part))


@pytest.mark.parametrize(
    ("count", "classes", "pixels"), [(127, 10, 1.0), (300, 1, 1.0), (300, 10, 0.0)]
)
def test_what_nothing_can_be_learned_from(count, classes, pixels):
    images = np.random.default_rng(0).uniform(0, pixels, (count, 9, 9)).astype(np.float32)
    part = images, np.arange(count) % classes
    with pytest.raises(FileError, match=f"some holds {count} images of {classes} class.*needed"):
        task(Images("some", *part, *part))


def test_colours_become_grey(small):
    rng = np.random.default_rng(1)
    coloured = rng.random((128, 32, 32, 3), np.float32)
    labels = np.arange(128) % 3
    grey = task(Images("grey", coloured.mean(axis=-1), labels, coloured.mean(axis=-1), labels))
    found = task(Images("coloured", coloured, labels, coloured, labels))
    assert torch.allclose(found.train, grey.train, atol=1e-6)


def test_mnist_is_cropped_and_held_to_its_own_numbers(monkeypatch):
    rng, counts = np.random.default_rng(2), [20, 40, 70]
    labels = np.repeat(np.arange(3), counts)
    images = rng.random((130, 28, 28), np.float32)
    part = images, labels
    other = Scope.of(task(Images("some", *part, *part)), 2, full=False)
    assert other.printed.accuracy[0][75][-1] == ".4495"
    monkeypatch.setattr(_network, "_MNIST_COUNTS", counts)
    digits = Scope.of(task(Images("digits", *part, *part)), 2, full=False)
    assert digits.printed.accuracy[0][75][-1] == ".3297"
    assert "(printed: MNIST)" in digits.what
    assert np.array_equal(digits.task.train[:, 0].numpy(), images[:, 6:22, 6:22])
    assert not np.array_equal(other.task.train[:, 0].numpy(), images[:, 6:22, 6:22])


@pytest.mark.parametrize("bound", [1e-3, 0.3, 1.0, 1e3])
def test_clipped_gradient_is_what_clipped_sum_returns(small, bound):
    net = network(small, 3)
    x, y = small.train[:60], small.train_labels[:60]
    found = clipped_gradient(net, x, y, bound)
    sums = tn.torch.clipped_sum(net, cross_entropy, x, y, l2=bound)
    expected = torch.cat([part.reshape(-1) for part in sums.values()])
    assert torch.allclose(found, expected, rtol=1e-5, atol=1e-6 * float(expected.abs().max()))


def test_one_gradient_is_not_longer_than_the_clip(small):
    net = network(small, 3)
    for i in range(20):
        x, y = small.train[i : i + 1], small.train_labels[i : i + 1]
        assert float(clipped_gradient(net, x, y, 0.2).norm()) <= 0.2 * (1 + 1e-6)


def test_training_learns_without_noise_and_nothing_with_the_paper_s_decay(small):
    options = {"batch": 32, "epochs": 15, "seed": 0}
    assert accuracy(small, Noise("none"), weight_decay=0.0, **options) > 0.8
    assert accuracy(small, Noise("none"), weight_decay=_plan.DECAY, **options) <= 0.2


def test_steps_of_three_epochs():
    assert steps(60_000, 128, 3) == 1407


def test_seeds_decide(small):
    options = {"batch": 32, "epochs": 1, "weight_decay": 0.0}
    for noise in (Noise("gaussian", 2.0), Noise("directions", 500.0), Noise("lifted", 1e4)):
        net = network(small, 0)
        x, y = small.train[:8], small.train_labels[:8]
        first, again, other = (
            noise.released(net, x, y, tn.random.NoiseStream(seed)) for seed in (1, 1, 2)
        )
        assert first.shape == (DIM,)
        assert torch.equal(first, again)
        assert not torch.equal(first, other)
        assert accuracy(small, noise, seed=0, **options) == accuracy(
            small, noise, seed=0, **options
        )


# --- equal privacy, equal capacity


@pytest.mark.parametrize("kappa", [75.0, 400.0])
@pytest.mark.parametrize("sampled", [False, True])
def test_equals_cost_as_much(kappa, sampled):
    """A Gaussian at most 1 % more than directions, never less; lifted never more than the former.

    The bound of the lifted is another proof (by mu), which costs up to 3e-3.
    """

    def epsilon(noise):
        cost = noise.cost(DIM, replaced=True)
        if sampled:
            cost = cost.sampled(128 / 60_000, "fixed-size") * 1407
        return cost.epsilon(1 / 60_000)

    directions = epsilon(Noise("directions", kappa))
    gaussian = epsilon(as_private(kappa, DIM))
    assert directions <= gaussian <= 1.01 * directions
    assert epsilon(lifted_as_private(kappa, DIM)) <= 1.003 * gaussian


@pytest.mark.parametrize("kappa", [500.0, 64_000.0])
def test_one_release_costs_as_much(kappa):
    directions = Noise("directions", kappa).cost(DIM, replaced=True).epsilon(1 / 60_000)
    gaussian = as_private_once(kappa, DIM, 1 / 60_000)
    found = gaussian.cost(DIM, replaced=True).epsilon(1 / 60_000)
    assert found == pytest.approx(directions, rel=1e-6)


def test_costs_are_those_of_the_tables(small):
    scope = Scope.of(small, 2, full=False)
    directions = Noise("directions", 75.0).cost(DIM, replaced=False)
    training = directions.sampled(128 / 60_000, "poisson") * 1407
    assert training.epsilon(1 / 60_000) == tight_epsilon_bounds(75)[1]
    gaussian = Noise("gaussian", 1.23)
    assert capacity(gaussian, DIM, 128) == gaussian_capacity(1.23, 128)
    assert scope.weights == DIM
    # A replaced record moves the sum by 2.
    twice = tn.Gaussian(1.23).cost(sensitivity=2.0, adjacency="replace-one")
    assert gaussian.cost(DIM, replaced=True) == twice


@pytest.mark.parametrize("noise", [Noise("gaussian", 1.23), Noise("directions", 500.0)])
@pytest.mark.parametrize("records", [1, 128])
def test_equal_capacities(noise, records):
    other = as_capacious(noise, DIM, records)
    assert other.kind != noise.kind
    assert capacity(other, DIM, records) == pytest.approx(capacity(noise, DIM, records), rel=1e-6)


# --- attacks


def test_without_noise_one_image_shows(small):
    (found,) = attack_alone(small, [Noise("none")], iterations=150, seed=0)
    assert found["cosine"] == pytest.approx(1.0, abs=1e-6)
    assert found["spectral mse"] < 0.03
    assert found["mse"] < 0.03
    blind = guess(small, batch=1, seed=0)
    assert blind["mse"] > 2 * found["mse"]
    (noisy,) = attack_alone(small, [Noise("directions", 500.0)], iterations=20, seed=0)
    assert abs(noisy["cosine"]) < 0.1
    assert noisy["mse"] > 0.05
    assert noisy["spectral mse"] > 0.05


def test_attacks_side_by_side_are_those_one_by_one(small):
    """The same for the first steps; later signs of rounding errors would part them."""
    noises = [Noise("none"), Noise("gaussian", 0.2), Noise("directions", 500.0)]
    for attack, options in ((attack_batch, {"batch": 8}), (attack_alone, {})):
        together = attack(small, noises, iterations=4, seed=3, **options)
        for noise, found in zip(noises, together, strict=True):
            (alone,) = attack(small, [noise], iterations=4, seed=3, **options)
            assert found["mse"] == pytest.approx(alone["mse"], rel=1e-3)
            assert found["cosine"] == alone["cosine"]
    assert together[0]["mse"] != together[2]["mse"]


# --- tables and pictures


def test_tables(tables):
    assert len(tables) == 11
    for table in tables.values():
        assert max(map(len, table.text().splitlines())) <= 120
        assert table.disagreements == []
        numbers = [cell.ours for row in table.rows for cell in row.cells if cell.ours is not None]
        assert all(map(math.isfinite, numbers))


def test_printed_numbers_stand_where_the_paper_has_them(tables):
    accuracies = tables["Accuracy, batches of 128 (Figure 2, Table V)"]
    assert [accuracies.columns[at] for at in (0, 4)] == ["printed", "printed"]
    assert [accuracies.rows[0].cells[at].expected for at in (0, 4)] == [".4495", ".7489"]
    of_16 = tables["Inverting gradients of 16 images (Figure 1, Table VI)"]
    assert [row.label for row in of_16.rows] == [
        *("directions 75", "gaussian 1.23", "directions 400", "gaussian 0.204"),
    ]
    assert [row.cells[4].expected for row in of_16.rows] == ["2.788", "2.801", "2.760", "1.979"]


def test_numbers_are_means_over_the_seeds(results, tables):
    _, found = results
    values = [
        found[f"accuracy, directions 75, batch 16, weight decay 0, seed {seed}"] for seed in (0, 1)
    ]
    row = tables["Accuracy, batches of 16 (Figure 2, Table V)"].rows[0]
    assert row.cells[1].ours == pytest.approx(np.mean(values))
    assert row.cells[2].ours == pytest.approx(abs(values[0] - values[1]) / 2)


def test_picture(results):
    pytest.importorskip("matplotlib")
    file = io.BytesIO()
    _figures.draw(*results, file)
    assert file.getvalue().startswith(b"\x89PNG\r\n\x1a\n")


# --- the command


@pytest.fixture
def tiny(monkeypatch):
    """Make the study as small as it can be."""
    whole = Scope.of

    def little(of, seeds, **options):
        scope = whole(of, seeds, **options)
        few = {"kappas": (75,), "alone": (500.0,), "epochs": 1}
        return dataclasses.replace(scope, **few, iterations=1, l2_iterations=1)

    monkeypatch.setattr(Scope, "of", little)


@pytest.fixture
def folder(tmp_path, small):
    path = tmp_path / "bars.npz"
    parts = {"x_train": small.train, "y_train": small.train_labels}
    parts |= {"x_test": small.test, "y_test": small.test_labels}
    np.savez(path, **{name: part.squeeze().numpy() for name, part in parts.items()})
    return path


def test_the_command_goes_on_where_it_was(tiny, folder, tmp_path, capsys, monkeypatch):
    arguments = ["reproduce", "reconstruction", "--data", str(folder), "--json"]
    arguments += ["--state", str(tmp_path / "state.json")]
    assert main(arguments) == 0
    first = json.loads(capsys.readouterr().out)
    assert first["paper"]["year"] == 2025
    assert len(first["tables"]) == 9

    def refuse(*_, **__):
        raise AssertionError("nothing is left to compute")

    for name in ("accuracy", "attack_alone", "attack_batch", "attack_l2"):
        monkeypatch.setattr(_plan, name, refuse)
    assert main(arguments) == 0
    assert json.loads(capsys.readouterr().out) == first


def test_batches_are_chosen(tiny, folder, capsys):
    arguments = ["reproduce", "reconstruction", "--data", str(folder), "--json"]
    assert main([*arguments, "--batches", "32"]) == 0
    titles = [table["title"] for table in json.loads(capsys.readouterr().out)["tables"]]
    assert [title for title in titles if title.startswith("Accuracy, batches")] == [
        "Accuracy, batches of 128 (Figure 2, Table V)",
        "Accuracy, batches of 32 (Figure 2, Table V)",
    ]
    assert len(titles) == 11
    assert main([*arguments, "--batches", "16,17"]) == 2
    assert "--batches must be 16, 32, 64 or 128; got 17" in capsys.readouterr().err


def test_other_data_are_not_taken_for_these(tiny, folder, tmp_path, capsys):
    state = tmp_path / "state.json"
    plan = STUDIES["reconstruction"].plan(Settings(str(folder), 2, False))
    other = {**plan.about, "data": "some"}
    run(dataclasses.replace(plan, about=other, cells={"a": lambda: 1}), str(state))
    arguments = ["reproduce", "reconstruction", "--data", str(folder), "--state", str(state)]
    assert main(arguments) == 2
    assert "another study: its data is 'some'" in capsys.readouterr().err
