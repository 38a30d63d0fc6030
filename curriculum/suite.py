"""A suite: the ordered tasks, their budgets, seeds, evaluation, agent and method, checked before anything is made."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import accumulate
from math import factorial
from pathlib import Path
from typing import Annotated, Any, Literal, TypeGuard, get_args

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    TypeAdapter,
    ValidationError,
    ValidationInfo,
    field_validator,
)

from etude.curriculum.faults import first_fault
from etude.curriculum.imports import import_all
from etude.curriculum.library import absolute_imports, find_suite, read_mapping, shortened
from etude.curriculum.overrides import override
from etude.curriculum.yaml_text import dump
from etude.envs.errors import RequestError, nearest
from etude.envs.seeding import stream_seed

Regime = Literal["sequential", "scratch", "isolated", "joint", "scratch-total", "leave-one-out"]
REGIMES: tuple[Regime, ...] = get_args(Regime)

_PLAIN: TypeAdapter[Any] = TypeAdapter(Any)

CHECKPOINTS = 100_000
"""The most checkpoints that a task can have."""

ORDERS = 1_000
"""The most orders of the primitives that a suite can have."""

Whole = BeforeValidator(lambda value: int(value) if isinstance(value, float) and value.is_integer() else value)
"""Takes 1e6 for the integer it is."""

Steps = Annotated[int, Field(gt=0, le=10**12), Whole]
Seed = Annotated[int, Field(ge=0, lt=2**32), Whole]
Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$")]
Text = Annotated[str, Field(min_length=1)]
Order = Annotated[tuple[Text, ...], Field(strict=False)]


def _distinct(values: tuple[Any, ...]) -> tuple[Any, ...]:
    for value in values:
        if values.count(value) > 1:
            raise ValueError(f"holds {value} twice")
    return values


class _Settings(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class EvaluationConfig(_Settings):
    """When the agent is evaluated, and on how much.

    Attributes:
        every: environment steps between checkpoints, counted from each task's start.
        episodes: evaluation episodes a task at each checkpoint.
        also: more checkpoints, at these offsets after each task's start; one past a task's end is left out there.
    """

    every: Steps
    episodes: Annotated[int, Field(gt=0, le=100_000), Whole] = 20
    also: Annotated[tuple[Steps, ...], Field(strict=False)] = ()

    _no_twice = field_validator("also")(_distinct)


class AgentConfig(_Settings):
    """Which agent is trained.

    Attributes:
        algorithm: a Stable-Baselines3 algorithm by its name, or an agent of the user's as `module:Class`.
        environments: simulations that it acts in at once.
        parameters: its hyperparameters, by their names there; what is not given keeps its default.
    """

    algorithm: Text
    environments: Annotated[int, Field(gt=0, le=65_536), Whole] = 32
    parameters: dict[str, Any] = {}


class WandbConfig(_Settings):
    """Whether and where to the runs are fed to Weights & Biases."""

    mode: Literal["online", "offline", "disabled"] = "offline"
    project: Name = "etude"


class Suite(_Settings):
    """A resolved suite: all defaults written, a budget for every task.

    Attributes:
        name: the study's folder is `studies/<name>` unless told otherwise.
        tasks: task ids in the order of training; the last is the composition.
        budget: environment steps of training, for every task.
        seeds: one run of each regime a seed.
        regimes: how agents are trained.
        orders: those of the primitives that the sequential regime trains in; the first is that of `tasks`.
        evaluation: when and how much the agent is evaluated.
        agent: what is trained.
        method: the continual-learning method around it.
        task_id: whether the observation says which task of the suite it is (`onehot`) or not (`hidden`), and of a
            composition, which of its parts is asked for now (`part`).
        wandb: Weights & Biases.
        imports: modules by name, or files by absolute path, imported before the tasks are looked up.
    """

    name: Name
    tasks: Annotated[tuple[Text, ...], Field(strict=False, min_length=1)]
    budget: Annotated[dict[str, Steps], BeforeValidator(lambda v: _for_every_task(v))]
    seeds: Annotated[tuple[Seed, ...], Field(strict=False, min_length=1)] = (0, 1, 2)
    regimes: Annotated[tuple[Regime, ...], Field(strict=False, min_length=1)] = ("sequential", "scratch")
    orders: Annotated[tuple[Order, ...], Field(strict=False)] = Field(default=1, validate_default=True)
    evaluation: EvaluationConfig
    agent: AgentConfig
    method: Text = "finetune"
    task_id: Literal["onehot", "part", "hidden"] = "onehot"
    wandb: WandbConfig = WandbConfig()
    imports: Annotated[tuple[Text, ...], Field(strict=False)] = ()

    _no_twice = field_validator("tasks", "seeds", "regimes", "imports")(_distinct)

    @field_validator("budget")
    @classmethod
    def _every_task_has_one(cls, budget: dict[str, int], info: ValidationInfo) -> dict[str, int]:
        if "tasks" not in info.data:
            return budget
        tasks: tuple[str, ...] = info.data["tasks"]
        for key in budget:
            if key not in (*tasks, "default"):
                raise ValueError(f"names {key}, which is not a task of this suite; {nearest(key, tasks)}")
        for task in tasks:
            if task not in budget and "default" not in budget:
                raise ValueError(f"has neither a value for {task} nor a default")
        return {task: budget[task] if task in budget else budget["default"] for task in tasks}

    @field_validator("regimes")
    @classmethod
    def _has_one_to_leave_out(cls, regimes: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
        if "leave-one-out" in regimes and len(info.data.get("tasks", "  ")) < 2:
            raise ValueError("holds leave-one-out, which needs at least 2 tasks")
        return regimes

    @field_validator("orders", mode="before")
    @classmethod
    def _are_drawn(cls, orders: Any, info: ValidationInfo) -> Any:
        wanted = int(orders) if isinstance(orders, float) and orders.is_integer() else orders
        if isinstance(wanted, bool) or not isinstance(wanted, int) or "tasks" not in info.data:
            return orders
        primitives: tuple[str, ...] = info.data["tasks"][:-1]
        if wanted < 1:
            raise ValueError(f"is {wanted}, must be at least 1: the suite's own order")
        most = factorial(min(len(primitives), 12))
        if wanted > most:
            raise ValueError(f"is {wanted}, but {len(primitives)} primitives have no more than {most} orders")
        if wanted > ORDERS:
            raise ValueError(f"is {wanted:_}, must be at most {ORDERS:_}")
        return _draw_orders(primitives, wanted)

    @field_validator("orders")
    @classmethod
    def _begin_with_the_suites_own(
        cls, orders: tuple[tuple[str, ...], ...], info: ValidationInfo
    ) -> tuple[tuple[str, ...], ...]:
        if "tasks" not in info.data or "regimes" not in info.data:
            return orders
        own: tuple[str, ...] = info.data["tasks"][:-1]
        for order in orders:
            shown = f"[{', '.join(order)}]"
            if sorted(order) != sorted(own):
                raise ValueError(f"holds {shown}, which is no order of the primitives, {', '.join(own)}")
            if orders.count(order) > 1:
                raise ValueError(f"holds {shown} twice")
        orders = (own, *(order for order in orders if order != own))
        if len(orders) > ORDERS:
            raise ValueError(f"has {len(orders):_} entries, must have at most {ORDERS:_}")
        if len(orders) > 1 and "sequential" not in info.data["regimes"]:
            raise ValueError(f"has {len(orders)} entries, which only the sequential regime trains in; add it")
        return orders

    @property
    def composition(self) -> str:
        """The last task."""
        return self.tasks[-1]

    @property
    def ends(self) -> tuple[int, ...]:
        """b_1 .. b_N: the steps at which the tasks' own training ends in the sequential regime."""
        return tuple(accumulate(self.budget[task] for task in self.tasks))

    def to_yaml(self) -> str:
        """The text of a study's `suite.yaml`, which reads back as an equal suite."""
        return dump(self.model_dump())


