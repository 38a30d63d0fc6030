"""A Stable-Baselines3 algorithm with its hyperparameters, from what YAML says of them."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal, cast

import numpy as np
import torch
from pydantic import ConfigDict, TypeAdapter, ValidationError
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.noise import ActionNoise, NormalActionNoise, OrnsteinUhlenbeckActionNoise
from stable_baselines3.common.off_policy_algorithm import OffPolicyAlgorithm
from stable_baselines3.common.policies import BasePolicy
from stable_baselines3.common.save_util import recursive_getattr
from stable_baselines3.common.vec_env import VecEnv

from etude.curriculum.agents.names import is_object_name, resolve_object
from etude.envs.errors import RequestError, nearest

KEY = "agent.parameters"
ALGORITHMS = {
    "PPO": "stable_baselines3",
    "A2C": "stable_baselines3",
    "SAC": "stable_baselines3",
    "TD3": "stable_baselines3",
    "DDPG": "stable_baselines3",
    "TQC": "sb3_contrib",
    "TRPO": "sb3_contrib",
    "CrossQ": "sb3_contrib",
}
REFUSED = {
    "DQN": "acts in discrete action spaces only",
    "QRDQN": "acts in discrete action spaces only",
    "MaskablePPO": "acts in discrete action spaces only",
    "RecurrentPPO": "is recurrent, and an agent here acts on the present observation alone",
    "ARS": "learns in whole episodes, so its steps cannot be set",
}
OURS = {
    "env": "the suite's `tasks`",
    "seed": "the suite's `seeds`",
    "verbose": "nothing; training.jsonl holds the statistics",
    "tensorboard_log": "the suite's `wandb`",
    "stats_window_size": "nothing; training.jsonl holds the statistics",
    "_init_setup_model": "nothing",
}
POSITIVE = (
    "n_steps batch_size n_epochs buffer_size tau learning_rate clip_range clip_range_vf max_grad_norm target_kl "
    "target_update_interval policy_delay rms_prop_eps cg_max_steps n_critic_updates sub_sampling_factor "
    "line_search_max_iter target_noise_clip"
).split()
NOT_NEGATIVE = "learning_starts ent_coef vf_coef cg_damping target_policy_noise top_quantiles_to_drop_per_net".split()
FRACTION = "gamma gae_lambda line_search_shrinking_factor".split()


@dataclass(frozen=True)
class Recipe:
    """What a Stable-Baselines3 model is made from.

    Attributes:
        algorithm: the class.
        keywords: its constructor's arguments, but for the environment, the seed and the action noise.
        noise: makes the action noise for so many action components.
        replay_buffer: what happens to the replay buffer when a task begins.
        exploration: what happens to the learnt spread of a Gaussian policy's actions when a task begins; or the spreads
            that each task but the first begins with, one an action component.
        shrink: what the action layer's weights are multiplied by when a task begins.
        rollout: environment steps between updates, in total over the environments.
    """

    algorithm: type[BaseAlgorithm]
    keywords: dict[str, Any]
    noise: Callable[[int], ActionNoise] | None
    rollout: int
    replay_buffer: Literal["keep", "reset"] = "reset"
    exploration: Literal["keep", "reset"] | tuple[float, ...] = "keep"
    shrink: float = 1.0

    @property
    def off_policy(self) -> bool:
        """Whether it learns from a replay buffer."""
        return issubclass(self.algorithm, OffPolicyAlgorithm)

    def build(self, envs: VecEnv, seed: int) -> BaseAlgorithm:
        """The untrained model.

        Raises:
            RequestError: Stable-Baselines3 does not take a parameter's value.
        """
        keywords = dict(self.keywords)
        if self.noise is not None:
            keywords["action_noise"] = self.noise(int(np.prod(envs.action_space.shape or ())))
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                model: BaseAlgorithm = cast(Any, self.algorithm)(env=envs, seed=seed, **keywords)
        except (
            TypeError,
            ValueError,
            AssertionError,
            KeyError,
            NotImplementedError,
            RuntimeError,
            MemoryError,
        ) as error:
            reason = " ".join(str(error).split()) or type(error).__name__
            raise RequestError(f"{KEY}: {self.algorithm.__name__} refuses them: {reason}") from error
        for optimiser in optimisers_of(model).values():
            _fuse(optimiser)
        return model

    def check_exploration(self, model: BaseAlgorithm) -> None:
        """Whether the spreads are as many as the model's action components.

        Raises:
            RequestError: they are not.
        """
        if isinstance(self.exploration, tuple):
            spread = getattr(model.policy, "log_std", None)
            if spread is None or spread.shape != (len(self.exploration),):
                components = "none" if spread is None else len(spread)
                raise RequestError(
                    f"{KEY}.exploration: {list(self.exploration)}; must be one number an action component that is "
                    f"drawn around the policy's, of which there are {components}"
                )


def optimisers_of(model: BaseAlgorithm) -> dict[str, torch.optim.Optimizer]:
    """The optimisers of a model, by the names Stable-Baselines3 has for them (`policy`, `actor`, `critic`, ...)."""
    names, _ = model._get_torch_save_params()
    found = {name.removesuffix(".optimizer"): recursive_getattr(model, name) for name in names}
    return {name: item for name, item in found.items() if isinstance(item, torch.optim.Optimizer)}


def _fuse(optimiser: torch.optim.Optimizer) -> None:
    """Let Adam take its step in one kernel a parameter, as `fused=True` does, unless the parameters say otherwise.

    The networks are small: an update's time is that of the calls, and this saves some ten of them a parameter.
    """
    if type(optimiser) in (torch.optim.Adam, torch.optim.AdamW):
        for group in optimiser.param_groups:
            if group["fused"] is None and group["foreach"] is None and not group["differentiable"]:
                group["fused"] = True


def read_recipe(algorithm: str, environments: int, parameters: Mapping[str, Any]) -> Recipe:
    """The recipe of an algorithm by name.

    Args:
        algorithm: its class's name in Stable-Baselines3 or sb3-contrib.
        environments: simulations it acts in at once.
        parameters: hyperparameters by their names there, in YAML's values.

    Raises:
        RequestError: no such algorithm, a parameter it does not take, or a value that cannot be one of its.
    """
    cls = _find_algorithm(algorithm)
    settings = dict(parameters)
    off_policy = issubclass(cls, OffPolicyAlgorithm)
    ours, usual = ("replay_buffer", "reset") if off_policy else ("exploration", "keep")
    at_switch: Any = settings.pop(ours, usual)
    if ours == "exploration" and isinstance(at_switch, list):
        at_switch = _read_spreads(at_switch)
    elif at_switch not in ("keep", "reset"):
        raise RequestError(f"{KEY}.{ours}: {at_switch!r}; must be keep or reset")
    shrink = 1.0 if off_policy else _read_shrink(settings.pop("shrink", 1.0))
    taken = {name: p for name, p in inspect.signature(cls).parameters.items() if name not in OURS}
    for name in settings:
        if name in OURS:
            raise RequestError(f"{KEY}.{name}: is not set here; instead: {OURS[name]}")
        if name not in taken:
            raise RequestError(f"{KEY}.{name}: {algorithm} takes no such parameter; {nearest(name, [*taken, ours])}")
    noise = _read_noise(settings.pop("action_noise")) if settings.get("action_noise") is not None else None
    keywords = {name: _read_value(name, value, taken[name].annotation) for name, value in settings.items()}
    keywords.setdefault("policy", "MlpPolicy")
    keywords.setdefault("device", "cpu")
    policy = _policy_class(cls, keywords["policy"])
    keywords["policy_kwargs"] = _read_policy_kwargs(keywords.get("policy_kwargs"), policy)
    period: int | tuple[int, str] = (
        keywords.get("train_freq", taken["train_freq"].default)
        if off_policy
        else (keywords.get("n_steps", taken["n_steps"].default))
    )
    steps = period[0] if isinstance(period, tuple) else period
    return Recipe(cls, keywords, noise, **{ours: at_switch}, shrink=shrink, rollout=steps * environments)


def _find_algorithm(name: str) -> type[BaseAlgorithm]:
    if name in REFUSED:
        raise RequestError(f"agent.algorithm: {name} {REFUSED[name]}; take one of {', '.join(ALGORITHMS)}")
    if name not in ALGORITHMS:
        cased = next((known for known in ALGORITHMS if known.lower() == name.lower()), name)
        raise RequestError(
            f"agent.algorithm: Stable-Baselines3 has no {name!r:.60}; {nearest(cased, ALGORITHMS)} "
            "(an agent of your own is module:Class)"
        )
    package = ALGORITHMS[name]
    try:
        return cast(type[BaseAlgorithm], getattr(__import__(package), name))
    except ModuleNotFoundError:
        raise RequestError(f"agent.algorithm: {name} is in {package}; pip install 'etude[contrib]'") from None


def _policy_class(algorithm: type[BaseAlgorithm], policy: Any) -> type[BasePolicy]:
    if isinstance(policy, str):
        if policy not in algorithm.policy_aliases:
            options = nearest(policy, algorithm.policy_aliases)
            raise RequestError(f"{KEY}.policy: {algorithm.__name__} has no {policy!r:.60}; {options}")
        if policy != "MlpPolicy":
            raise RequestError(f"{KEY}.policy: {policy} does not read vectors, as observations are; take MlpPolicy")
        return algorithm.policy_aliases[policy]
    if not (inspect.isclass(policy) and issubclass(policy, BasePolicy)):
        raise RequestError(f"{KEY}.policy: {policy!r} is not a policy class")
    return policy


def _read_value(name: str, value: Any, annotation: Any) -> Any:
    key = f"{KEY}.{name}"
    if isinstance(value, Mapping) and "schedule" in value:
        value = _read_schedule(value, key)
    elif is_object_name(value):
        value = resolve_object(value, key)
    elif name == "train_freq" and isinstance(value, list):
        value = tuple(value)
        if value[1:] == ("episode",):
            raise RequestError(f"{key}: {list(value)} counts episodes; count steps, as in [{value[0]}, step]")
    if name == "policy":
        return value
    if name == "device":
        _check_device(value, key)
    kind = TypeAdapter[Any](annotation, config=ConfigDict(arbitrary_types_allowed=True))
    for read in (value, _with_whole_numbers(value)):  # 1e6 stands for a whole number where a float is not taken.
        with suppress(ValidationError):
            value = kind.validate_python(read, strict=True)
            break
    else:
        raise RequestError(f"{key}: {value!r:.60}; must be {_describe(annotation)}")
    _check_range(name, value[0] if isinstance(value, tuple) else value, key)
    return value


def _with_whole_numbers(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(map(_with_whole_numbers, value))
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _check_device(value: Any, key: str) -> None:
    there = ["cpu", *(kind for kind in ("cuda", "mps") if getattr(torch, kind).is_available())]
    if not isinstance(value, str) or value.partition(":")[0] not in ("auto", *there):
        raise RequestError(f"{key}: {value!r:.60} is not there; torch has {', '.join(there)}")


def _check_range(name: str, value: Any, key: str) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return
    if not np.isfinite(value):
        raise RequestError(f"{key}: {value}; must be finite")
    if name in (*POSITIVE, "train_freq") and value <= 0:
        raise RequestError(f"{key}: {value}; must be positive")
    if name in NOT_NEGATIVE and value < 0:
        raise RequestError(f"{key}: {value}; must not be negative")
    if name in FRACTION and not 0 <= value <= 1:
        raise RequestError(f"{key}: {value}; must lie in [0, 1]")
    if name == "gradient_steps" and value < 1 and value != -1:
        raise RequestError(f"{key}: {value}; must be positive, or -1 for one a step")


def _read_shrink(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= 1:
        raise RequestError(f"{KEY}.shrink: {value!r}; must be a number above 0 and at most 1")
    return float(value)


def _read_spreads(value: list[Any]) -> tuple[float, ...]:
    for number in value:
        if isinstance(number, bool) or not isinstance(number, int | float) or not 0 < number < np.inf:
            raise RequestError(f"{KEY}.exploration: {value!r}; must be positive numbers, one an action component")
    return tuple(map(float, value))


def _describe(annotation: Any) -> str:
    text = str(annotation if not inspect.isclass(annotation) else annotation.__name__)
    for long, short in (
        ("collections.abc.Callable[[float], float]", "{schedule: linear, start: ..., end: ...}"),
        ("typing.", ""),
        ("float", "a number"),
        ("bool", "true or false"),
        ("int", "a whole number"),
        ("str", "a name"),
        (" | ", " or "),
        ("None", "null"),
    ):
        text = text.replace(long, short)
    return text


def _read_schedule(value: Mapping[str, Any], key: str) -> Callable[[float], float]:
    _refuse_unknown(value, ("schedule", "start", "end"), key)
    if value["schedule"] != "linear":
        raise RequestError(f"{key}.schedule: {value['schedule']!r}; must be linear")
    start, end = (_number(value, name, key) for name in ("start", "end"))
    return Linear(start, end)


@dataclass(frozen=True)
class Linear:
    """A straight line over a task's budget: `start` where it begins, `end` where it is used up."""

    start: float
    end: float

    def __call__(self, remaining: float) -> float:
        """The value where `remaining`, from 1 to 0, of the budget is left."""
        return self.end + remaining * (self.start - self.end)


