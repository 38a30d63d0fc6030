"""Stable-Baselines3 as an agent: one model for the whole run, each task on its own clock."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch
from gymnasium.spaces import Space
from gymnasium.vector import VectorEnv
from numpy.typing import NDArray
from stable_baselines3.common.buffers import BaseBuffer
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.logger import Logger
from stable_baselines3.common.noise import ActionNoise, OrnsteinUhlenbeckActionNoise, VectorizedActionNoise
from stable_baselines3.common.off_policy_algorithm import OffPolicyAlgorithm
from stable_baselines3.common.on_policy_algorithm import OnPolicyAlgorithm
from stable_baselines3.common.save_util import recursive_getattr

from etude.curriculum.agents.buffers import load_buffer, save_buffer
from etude.curriculum.agents.generators import generators_state, restore_generators
from etude.curriculum.agents.inside import layers_of, policy_gradient, state_values, trained_weights
from etude.curriculum.agents.protocol import Diverged
from etude.curriculum.agents.recipe import optimisers_of, read_recipe
from etude.curriculum.agents.tensors import load_tensors, save_tensors
from etude.curriculum.agents.vecenv import SB3Envs, Spaces

COUNTERS = ("num_timesteps", "_n_updates", "_episode_num", "_current_progress_remaining", "learning_starts")


class SB3Agent:
    """A Stable-Baselines3 algorithm.

    `BaseAlgorithm.learn` is not called: its schedules, its warm-up and its action noise start anew with each call,
    and it may overshoot. A task is set up once, and `learn` goes round its loop of rollout and update.
    """

    def __init__(
        self,
        algorithm: str,
        observation_space: Space[Any],
        action_space: Space[Any],
        environments: int,
        parameters: Mapping[str, Any],
        seed: int,
    ) -> None:
        """Make the untrained model.

        Args:
            algorithm: its class's name in Stable-Baselines3 or sb3-contrib.
            observation_space: of one simulation.
            action_space: of one simulation.
            environments: simulations it will act in at once.
            parameters: hyperparameters, in YAML's values.
            seed: of the weights and of all that is drawn while learning.

        Raises:
            RequestError: there is no such algorithm, or it does not take these parameters.
        """
        # Every operation is checked elsewhere; torch's own checks of each distribution cost a tenth of the learning.
        torch.distributions.Distribution.set_default_validate_args(False)
        self._recipe = read_recipe(algorithm, environments, parameters)
        self._description = {"algorithm": algorithm, "environments": environments, "parameters": dict(parameters)}
        self._model = self._recipe.build(Spaces(observation_space, action_space, environments), seed % 2**32)
        self._recipe.check_exploration(self._model)
        self._model.set_logger(Logger(folder=None, output_formats=[]))
        self._warm_up = getattr(self._model, "learning_starts", 0)
        self._callback: BaseCallback | None = None
        self._begun = False

    def begin_task(self, task: str, envs: VectorEnv[Any, Any, Any], budget: int) -> None:
        """Start to learn a task; replay buffer, spread and size of the actions are kept or not, as asked."""
        model = self._model
        spread, exploration = getattr(model.policy, "log_std", None), self._recipe.exploration
        if self._begun and isinstance(exploration, tuple):
            cast(Any, spread).data.copy_(torch.tensor(exploration).log())
        elif self._begun and exploration == "reset" and spread is not None:
            spread.data.fill_(model.policy.log_std_init)
        if self._recipe.shrink != 1 and self._begun:
            for weights in cast(Any, model.policy).action_net.parameters():
                weights.data.mul_(self._recipe.shrink)
        if isinstance(model, OffPolicyAlgorithm) and self._begun:
            assert model.replay_buffer is not None
            if self._recipe.replay_buffer == "reset":
                model.replay_buffer.reset()
            else:
                _cut_episodes(model)
            model.learning_starts = 0 if model.replay_buffer.size() else self._warm_up
        elif isinstance(model, OnPolicyAlgorithm):
            model.rollout_buffer.reset()  # No save holds the last task's: nobody shall see it here.
        model.set_env(SB3Envs(envs))
        model._current_progress_remaining = 1.0
        _, self._callback = model._setup_learn(budget, reset_num_timesteps=True)
        self._begun = True

    def learn(self, steps: int) -> None:
        """Learn for exactly so many more environment steps.

        Raises:
            ValueError: they are no multiple of the rollout.
            Diverged: actions or losses are no longer finite numbers.
        """
        model = self._model
        if steps % self._recipe.rollout:
            raise ValueError(f"{steps} steps are no multiple of the rollout of {self._recipe.rollout}")
        end = model.num_timesteps + steps
        while model.num_timesteps < end:
            if isinstance(model, OnPolicyAlgorithm):
                self._learn_on_policy(model)
            else:
                self._learn_off_policy(cast(OffPolicyAlgorithm, model))
        for name, value in self.statistics().items():
            if "loss" in name and not np.isfinite(value):
                raise Diverged(f"{name} is {value}")

    def end_task(self, task: str) -> None:
        """Nothing is left to do."""

    def act(self, observations: NDArray[Any]) -> NDArray[Any]:
        """The mode of the policy's distribution, clipped to the action space."""
        return self._model.policy.predict(cast(Any, observations), deterministic=True)[0]

    def predict(self, observations: torch.Tensor) -> torch.Tensor:
        """The mode of the policy's distribution, (N, ...): as `act`, but differentiable and not clipped."""
        policy = cast(Any, self._model.policy)
        actions = policy._predict(observations.to(self._model.device), deterministic=True)
        if not policy.squash_output:
            return cast(torch.Tensor, actions)
        low, high = (
            torch.as_tensor(bound, device=actions.device)
            for bound in (policy.action_space.low, policy.action_space.high)
        )
        return cast(torch.Tensor, low + (high - low) * (actions + 1) / 2)

    def latest_observations(self, count: int) -> NDArray[Any]:
        """At most so many of the latest observations that were learnt from, (M, ...); on-policy, of this task alone."""
        buffer = cast(Any, getattr(self._model, "rollout_buffer", None) or cast(Any, self._model).replay_buffer)
        shape = cast(Any, self._model.observation_space.shape)
        table = buffer.observations
        in_a_row = table.size // (len(table) * int(np.prod(shape)))
        rows = min(-(-count // in_a_row), len(table) if buffer.full else buffer.pos)
        latest = table[np.arange(buffer.pos - rows, buffer.pos)]
        return np.array(latest.reshape(-1, *shape)[-count:])

    def features(self, observations: NDArray[Any]) -> NDArray[Any]:
        """The last hidden layer of the policy network, (N, F)."""
        return layers_of(self._model.policy, observations)[-1]

    def activations(self, observations: NDArray[Any]) -> dict[str, NDArray[Any]]:
        """The policy network's hidden layers after their activation functions, (N, H) each, the last one last."""
        hidden = layers_of(self._model.policy, observations)[1:]
        return {f"hidden {place}": layer for place, layer in enumerate(hidden, 1)}

    def value(self, observations: NDArray[Any]) -> NDArray[Any]:
        """The critic's value of the observations, (N,); of an action value, the least at the policy's own action."""
        return state_values(self._model.policy, observations)

    def discount(self) -> float:
        """What a reward a step later counts."""
        return float(cast(Any, self._model).gamma)

    def weights(self) -> dict[str, NDArray[Any]]:
        """Every parameter that an optimiser moves, of policy and critics."""
        return trained_weights(self._model.policy)

    def policy_gradient(self, envs: VectorEnv[Any, Any, Any], steps: int) -> NDArray[Any]:
        """The direction, (P,), in which the policy would move to earn more, from at least so many steps it plays."""
        return policy_gradient(self._model, envs, steps)

    def statistics(self) -> dict[str, float]:
        """What Stable-Baselines3 logged of the last update: losses, learning rate, and so on."""
        values = self._model.logger.name_to_value
        return {name: float(value) for name, value in values.items() if name.startswith("train/")}

    @property
    def warm_up(self) -> int:
        """The steps of the present task in which actions are random and nothing is learnt."""
        return int(getattr(self._model, "learning_starts", 0))

    def buffer_bytes(self) -> int:
        """The size of the replay buffer's arrays, full or not; on-policy algorithms keep no samples."""
        buffer = getattr(self._model, "replay_buffer", None)
        return sum(value.nbytes for value in vars(buffer).values() if isinstance(value, np.ndarray)) if buffer else 0

    def optimisers(self) -> dict[str, torch.optim.Optimizer]:
        """The optimisers by name: `policy`, or `actor`, `critic` and `ent_coef_optimizer`."""
        return optimisers_of(self._model)

    def save(self, folder: Path) -> None:
        """Write weights, optimisers, counters, generators, the present observations and the replay buffer."""
        model = self._model
        modules, variables = model._get_torch_save_params()
        state = {
            "modules": {name: recursive_getattr(model, name).state_dict() for name in modules},
            "variables": {name: recursive_getattr(model, name).detach() for name in variables},
            "observations": torch.from_numpy(np.array(model._last_obs)),
            "episode_starts": torch.from_numpy(np.array(model._last_episode_starts)),
        }
        save_tensors(state, folder / "agent.pt")
        learning = {
            "counters": {name: getattr(model, name) for name in COUNTERS if hasattr(model, name)},
            "noise": [noise.noise_prev.tolist() for noise in _noises(model)],
            "generators": generators_state(),
            "action_space": model.action_space.np_random.bit_generator.state,
            "statistics": {name: value for name, value in self.statistics().items() if np.isfinite(value)},
        }
        (folder / "agent.json").write_text(json.dumps(learning))
        if isinstance(model, OffPolicyAlgorithm):
            save_buffer(cast(BaseBuffer, model.replay_buffer), folder / "replay.npz")

    def load(self, folder: Path, task: str, envs: VectorEnv[Any, Any, Any], budget: int) -> None:
        """Go on from `save`, in the middle of a task."""
        model = self._model
        state = load_tensors(folder / "agent.pt", model.device)
        learning = json.loads((folder / "agent.json").read_text())
        model.set_env(SB3Envs(envs), force_reset=False)
        model._last_obs = state["observations"].cpu().numpy()
        model._last_episode_starts = state["episode_starts"].cpu().numpy()
        model.num_timesteps = 0
        _, self._callback = model._setup_learn(budget, reset_num_timesteps=False)
        for name, values in state["modules"].items():
            recursive_getattr(model, name).load_state_dict(values)
        for name, value in state["variables"].items():
            recursive_getattr(model, name).data.copy_(value)
        for name, value in learning["counters"].items():
            setattr(model, name, value)
        for noise, previous in zip(_noises(model), learning["noise"], strict=True):
            noise.noise_prev = np.array(previous)
        for name, value in learning["statistics"].items():
            model.logger.record(name, value)
        if isinstance(model, OffPolicyAlgorithm):
            load_buffer(cast(BaseBuffer, model.replay_buffer), folder / "replay.npz")
        self._begun = True
        model.action_space.np_random.bit_generator.state = learning["action_space"]
        restore_generators(learning["generators"])

    def restart(self) -> None:
        """Begin new episodes after `load`, in environments that do not stand where `save` was called."""
        model = self._model
        assert model.env is not None
        model._last_obs = model.env.reset()  # type: ignore[assignment]
        model._last_episode_starts = np.ones(model.env.num_envs, np.bool_)
        if isinstance(model, OffPolicyAlgorithm):
            _cut_episodes(model)

    def save_policy(self, folder: Path) -> None:
        """Write the networks' weights, and a description that says what they belong to."""
        save_tensors(self._model.policy.state_dict(), folder / "policy.pt")
        spaces = {
            "observation_shape": list(self._model.observation_space.shape or ()),
            "action_shape": list(self._model.action_space.shape or ()),
        }
        (folder / "policy.json").write_text(json.dumps(self._description | spaces, indent=1) + "\n")

    def load_policy(self, folder: Path) -> None:
        """Take over the networks' weights."""
        self._model.policy.load_state_dict(self._stored_weights(folder))
        self._begun = True

    def load_between(self, first: Path, second: Path, share: float) -> None:
        """Take over the weights on the straight line between two stored policies: those of the first at share 0."""
        ends = [self._stored_weights(folder) for folder in (first, second)]
        weights = {
            name: torch.lerp(start, ends[1][name], share) if start.is_floating_point() else start
            for name, start in ends[0].items()
        }
        self._model.policy.load_state_dict(weights)

    def _stored_weights(self, folder: Path) -> dict[str, torch.Tensor]:
        return cast("dict[str, torch.Tensor]", load_tensors(folder / "policy.pt", self._model.device))

    def _learn_on_policy(self, model: OnPolicyAlgorithm) -> None:
        assert model.env is not None and self._callback is not None
        model.collect_rollouts(model.env, self._callback, model.rollout_buffer, n_rollout_steps=model.n_steps)
        model._update_current_progress_remaining(model.num_timesteps, model._total_timesteps)
        model.train()

    def _learn_off_policy(self, model: OffPolicyAlgorithm) -> None:
        assert model.env is not None and self._callback is not None and model.replay_buffer is not None
        rollout = model.collect_rollouts(
            model.env,
            self._callback,
            train_freq=cast(Any, model.train_freq),
            replay_buffer=model.replay_buffer,
            action_noise=model.action_noise,
            learning_starts=model.learning_starts,
        )
        if model.num_timesteps > model.learning_starts:
            updates = model.gradient_steps if model.gradient_steps >= 0 else rollout.episode_timesteps
            model.train(gradient_steps=updates, batch_size=model.batch_size)


def _cut_episodes(model: OffPolicyAlgorithm) -> None:
    """Mark the newest transitions as cut short: what follows them in the buffer is another task's."""
    buffer = model.replay_buffer
    assert buffer is not None
    if buffer.size() and buffer.handle_timeout_termination:
        buffer.timeouts[(buffer.pos - 1) % buffer.buffer_size] = 1


def _noises(model: Any) -> list[OrnsteinUhlenbeckActionNoise]:
    """The action noises that remember what they drew last."""
    noise: ActionNoise | None = model.action_noise
    each = noise.noises if isinstance(noise, VectorizedActionNoise) else [noise]
    return [noise for noise in each if isinstance(noise, OrnsteinUhlenbeckActionNoise)]