def load_suite(name_or_path: str, overrides: Sequence[str] = (), begun: Callable[[Suite], bool] | None = None) -> Suite:
    """The suite of a YAML file, with overrides applied, defaults written, and everything checked.

    Its imports are imported first, so that what they register can be found.

    Args:
        name_or_path: a suite of ours by name (`quick`), or the path of a YAML file.
        overrides: changes as `key=value`, as in `seeds=[0,1]` or `agent.parameters.learning_rate=3e-4`.
        begun: called before the method and the agent are checked, which takes seconds; raises RequestError where the
            suite's folder cannot be a study's, and says whether it holds a study of this suite already. Then they were
            checked, and are not again, unless they are a user's own code.

    Raises:
        RequestError: the first thing wrong, in one line.
    """
    path = find_suite(name_or_path)
    settings = read_mapping(path)
    with _faults_of(f"suite {shortened(name_or_path)}"):
        settings = _with_absolute_imports(_with_defaults(Suite, settings), path.parent)
        settings = _with_absolute_imports(override(settings, overrides), Path.cwd())
        _check_tasks(settings)
        suite = _build(settings)
    checked = begun is not None and begun(suite)
    if checked and not suite.imports and ":" not in suite.agent.algorithm + suite.method:
        return suite
    with _faults_of(f"suite {shortened(name_or_path)}"):
        _check_training(suite)
    return suite


