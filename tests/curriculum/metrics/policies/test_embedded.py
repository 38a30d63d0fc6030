import sys
from pathlib import Path

import numpy as np
import pytest

from etude.curriculum.metrics.curves import load_curves
from etude.curriculum.metrics.policies import Unmeasurable, embedded, principal_components, read_features
from tests.curriculum.metrics.policies.test_study import TASKS

pytestmark = pytest.mark.slow


def test_principal_components_are_those_of_all_tasks_together(ppo_study: Path) -> None:
    policies = load_curves(ppo_study).policies
    points = embedded(policies, 0, 3)
    assert points.shape == (len(TASKS), 200, 2)
    of_tasks = read_features(policies, 0, 3)
    chosen = [x[np.linspace(0, len(x) - 1, 200).round().astype(int)] for x in of_tasks]
    assert points.reshape(-1, 2) == pytest.approx(principal_components(np.concatenate(chosen)))


def test_t_sne_keeps_neighbours_together(ppo_study: Path) -> None:
    policies = load_curves(ppo_study).policies
    points = embedded(policies, 0, 3, "t-sne").reshape(-1, 2)
    x = np.concatenate([x[np.linspace(0, len(x) - 1, 200).round().astype(int)] for x in read_features(policies, 0, 3)])
    far = np.linalg.norm(x[:, None] - x, axis=2)
    near = np.argsort(far, axis=1)[:, 4]
    ways = np.linalg.norm(points[:, None] - points, axis=2)
    assert np.median(ways[np.arange(len(x)), near]) < 0.2 * np.median(ways)
    assert np.array_equal(points, embedded(load_curves(ppo_study).policies, 0, 3, "t-sne").reshape(-1, 2))


def test_t_sne_without_scikit_learn_says_what_to_install(ppo_study: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sklearn.manifold", None)
    with pytest.raises(Unmeasurable, match=r"pip install 'etude\[embedding\]'"):
        embedded(load_curves(ppo_study).policies, 1, 3, "t-sne")
