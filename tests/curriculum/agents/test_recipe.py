from typing import Any

import numpy as np
import pytest
import torch
from gymnasium.spaces import Box
from stable_baselines3 import PPO, SAC
from stable_baselines3.common.noise import NormalActionNoise, OrnsteinUhlenbeckActionNoise

from etude.curriculum.agents.recipe import Linear, optimisers_of, read_recipe
from etude.curriculum.agents.vecenv import Spaces
from etude.envs.errors import RequestError

SPACES = Spaces(Box(-1, 1, (3,), np.float32), Box(-1, 1, (2,), np.float32), 4)


def build(algorithm: str, parameters: dict[str, Any]) -> Any:
    return read_recipe(algorithm, 4, parameters).build(SPACES, seed=0)


@pytest.mark.parametrize(
    ("algorithm", "message"),
    [
        ("PPPO", r"agent\.algorithm: Stable-Baselines3 has no 'PPPO'; did you mean .*PPO"),
        ("ppo", r"no 'ppo'; did you mean PPO"),
        ("crossq", r"no 'crossq'; did you mean CrossQ"),
        ("DQN", "DQN acts in discrete action spaces only; take one of PPO"),
        ("RecurrentPPO", "RecurrentPPO is recurrent"),
        ("ARS", "ARS learns in whole episodes"),
    ],
)
def test_algorithms_that_cannot_be_used_are_refused_by_name(algorithm: str, message: str) -> None:
    with pytest.raises(RequestError, match=message):
        read_recipe(algorithm, 4, {})