def read_suite(study: Path) -> Suite:
    """The resolved suite of a study, from its `suite.yaml`.

    It is read as it stands: neither its imports nor its tasks, agent or method need be there to read the results.

    Raises:
        RequestError: the folder holds no suite, or one that is not whole.
    """
    path = study / "suite.yaml"
    if not path.is_file():
        raise RequestError(f"{study}: not a study; it holds no suite.yaml")
    settings = read_mapping(path)
    with _faults_of(path):
        return _build(settings)


@contextmanager
def _faults_of(source: object) -> Iterator[None]:
    """Say of every wrong request in the block where it stands."""
    try:
        yield
    except RequestError as error:
        raise RequestError(f"{source}: {error}") from error


def _check_tasks(settings: dict[str, Any]) -> None:
    """Whether the tasks exist, in a right order: checked first, since a misspelt one makes its budget look wrong too.

    What is not a list of names is left for the model to refuse.
    """
    from etude.envs import get_task

    imports, tasks = settings.get("imports"), settings.get("tasks")
    if _are_names(imports):
        import_all(imports)
    if not _are_names(tasks):
        return
    for place, task in enumerate(tasks):
        with _faults_of(f"tasks.{place}"):
            spec = get_task(task)
        if spec.kind == "composition" and place < len(tasks) - 1:
            raise RequestError(f"tasks.{place}: {task} is a composition, which must be the last task")
        unlisted = [part for part in spec.parts if part not in tasks[:place]]
        if unlisted:
            raise RequestError(
                f"tasks: {task} is made of {', '.join(spec.parts)}; list {', '.join(unlisted)} before it"
            )