def _read_noise(value: Any) -> Callable[[int], ActionNoise]:
    key = f"{KEY}.action_noise"
    kinds = {"normal": ("sigma",), "ornstein-uhlenbeck": ("sigma", "theta", "dt")}
    if not isinstance(value, Mapping) or value.get("noise") not in kinds:
        raise RequestError(f"{key}: {value!r}; must be {{noise: {' | '.join(kinds)}, sigma: ...}}")
    kind = value["noise"]
    _refuse_unknown(value, ("noise", *kinds[kind]), key)
    numbers: dict[str, Any] = {
        name: _number(value, name, key) for name in kinds[kind] if name in value or name == "sigma"
    }
    sigma = numbers.pop("sigma")

    def make(components: int) -> ActionNoise:
        mean, spread = np.zeros(components), np.full(components, sigma)
        if kind == "normal":
            return NormalActionNoise(mean, spread)
        return OrnsteinUhlenbeckActionNoise(mean, spread, **numbers)

    return make


def _read_policy_kwargs(value: Any, policy: type[BasePolicy]) -> dict[str, Any]:
    key = f"{KEY}.policy_kwargs"
    settings = {name: _resolve_names(item, f"{key}.{name}") for name, item in (value or {}).items()}
    taken = [
        n for n in inspect.signature(policy).parameters if n not in ("observation_space", "action_space", "lr_schedule")
    ]
    for name in settings:
        if name not in taken:
            raise RequestError(f"{key}.{name}: {policy.__name__} takes no such argument; {nearest(name, taken)}")
    if settings.get("net_arch") is not None:
        _check_net_arch(settings["net_arch"], f"{key}.net_arch")
    activation = settings.get("activation_fn", torch.nn.ReLU)
    if not (inspect.isclass(activation) and issubclass(activation, torch.nn.Module)):
        raise RequestError(f"{key}.activation_fn: {activation!r:.60}; must be a module of torch's, as in torch.nn:ReLU")
    return settings


def _check_net_arch(value: Any, key: str) -> None:
    for widths in value.values() if isinstance(value, Mapping) else [value]:
        if not isinstance(widths, list) or any(type(width) is not int or width < 1 for width in widths):
            right = "layers' widths above 0, as in [64, 64] or {pi: [64], vf: [64]}"
            raise RequestError(f"{key}: {value!r:.60}; must be {right}")


def _resolve_names(value: Any, key: str) -> Any:
    if isinstance(value, Mapping):
        return {name: _resolve_names(item, f"{key}.{name}") for name, item in value.items()}
    return resolve_object(value, key) if is_object_name(value) else value


def _refuse_unknown(value: Mapping[str, Any], known: tuple[str, ...], key: str) -> None:
    for name in value:
        if name not in known:
            raise RequestError(f"{key}.{name}: there is no such key; {nearest(str(name), known)}")


def _number(value: Mapping[str, Any], name: str, key: str) -> float:
    number = value.get(name)
    if isinstance(number, bool) or not isinstance(number, int | float) or not np.isfinite(number) or number < 0:
        raise RequestError(f"{key}.{name}: {number!r}; must be a number that is not negative")
    return float(number)