@pytest.mark.parametrize(
    ("algorithm", "parameters", "message"),
    [
        ("PPO", {"n_step": 64}, r"agent\.parameters\.n_step: PPO takes no such parameter; did you mean n_steps"),
        ("PPO", {"buffer_size": 64}, "buffer_size: PPO takes no such parameter"),
        ("PPO", {"replay_buffer": "keep"}, "replay_buffer: PPO takes no such parameter"),
        ("PPO", {"n_steps": "many"}, "n_steps: 'many'; must be a whole number"),
        ("PPO", {"n_steps": 2.5}, r"n_steps: 2\.5; must be a whole number"),
        ("PPO", {"n_steps": 0}, "n_steps: 0; must be positive"),
        ("PPO", {"learning_rate": -1e-3}, r"learning_rate: -0\.001; must be positive"),
        ("PPO", {"learning_rate": float("nan")}, "learning_rate: nan; must be finite"),
        ("PPO", {"learning_rate": "fast"}, "learning_rate: 'fast'; must be a number or {schedule: linear"),
        ("PPO", {"learning_rate": {"schedule": "cosine"}}, r"learning_rate\.schedule: 'cosine'; must be linear"),
        ("PPO", {"learning_rate": {"schedule": "linear", "start": 1}}, r"learning_rate\.end: None; must be a number"),
        (
            "PPO",
            {"learning_rate": {"schedule": "linear", "start": 1, "end": 0, "stop": 2}},
            r"learning_rate\.stop: there is no such key; known: end, schedule, start",
        ),
        ("PPO", {"gamma": {"schedule": "linear", "start": 1, "end": 0}}, "gamma: .* must be a number"),
        ("PPO", {"gamma": 1.5}, r"gamma: 1\.5; must lie in \[0, 1\]"),
        ("PPO", {"normalize_advantage": 1}, "normalize_advantage: 1; must be true or false"),
        ("PPO", {"seed": 3}, r"agent\.parameters\.seed: is not set here; instead: the suite's `seeds`"),
        (
            "PPO",
            {"policy": "MlpPolicie"},
            r"agent\.parameters\.policy: PPO has no 'MlpPolicie'; did you mean .*MlpPolicy",
        ),
        ("PPO", {"policy": "torch.nn:Tanh"}, "policy: .* is not a policy class"),
        (
            "PPO",
            {"policy": "CnnPolicy"},
            "policy: CnnPolicy does not read vectors, as observations are; take MlpPolicy",
        ),
        ("PPO", {"learning_rate": ".nan"}, r"learning_rate: '\.nan'; must be a number or {[^(]*}$"),
        ("PPO", {"gamma": "x" * 5000}, r"gamma: 'x{59}; must be a number$"),
        ("PPO", {"device": "cdua"}, "device: 'cdua' is not there; torch has cpu"),
        ("PPO", {"device": 3}, "device: 3 is not there; torch has cpu"),
        ("PPO", {"policy_kwargs": {"net_arch": [0]}}, r"net_arch: \[0\]; must be layers' widths above 0, as in"),
        ("PPO", {"policy_kwargs": {"net_arch": "x"}}, r"policy_kwargs\.net_arch: 'x'; must be layers' widths"),
        ("PPO", {"policy_kwargs": {"net_arch": {"pi": [8], "vf": [1.5]}}}, "net_arch: .* must be layers' widths"),
        (
            "PPO",
            {"policy_kwargs": {"activation_fn": "relu"}},
            r"policy_kwargs\.activation_fn: 'relu'; must be a module of torch's, as in torch\.nn:ReLU",
        ),
        ("PPO", {"policy_kwargs": [64]}, r"policy_kwargs: \[64\]; must be"),
        ("PPO", {"policy_kwargs": {"net_arc": [64]}}, r"policy_kwargs\.net_arc: .* did you mean net_arch"),
        (
            "PPO",
            {"policy_kwargs": {"activation_fn": "torch.nn:Tan"}},
            r"policy_kwargs\.activation_fn: 'torch\.nn:Tan': torch\.nn has no 'Tan'; did you mean .*Tanh",
        ),
        ("PPO", {"policy_kwargs": {"activation_fn": "torch.nm:Tanh"}}, r"'torch\.nm' cannot be imported"),
        ("SAC", {"train_freq": [1, "episode"]}, r"train_freq: \[1, 'episode'\] counts episodes; count steps"),
        ("SAC", {"train_freq": [1, "hour"]}, "SAC refuses them: The unit"),
        ("SAC", {"train_freq": 0}, "train_freq: 0; must be positive"),
        ("SAC", {"gradient_steps": 0}, "gradient_steps: 0; must be positive, or -1"),
        ("PPO", {"exploration": "more"}, "exploration: 'more'; must be keep or reset"),
        ("PPO", {"exploration": [0.6, 0]}, r"exploration: \[0\.6, 0\]; must be positive numbers"),
        ("PPO", {"shrink": 0}, "shrink: 0; must be a number above 0 and at most 1"),
        ("SAC", {"shrink": 0.5}, "shrink: SAC takes no such parameter"),
        ("SAC", {"exploration": "reset"}, "exploration: SAC takes no such parameter"),
        ("SAC", {"replay_buffer": "empty"}, "replay_buffer: 'empty'; must be keep or reset"),
        ("SAC", {"ent_coef": "high"}, "SAC refuses them"),
        ("SAC", {"replay_buffer_class": "torch.nn:Tanh"}, "replay_buffer_class: .* must be"),
        ("TD3", {"action_noise": 0.1}, r"action_noise: 0\.1; must be {noise: normal"),
        ("TD3", {"action_noise": {"noise": "normal"}}, r"action_noise\.sigma: None; must be a number"),
        ("TD3", {"action_noise": {"noise": "normal", "sigma": 1, "theta": 1}}, r"action_noise\.theta: there is no"),
    ],
)
def test_parameters_that_an_algorithm_does_not_take_are_refused_in_one_line(
    algorithm: str, parameters: dict[str, Any], message: str
) -> None:
    with pytest.raises(RequestError, match=message) as caught:
        build(algorithm, parameters)
    assert "\n" not in str(caught.value)