def _check_training(suite: Suite) -> None:
    """Whether the method and the agent exist, and whether the agent's rollouts fit into the suite's steps."""
    from etude.curriculum.agents.check import find_own, rollout_size
    from etude.curriculum.methods import check_method

    _check_spaces(suite.tasks)
    check_method(suite.method, find_own(suite.agent.algorithm))
    if "joint" in suite.regimes:
        _check_split(suite)
    rollout = rollout_size(suite.agent)
    counts = {f"budget.{task}": steps for task, steps in suite.budget.items()}
    counts |= {"evaluation.every": suite.evaluation.every}
    counts |= {f"evaluation.also.{place}": offset for place, offset in enumerate(suite.evaluation.also)}
    for key, steps in counts.items():
        if steps % rollout:
            raise RequestError(
                f"{key}: {steps:_} is no multiple of the agent's rollout of {rollout:_} steps; "
                f"try {_nearest_multiples(steps, rollout)}"
            )
    longest = max(suite.budget.values())
    if longest > suite.evaluation.every * CHECKPOINTS:
        raise RequestError(
            f"evaluation.every: {suite.evaluation.every:_} makes {longest // suite.evaluation.every:_} checkpoints "
            f"of a budget of {longest:_}, must be at most {CHECKPOINTS:_}"
        )
    for place, offset in enumerate(suite.evaluation.also):
        if offset >= longest:
            raise RequestError(
                f"evaluation.also.{place}: {offset:_} is past the end of every task, at most {longest:_}"
            )


def _check_split(suite: Suite) -> None:
    """Whether the joint regime can give every task as many of the agent's environments."""
    environments, tasks = suite.agent.environments, len(suite.tasks)
    if environments % tasks:
        raise RequestError(
            f"agent.environments: {environments:_} cannot be split evenly over {tasks} tasks, as the joint regime "
            f"does; try {_nearest_multiples(environments, tasks)}"
        )


def _nearest_multiples(number: int, of: int) -> str:
    below = number - number % of
    return " or ".join(f"{n:_}" for n in (below, below + of) if n)


def _check_spaces(tasks: Sequence[str]) -> None:
    from etude.envs import is_tabletop, make_vector

    if all(is_tabletop(task) for task in tasks):
        return
    spaces = {}
    for task in tasks:
        envs = make_vector(task, 1)
        spaces[task] = {"observations": envs.single_observation_space, "actions": envs.single_action_space}
        envs.close()
        for kind, space in spaces[task].items():
            if space != spaces[tasks[0]][kind]:
                raise RequestError(
                    f"tasks: {kind} of {task} are {space}, but of {tasks[0]} {spaces[tasks[0]][kind]}; "
                    "a suite's tasks share their spaces"
                )


def _build(settings: dict[str, Any]) -> Suite:
    try:
        return Suite.model_validate(settings)
    except ValidationError as error:
        raise RequestError(first_fault(error, Suite, settings)) from None


def _with_defaults(model: type[BaseModel], settings: dict[str, Any]) -> dict[str, Any]:
    """The settings with every default written out, as far as they are mappings, so that overrides reach them."""
    filled = dict(settings)
    for key, field in model.model_fields.items():
        inner = field.annotation
        if key not in filled and not field.is_required():
            filled[key] = _PLAIN.dump_python(field.get_default(), mode="json")
        elif isinstance(inner, type) and issubclass(inner, BaseModel) and isinstance(filled.get(key), dict):
            filled[key] = _with_defaults(inner, filled[key])
    return filled


def _for_every_task(budget: Any) -> Any:
    if isinstance(budget, list):
        raise ValueError("is a list; give one number, or a number a task, as in {reach: 40_960, default: 81_920}")
    return budget if isinstance(budget, dict) else {"default": budget}


def _draw_orders(primitives: tuple[str, ...], number: int) -> list[tuple[str, ...]]:
    """So many distinct orders, the primitives' own the first; a greater number goes on where a smaller one ends."""
    orders, draw = [primitives], 0
    while len(orders) < number:
        drawn = tuple(sorted(primitives, key=lambda task: stream_seed("order", draw, task)))
        if drawn not in orders:
            orders.append(drawn)
        draw += 1
    return orders


def _are_names(value: Any) -> TypeGuard[list[str]]:
    return isinstance(value, list) and all(isinstance(entry, str) for entry in value)


def _with_absolute_imports(settings: dict[str, Any], folder: Path) -> dict[str, Any]:
    imports = settings.get("imports")
    return settings | {"imports": absolute_imports(imports, folder)} if isinstance(imports, list) else settings
