"""What is measured of hidden features, as plain functions of arrays: n observations, F features."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike

from etude.curriculum.metrics.arrays import FloatArray
from etude.envs.errors import RequestError

DORMANT = 0.025
"""A unit is dormant up to this share of its layer's mean activation (Sokar et al. 2023)."""
KEPT = 0.99
"""The share of the singular values' sum that counts in `srank` (Kumar et al. 2021)."""


def linear_cka(first: ArrayLike, second: ArrayLike) -> float:
    """Centred kernel alignment of two networks' features of the same observations (Kornblith et al. 2019).

    `|Y'X|² / (|X'X| |Y'Y|)`, norms being Frobenius' and columns centred: 0 to 1, unmoved by rotations and by a common
    scale of the features.

    Args:
        first: (n, F) features.
        second: (n, G) features of the same observations.

    Returns:
        nan where one of them does not vary.

    Raises:
        RequestError: they are not matrices with one and the same number of rows.
    """
    x, y = _matrix("first", first), _matrix("second", second)
    if len(x) != len(y):
        raise RequestError(f"second: {len(y)} observations, but first has {len(x)}; both must be of the same ones")
    x, y = x - x.mean(axis=0), y - y.mean(axis=0)
    alike = np.linalg.norm(y.T @ x) ** 2
    size = np.linalg.norm(x.T @ x) * np.linalg.norm(y.T @ y)
    return float(alike / size) if size > 0 else float("nan")


def feature_movement(before: ArrayLike, after: ArrayLike) -> float:
    """How far features moved, over how long they were: `mean |after - before| / mean |before|` (Ramasesh et al. 2021).

    Args:
        before: (n, F) features.
        after: (n, F) features of the same observations later.

    Returns:
        nan where all features were 0 before.

    Raises:
        RequestError: they are not matrices of one and the same shape.
    """
    old, new = _matrix("before", before), _matrix("after", after)
    if old.shape != new.shape:
        raise RequestError(f"after: shape {new.shape}, must be that of before, {old.shape}")
    length = np.linalg.norm(old, axis=1).mean()
    return float(np.linalg.norm(new - old, axis=1).mean() / length) if length > 0 else float("nan")


def effective_rank(features: ArrayLike) -> float:
    """The exponential of the entropy of the singular values, over their sum (Roy and Vetterli 2007); nan of zeros.

    Args:
        features: (n, F), not centred.

    Raises:
        RequestError: they are no matrix.
    """
    values = _singular_values(features)
    shares = values[values > 0] / values.sum() if values.any() else np.array([])
    return float(np.exp(-(shares * np.log(shares)).sum())) if len(shares) else float("nan")


def srank(features: ArrayLike, kept: float = KEPT) -> float:
    """The least number of singular values that make up 99% of the sum of all (Kumar et al. 2021); nan of zeros.

    Args:
        features: (n, F), not centred.
        kept: the share of the sum, if not 99%.

    Raises:
        RequestError: they are no matrix.
    """
    values = _singular_values(features)
    if not values.any():
        return float("nan")
    shares = np.cumsum(values) / values.sum()
    return float(np.argmax(shares >= kept - 1e-12) + 1)


def dormant_share(layers: Iterable[ArrayLike], threshold: float = DORMANT) -> float:
    """The share of units that hardly answer: mean |activation| at most 0.025 of their layer's (Sokar et al. 2023).

    Args:
        layers: (n, H) activations of each hidden layer; of a layer that is silent all units are dormant.
        threshold: that share of the layer's mean.

    Returns:
        nan where there are no layers.

    Raises:
        RequestError: one is no matrix.
    """
    means = [np.abs(_matrix("layers", layer)).mean(axis=0) for layer in layers]
    dormant = [mean <= threshold * mean.mean() for mean in means]
    return float(np.concatenate(dormant).mean()) if dormant else float("nan")


def probe_r2(features: ArrayLike, targets: ArrayLike, held_out: ArrayLike, penalty: float = 1e-2) -> float:
    """How well a linear probe reads targets off features it has not seen: held-out R² (after Davari et al. 2022).

    A ridge regression on the rows that are not held out, their mean taken off features and targets. It minimises the
    mean squared error plus the squared weights times `penalty` times the features' mean variance, so that neither a
    rotation nor a common scale of the features changes it. R² is `1 - residual / variation`, both summed over the
    held-out rows and all components of the targets; it has no lower end.

    Args:
        features: (n, F).
        targets: (n, A).
        held_out: (n,) bool.
        penalty: of the weights.

    Returns:
        nan where no row is held out, all are, or the held-out targets do not vary.

    Raises:
        RequestError: the shapes do not fit.
    """
    x, y, out = _matrix("features", features), _matrix("targets", targets), np.asarray(held_out, np.bool_)
    if len(x) != len(y) or out.shape != (len(x),):
        raise RequestError(f"targets: {len(y)} and held_out: {len(out)} rows, must be as many as features, {len(x)}")
    if out.all() or not out.any():
        return float("nan")
    x, middle = x - x[~out].mean(axis=0), y[~out].mean(axis=0)
    seen = x[~out]
    covariance = seen.T @ seen / len(seen)
    ridge = covariance + penalty * np.trace(covariance) / x.shape[1] * np.eye(x.shape[1])
    weights = np.linalg.lstsq(ridge, seen.T @ (y[~out] - middle) / len(seen), rcond=None)[0]
    residual = ((y[out] - middle - x[out] @ weights) ** 2).sum()
    variation = ((y[out] - y[out].mean(axis=0)) ** 2).sum()
    return float(1 - residual / variation) if variation > 0 else float("nan")


def principal_components(features: ArrayLike, components: int = 2) -> FloatArray:
    """The features along the directions in which they vary most, (n, components), by singular values.

    Each direction's sign is that which makes its largest entry positive.

    Args:
        features: (n, F), with F at least `components`.
        components: how many directions.

    Raises:
        RequestError: they are no matrix, or have too few columns.
    """
    x = _matrix("features", features)
    if min(x.shape) < components:
        raise RequestError(f"features: shape {x.shape}, has no {components} components")
    _, _, directions = np.linalg.svd(x - x.mean(axis=0), full_matrices=False)
    chosen = directions[:components]
    signs = np.sign(chosen[np.arange(components), np.abs(chosen).argmax(axis=1)])
    projected: FloatArray = (x - x.mean(axis=0)) @ (chosen * signs[:, None]).T
    return projected


def _singular_values(features: ArrayLike) -> FloatArray:
    values: FloatArray = np.linalg.svd(_matrix("features", features), compute_uv=False).astype(np.float64)
    return values


def _matrix(name: str, values: ArrayLike) -> FloatArray:
    array = np.asarray(values, np.float64)
    if array.ndim != 2 or 0 in array.shape:
        raise RequestError(f"{name}: shape {array.shape}, must be (n, F) with at least one of each")
    return array