def test_a_device_that_torch_does_not_have_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(RequestError, match="device: 'cuda:0' is not there; torch has cpu"):
        read_recipe("PPO", 4, {"device": "cuda:0"})
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert read_recipe("PPO", 4, {"device": "cuda:0"}).keywords["device"] == "cuda:0"


def test_names_in_yaml_become_objects() -> None:
    kwargs = {
        "net_arch": {"pi": [8], "vf": [8, 8]},
        "activation_fn": "torch.nn:ReLU",
        "optimizer_class": "torch.optim:RMSprop",
        "optimizer_kwargs": {"alpha": 0.9},
    }
    model = build("PPO", {"policy_kwargs": kwargs, "n_steps": 16, "batch_size": 16})
    assert isinstance(model, PPO)
    assert isinstance(model.policy.mlp_extractor.policy_net[1], torch.nn.ReLU)
    assert isinstance(model.policy.optimizer, torch.optim.RMSprop)
    assert model.policy.optimizer.param_groups[0]["alpha"] == 0.9


def test_a_linear_schedule_is_a_straight_line_over_the_budget() -> None:
    rate = Linear(1e-3, 1e-4)
    assert [rate(1), rate(0.5), rate(0)] == pytest.approx([1e-3, 5.5e-4, 1e-4])
    model = build("PPO", {"clip_range": {"schedule": "linear", "start": 0.2, "end": 0.1}})
    assert model.clip_range(0.5) == pytest.approx(0.15)


def test_action_noise_has_the_size_of_the_action() -> None:
    normal = build("TD3", {"action_noise": {"noise": "normal", "sigma": 0.1}}).action_noise
    assert isinstance(normal, NormalActionNoise) and normal().shape == (2,)
    correlated = build(
        "SAC", {"action_noise": {"noise": "ornstein-uhlenbeck", "sigma": 0.1, "theta": 0.3}}
    ).action_noise
    assert isinstance(correlated, OrnsteinUhlenbeckActionNoise) and correlated._theta == 0.3


def test_what_is_not_given_keeps_its_default() -> None:
    model = build("SAC", {"gamma": 0.98})
    assert isinstance(model, SAC)
    assert (model.gamma, model.tau, model.batch_size, model.ent_coef) == (0.98, 0.005, 256, "auto")


def test_adam_is_fused_with_the_settings_it_has_there() -> None:
    for algorithm, eps in (("PPO", 1e-5), ("SAC", 1e-8)):
        for optimiser in optimisers_of(build(algorithm, {})).values():
            assert optimiser.param_groups[0]["fused"] is True
            assert optimiser.param_groups[0]["eps"] == eps or algorithm == "SAC"
    plain = build("PPO", {"policy_kwargs": {"optimizer_kwargs": {"foreach": False}}})
    assert not plain.policy.optimizer.param_groups[0]["fused"]


def test_a_fused_adam_takes_the_same_steps() -> None:
    ends = []
    for fused in (True, False):
        kwargs = {} if fused else {"policy_kwargs": {"optimizer_kwargs": {"eps": 1e-5, "foreach": False}}}
        policy = build("PPO", kwargs).policy
        observations = torch.linspace(-1, 1, 12).reshape(4, 3)
        for _ in range(20):
            policy.optimizer.zero_grad()
            policy.predict_values(observations).square().mean().backward()
            policy.optimizer.step()
        ends.append(policy.predict_values(observations))
    assert torch.allclose(*ends, rtol=1e-3, atol=1e-5)


def test_a_whole_number_may_be_written_as_a_float() -> None:
    recipe = read_recipe("PPO", 4, {"n_steps": 3.2e1, "learning_rate": 1.0, "target_kl": 1.0})
    assert recipe.rollout == 128 and type(recipe.keywords["n_steps"]) is int
    assert type(recipe.keywords["learning_rate"]) is float
    assert read_recipe("SAC", 4, {"buffer_size": 1e6}).keywords["buffer_size"] == 1_000_000
    assert read_recipe("SAC", 4, {"train_freq": [2.0, "step"]}).rollout == 8
