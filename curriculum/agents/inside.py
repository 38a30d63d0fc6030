"""What a Stable-Baselines3 policy looks like from inside: hidden layers, values, weights, gradients."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import torch
from gymnasium.vector import VectorEnv
from numpy.typing import NDArray
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.on_policy_algorithm import OnPolicyAlgorithm
from stable_baselines3.common.policies import BasePolicy

from etude.curriculum.agents.vecenv import SB3Envs

Envs = VectorEnv[Any, Any, Any]


def layers_of(policy: Any, observations: NDArray[Any]) -> list[NDArray[Any]]:
    """The policy network's input, then its hidden layers after their activation functions, (N, H) each.

    The last one is what the actions are read off.
    """
    policy.set_training_mode(False)
    with torch.no_grad():
        tensor, _ = policy.obs_to_tensor(observations)
        if hasattr(policy, "mlp_extractor"):
            latent = BasePolicy.extract_features(policy, tensor, policy.pi_features_extractor)
            modules = list(policy.mlp_extractor.policy_net)
        else:
            actor = policy.actor
            latent = actor.extract_features(tensor, actor.features_extractor)
            modules = list(actor.latent_pi if hasattr(actor, "latent_pi") else actor.mu[:-2])
        layers = [latent]
        for module in modules:
            if isinstance(module, torch.nn.Linear):
                layers.append(latent)
            layers[-1] = latent = module(latent)
    return [layer.cpu().numpy() for layer in layers]


def state_values(policy: Any, observations: NDArray[Any]) -> NDArray[Any]:
    """The critic's value of the observations, (N,); of an action value, the least at the policy's own action."""
    policy.set_training_mode(False)
    with torch.no_grad():
        tensor, _ = policy.obs_to_tensor(observations)
        if hasattr(policy, "predict_values"):
            values = policy.predict_values(tensor)
        else:
            values = _least_value(policy, tensor, policy._predict(tensor, deterministic=True))
    return cast(NDArray[Any], values.cpu().numpy().reshape(-1))


def trained_weights(policy: torch.nn.Module) -> dict[str, NDArray[Any]]:
    """Every parameter that an optimiser moves, by its name in torch; the targets that follow them are left out."""
    return {
        name: parameter.detach().cpu().numpy().copy()
        for name, parameter in policy.named_parameters()
        if not name.partition(".")[0].endswith("_target")
    }


def policy_gradient(model: BaseAlgorithm, envs: Envs, steps: int) -> NDArray[Any]:
    """The direction, (P,), in which a policy's weights would move to earn more, from at least so many steps it plays.

    On-policy: the gradient of `mean A log π`, A being the algorithm's advantages, brought to mean 0 and deviation 1.
    Off-policy: that of the mean value of the policy's own actions, in the states it comes through; a bonus for entropy
    is left out.
    """
    model.set_env(SB3Envs(envs))
    _, callback = model._setup_learn(steps, reset_num_timesteps=True)
    model.policy.set_training_mode(False)
    model.policy.zero_grad(set_to_none=True)
    if isinstance(model, OnPolicyAlgorithm):
        policy_parameters = dict(model.policy.named_parameters())
        _on_policy_loss(model, callback, steps).backward()  # type: ignore[no-untyped-call]
    else:
        policy_parameters = dict(cast(Any, model.policy).actor.named_parameters())
        _off_policy_loss(model, steps).backward()  # type: ignore[no-untyped-call]
    moved = [-p.grad.reshape(-1) for p in policy_parameters.values() if p.grad is not None]
    model.policy.zero_grad(set_to_none=True)
    return torch.cat(moved).cpu().numpy()


def _on_policy_loss(model: OnPolicyAlgorithm, callback: BaseCallback, steps: int) -> torch.Tensor:
    assert model.env is not None
    observations: list[torch.Tensor] = []
    actions: list[torch.Tensor] = []
    advantages: list[torch.Tensor] = []
    while sum(len(some) for some in advantages) < steps:
        model.collect_rollouts(model.env, callback, model.rollout_buffer, n_rollout_steps=model.n_steps)
        for batch in model.rollout_buffer.get(batch_size=None):
            observations.append(batch.observations)
            actions.append(batch.actions)
            advantages.append(batch.advantages)
    model.policy.set_training_mode(False)
    _, log_probabilities, _ = model.policy.evaluate_actions(torch.cat(observations), torch.cat(actions))
    advantage = torch.cat(advantages)
    advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
    return -(advantage * log_probabilities).mean()


def _off_policy_loss(model: BaseAlgorithm, steps: int) -> torch.Tensor:
    assert model.env is not None
    policy, seen = cast(Any, model.policy), []
    observations = cast(NDArray[Any], model._last_obs)
    for _ in range(-(-steps // model.env.num_envs)):
        seen.append(observations)
        actions, _ = policy.predict(observations, deterministic=False)
        observations, _, _, _ = cast(Any, model.env.step(actions))
    tensor, _ = policy.obs_to_tensor(np.concatenate(seen))
    actor = policy.actor
    own = actor.action_log_prob(tensor)[0] if hasattr(actor, "action_log_prob") else actor(tensor)
    return -_least_value(policy, tensor, own).mean()


def _least_value(policy: Any, observations: torch.Tensor, actions: torch.Tensor) -> torch.Tensor:
    """(N,) the least of the critics' values; TQC's come as (N, critics, quantiles), the others' as (N, 1) each."""
    critics = policy.critic(observations, actions)
    each = critics.mean(dim=2) if isinstance(critics, torch.Tensor) else torch.cat(critics, dim=1)
    least: torch.Tensor = each.min(dim=1).values
    return least
