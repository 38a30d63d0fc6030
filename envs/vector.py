"""The batched environment: one task in N simulations of the tabletop."""

from __future__ import annotations

import json
import traceback
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from gymnasium.error import ResetNeeded
from gymnasium.spaces import Box
from gymnasium.utils import seeding
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from etude.envs.errors import RequestError, RunError, in_words
from etude.envs.registry import task_class
from etude.envs.tabletop.camera import Camera
from etude.envs.tabletop.observation import PLACES, Observer, observation_space
from etude.envs.tabletop.scene import CONTROL_RATE, Scene
from etude.envs.task import Task

Observations = NDArray[np.float32]
Info = dict[str, Any]
Snapshot = dict[str, NDArray[Any]]

RENDERING: dict[str, Any] = {"render_modes": ["rgb_array"], "render_fps": CONTROL_RATE}
PRIVILEGED = (
    "tcp setpoint fingers gripper_speed cube cube_yaw cube_speed cube_in_drawer touched grasped handle drawer_opening "
    "drawer_locked button button_depth lever lever_angle goal pad latch"
).split()


class TabletopVectorEnv(VectorEnv[Observations, NDArray[Any], NDArray[Any]]):
    """N simulations of one task; an episode is truncated at the task's horizon and never terminated."""

    metadata: dict[str, Any] = RENDERING

    def __init__(
        self,
        task: str,
        num_envs: int = 1,
        *,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        threads: int = 1,
        render_mode: str | None = None,
        width: int = 640,
        height: int = 480,
    ) -> None:
        """Make the simulations; `reset` starts their episodes.

        Args:
            task: a registered task's id.
            num_envs: N.
            autoreset_mode: when a truncated episode is followed by the next: Gymnasium's three modes.
            threads: simulator threads; the results are the same bits at any number.
            render_mode: None or "rgb_array".
            width: of pictures, pixels.
            height: of pictures, pixels.

        Raises:
            RequestError: an unknown task or render mode, or a number below 1.
        """
        if render_mode not in (None, *self.metadata["render_modes"]):
            raise RequestError(f"render_mode {render_mode!r}: must be None or 'rgb_array'")
        for name, number in {"num_envs": num_envs, "threads": threads, "width": width, "height": height}.items():
            if number < 1:
                raise RequestError(f"{name} {number}: must be at least 1")
        self.task = task_class(task)()
        self.num_envs = num_envs
        self.autoreset_mode = AutoresetMode(autoreset_mode)
        self.metadata = {**RENDERING, "autoreset_mode": self.autoreset_mode}
        self.render_mode = render_mode
        self.single_observation_space = observation_space()
        self.single_action_space = Box(-1, 1, (4,), np.float32)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)

        try:
            self.scene = Scene(num_envs, threads, self.task.cubes, self.task.furniture)
        except RequestError as error:
            raise RequestError(f"task {task}: {error}") from error
        self._observe = Observer(self.scene)
        self._picture = (width, height)
        self._camera: Camera | None = None
        self._all = np.arange(num_envs)
        self._elapsed = np.zeros(num_envs, np.int64)
        self._over = np.zeros(num_envs, np.bool_)
        self._last_parts = np.zeros(num_envs, np.intp)
        self._started = np.zeros(num_envs, np.bool_)
        self._episodes = np.zeros(num_envs, np.int64)
        self._rngs: list[np.random.Generator | None] = [None] * num_envs
        self._seeds: list[int] = [-1] * num_envs

    @property  # type: ignore[misc]
    def np_random(self) -> tuple[np.random.Generator, ...]:  # type: ignore[override]
        """Each simulation's generator, as in Gymnasium's own vector environments."""
        return tuple(self._generator(i) for i in range(self.num_envs))

    @property
    def np_random_seed(self) -> tuple[int, ...]:  # type: ignore[override]
        """The seed of each simulation's generator."""
        return tuple(self._seeds[i] for i in range(self.num_envs) if self._generator(i))

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observations, Info]:
        """Start an episode in every simulation, or in those of `options["reset_mask"]`.

        Args:
            seed: one a simulation; an integer s stands for s, s + 1, ...; None goes on with the present generators.
            options: `reset_mask`, an (N,) bool array with at least one True.

        Raises:
            ValueError: the number of seeds or the mask's shape is wrong, or the mask is empty.
            TypeError: the mask is no array of bools.
            RequestError: the task gave a success of the wrong shape or type.
            RunError: the task raised something, or an episode starts with an observation that is not finite.
        """
        seeds = self._spread(seed)
        mask = self._mask(options)
        for i, own in enumerate(seeds):
            if mask[i] and own is not None:
                self.seed_with(i, *seeding.np_random(own))
        self._begin(np.flatnonzero(mask))
        observations = self._observe()
        self._require_start(observations, mask)
        return observations, self._info(mask)

    def step(
        self, actions: NDArray[Any]
    ) -> tuple[Observations, NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], Info]:
        """One control step of every simulation; in mode NEXT_STEP a new episode where the last one is over.

        Args:
            actions: (N, 4), clipped to [-1, 1]: the setpoint's move along x, y and z, and the gripper, as
                `Scene.control` has it.

        Raises:
            ResetNeeded: a simulation's episode has not begun, or is over in mode DISABLED.
            RequestError: actions of the wrong shape, or not finite.
            RunError: a simulation diverged, or the task raised something or gave a reward out of [0, 1].
        """
        moves = self._moves(actions)
        scene = self.scene
        new, live = self._next_episodes()
        if live.size:
            scene.control(moves)
            scene.step(live if new.size else None)
            self._elapsed[live] += 1
            self._ask("advance", live)
        if new.size:
            self._begin(new)
        scene.resting = {}
        observations, rewards = self._observe(), self._array("reward", self._ask("reward"), np.float64)
        self._require_sound(observations, rewards)
        if new.size:
            rewards[new] = 0
        truncated = self._elapsed >= self.task.horizon
        info = self._info()
        scene.resting = None
        if self.autoreset_mode != AutoresetMode.SAME_STEP:
            self._over[:] = truncated
        elif np.count_nonzero(truncated):
            info = self._final(truncated, observations, info["success"])
            self._last_parts = self.task.part(self.scene)
            self._begin(np.flatnonzero(truncated))
            observations = self._observe()
            self._require_start(observations, truncated)
            info |= self._info()
        return observations, rewards, np.zeros(self.num_envs, np.bool_), truncated, info

    def parts_asked(self, final: bool = False) -> NDArray[np.intp]:
        """Which of the task's parts each simulation is asked for, (N,), as indices into `task.parts`.

        Args:
            final: of the last observations of the episodes that ended in this step, not of the present ones.
        """
        return self._last_parts.copy() if final else self.task.part(self.scene)

    def privileged_state(self) -> dict[str, NDArray[Any]]:
        """What oracles read, copied, each (N, ...): words of scene and task, and `elapsed`, the steps so far.

        Raises:
            RequestError: what the task adds is no dict, or has a word that is there already.
            RunError: the task raised something.
        """
        words = {word: np.array(getattr(self.scene, word)) for word in PRIVILEGED}
        words["elapsed"] = self._elapsed.copy()
        own = self._ask("privileged")
        if not isinstance(own, Mapping):
            told = f"privileged gives {own!r:.60}, must be a dict of arrays by word"
            raise RequestError(f"task {self.task.id}: {told} ({self._place()})")
        if taken := words.keys() & own.keys():
            told = f"privileged gives {', '.join(sorted(taken))}, of which oracles read the scene's; take other words"
            raise RequestError(f"task {self.task.id}: {told} ({self._place()})")
        return words | {word: np.array(value) for word, value in own.items()}

    def snapshot(self) -> Snapshot:
        """Everything that a bit-exact continuation needs, as plain arrays."""
        states = [None if rng is None else rng.bit_generator.state for rng in self._rngs]
        return {
            "state": self.scene.rows(),
            "elapsed": self._elapsed.copy(),
            "over": self._over.copy(),
            "started": self._started.copy(),
            "episodes": self._episodes.copy(),
            "generators": _bytes({"states": states, "seeds": self._seeds}),
        }

    def restore(self, snapshot: Snapshot) -> None:
        """Go on from a snapshot of an environment of the same task and size.

        Raises:
            RequestError: the snapshot is of another size.
        """
        shape = self.scene.batch.state.shape
        if snapshot["state"].shape != shape:
            raise RequestError(f"snapshot of shape {snapshot['state'].shape}: this environment's is {shape}")
        self.scene.write(snapshot["state"])
        self._elapsed[:], self._over[:] = snapshot["elapsed"], snapshot["over"]
        self._started[:], self._episodes[:] = snapshot["started"], snapshot["episodes"]
        generators = json.loads(snapshot["generators"].tobytes())
        self._seeds = generators["seeds"]
        self._rngs = [None if state is None else _generator(state) for state in generators["states"]]

    def render(self) -> tuple[NDArray[np.uint8], ...] | None:
        """One picture of each simulation, (height, width, 3), or None without a render mode.

        Raises:
            RunError: this machine cannot draw.
        """
        if self.render_mode is None:
            return None
        if self._camera is None:
            self._camera = Camera(*self._picture, self.task.shows_goal, self.task.cubes, self.task.furniture)
        return tuple(self._camera.frame(row) for row in self.scene.rows())

    def close_extras(self, **kwargs: Any) -> None:
        """Free the renderer."""
        if self._camera is not None:
            self._camera.close()
            self._camera = None

    def seed_with(self, i: int, rng: np.random.Generator, seed: int) -> None:
        """Let simulation `i` draw its starts from `rng`, which was made from `seed`."""
        self._rngs[i], self._seeds[i], self._episodes[i] = rng, seed, 0

    def _generator(self, i: int) -> np.random.Generator:
        rng = self._rngs[i]
        if rng is None:
            rng, seed = seeding.np_random()
            self.seed_with(i, rng, seed)
        return rng

    def _begin(self, ids: NDArray[np.intp]) -> None:
        self.scene.home(ids)
        self._ask("reset", ids, [self._generator(i) for i in ids])
        self.scene.refresh(ids)
        self._elapsed[ids] = 0
        self._episodes[ids] += 1
        self._over[ids], self._started[ids] = False, True

    def _info(self, mask: NDArray[np.bool_] | None = None) -> Info:
        known = self.scene.resting or {}
        success = self._array("success", known[self.task] if self.task in known else self._ask("success"))
        self._require_shape("success", success)
        if success.dtype != np.bool_:
            raise RequestError(
                f"task {self.task.id}: success is of type {success.dtype}, must be bool ({self._place()})"
            )
        if mask is None:
            return {"success": success, "_success": np.ones(self.num_envs, np.bool_)}
        return {"success": success & mask, "_success": mask.copy()}

    def _final(self, over: NDArray[np.bool_], observations: Observations, success: NDArray[np.bool_]) -> Info:
        last = np.full(self.num_envs, None, dtype=object)
        for i in np.flatnonzero(over):
            last[i] = observations[i].copy()
        final = {"success": success & over, "_success": over.copy()}
        return {"final_obs": last, "_final_obs": over.copy(), "final_info": final, "_final_info": over.copy()}

    def _spread(self, seed: int | Sequence[int | None] | None) -> Sequence[int | None]:
        if seed is None:
            return [None] * self.num_envs
        if isinstance(seed, (int, np.integer)):
            return [int(seed) + i for i in range(self.num_envs)]
        if len(seed) != self.num_envs:
            raise ValueError(f"{len(seed)} seeds for {self.num_envs} environments: must be as many")
        return seed

    def _mask(self, options: dict[str, Any] | None) -> NDArray[np.bool_]:
        mask = (options or {}).get("reset_mask")
        if mask is None:
            return np.ones(self.num_envs, np.bool_)
        if not isinstance(mask, np.ndarray) or mask.dtype != np.bool_:
            raise TypeError(f"options['reset_mask'] must be a numpy array of bools, not {mask!r}")
        if mask.shape != (self.num_envs,) or not mask.any():
            raise ValueError(f"options['reset_mask'] must have shape ({self.num_envs},) and a True, not {mask!r}")
        return mask

    def _moves(self, actions: NDArray[Any]) -> NDArray[np.float64]:
        moves: NDArray[np.float64] = np.asarray(actions, np.float64)
        if moves.shape != (self.num_envs, 4):
            raise RequestError(f"task {self.task.id}: actions of shape {moves.shape}, must be ({self.num_envs}, 4)")
        if np.count_nonzero(np.isfinite(moves)) < moves.size:
            i = int(np.flatnonzero(~np.isfinite(moves).all(axis=1))[0])
            raise RequestError(f"task {self.task.id}: action {moves[i]} of environment {i} is not finite")
        return np.minimum(np.maximum(moves, -1), 1)

    def _next_episodes(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """The simulations in which this step begins an episode, and those in which it goes on with one."""
        if np.count_nonzero(self._started) < self.num_envs:
            raise ResetNeeded("reset the environment before its first step")
        if not np.count_nonzero(self._over):
            return self._all[:0], self._all
        new, live = np.flatnonzero(self._over), np.flatnonzero(~self._over)
        if self.autoreset_mode == AutoresetMode.DISABLED:
            raise ResetNeeded(f"the episodes of environments {new.tolist()} are over: reset them with a reset_mask")
        return new, live

    def _ask(self, what: str, *arguments: Any) -> Any:
        """Call a method of the task; what it raises is told with its name, an episode's seed and the step."""
        try:
            return getattr(self.task, what)(self.scene, *arguments)
        except (Exception, SystemExit) as error:
            place = self._place(int(arguments[0][0]) if arguments else 0)
            what += self._within(what, error)
            if isinstance(error, RequestError):
                raise RequestError(f"task {self.task.id}: {what}: {error} ({place})") from error
            told = f"{what} raised {in_words(error)} (ETUDE_TRACEBACK=1 shows where; {place})"
            raise RunError(f"task {self.task.id}: {told}") from error

    def _within(self, what: str, error: BaseException) -> str:
        """Which method of the task's, or of a part's, that `what` calls it was, as `: mark`; nothing if none."""
        within, prepare = "", getattr(getattr(self.task, "prepare", None), "__code__", None)
        for frame, _ in traceback.walk_tb(error.__traceback__):
            name, names = frame.f_code.co_name, frame.f_code.co_varnames
            owner = frame.f_locals.get(names[0]) if frame.f_code.co_argcount else None
            if isinstance(owner, Task) and name.isidentifier():
                own = "" if owner.id == self.task.id else f" of {owner.id}"
                within = "" if name == what and not own else f": {name}{own}"
            elif frame.f_code is prepare:  # In `compose` it is a function.
                within = ": prepare"
        return within

    def _place(self, i: int = 0) -> str:
        others = f", and {self.num_envs - 1} beside it" if self.num_envs > 1 else ""
        return f"seed {self._seeds[i]}, episode {self._episodes[i]} of that seed, step {self._elapsed[i]}{others}"

    def _array(self, what: str, given: Any, kind: type[Any] | None = None) -> NDArray[Any]:
        """What a method of the task gave, as an array of its own where a type is asked for."""
        try:
            return np.asarray(given) if kind is None else np.array(given, kind)
        except (TypeError, ValueError):
            told = f"{what} gives {' '.join(repr(given).split()):.60}, must be an array of shape ({self.num_envs},)"
            raise RequestError(f"task {self.task.id}: {told} ({self._place()})") from None

    def _require_shape(self, what: str, values: NDArray[Any]) -> None:
        if values.shape != (self.num_envs,):
            told = f"{what} has shape {values.shape}, must be ({self.num_envs},)"
            raise RequestError(f"task {self.task.id}: {told} ({self._place()})")

    def _require_start(self, observations: Observations, begun: NDArray[np.bool_]) -> None:
        broken = begun & ~np.isfinite(observations).all(axis=1)
        if broken.any():
            i = int(np.flatnonzero(broken)[0])
            words = [word for word, place in PLACES.items() if not np.isfinite(observations[i, place]).all()]
            told = f"environment {i} starts with an observation that is not finite in {', '.join(words)}"
            raise RunError(f"task {self.task.id}: {told} ({self._place(i)})")

    def _require_sound(self, observations: Observations, rewards: NDArray[np.float64]) -> None:
        self._require_shape("reward", rewards)
        warned = self.scene.batch.warning
        usual = np.count_nonzero((rewards >= 0) & (rewards <= 1)) + np.count_nonzero(np.isfinite(observations))
        if usual == rewards.size + observations.size and not np.count_nonzero(warned):
            return
        broken = ~np.isfinite(observations).all(axis=1) | warned.any(axis=(1, 2))
        if broken.any():
            i = int(np.flatnonzero(broken)[0])
            told = f"diverged at step {self._elapsed[i]}: {self.scene.warnings(i) or 'an observation is not finite'}"
        else:
            i = int(np.flatnonzero(~((rewards >= 0) & (rewards <= 1)))[0])
            told = f"got the reward {rewards[i]} at step {self._elapsed[i]}, must be in 0 to 1"
        seed, episode = self._seeds[i], self._episodes[i]
        raise RunError(f"task {self.task.id}: environment {i} (seed {seed}, episode {episode} of that seed) {told}")


def _bytes(value: Any) -> NDArray[np.uint8]:
    return np.frombuffer(json.dumps(value).encode(), np.uint8).copy()


def _generator(state: dict[str, Any]) -> np.random.Generator:
    generator = np.random.Generator(np.random.PCG64())
    generator.bit_generator.state = state
    return generator
