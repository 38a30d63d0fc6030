from math import factorial
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from etude.curriculum import library
from etude.curriculum.suite import Suite, load_suite, read_suite
from etude.envs import get_task
from etude.envs.errors import RequestError

KNOWN = "known: pick-place, put-away, quick, retrieve, smoke, stack-from-table, stow, tidy"
MINIMAL = """
    name: mine
    tasks: [reach, press-button]
    budget: {reach: 4_096, default: 8_192}
    evaluation: {every: 2_048}
    agent: ppo
"""


def write(folder: Path, text: str = MINIMAL) -> str:
    path = folder / "mine.yaml"
    path.write_text(dedent(text), encoding="utf-8")
    return str(path)


def fault(*overrides: str, suite: str = "quick") -> str:
    with pytest.raises(RequestError) as raised:
        load_suite(suite, overrides)
    message = str(raised.value)
    assert "\n" not in message
    return message.removeprefix(f"suite {suite}: ")


@pytest.mark.parametrize("name", library.names("suites"))
def test_a_shipped_suite_loads_by_its_name(name: str) -> None:
    suite = load_suite(name)
    assert suite.name == name
    assert suite.seeds == (0, 1, 2)
    assert suite.regimes == ("sequential", "scratch")
    composition = get_task(suite.composition)
    assert composition.kind == "composition" and set(composition.parts) <= set(suite.tasks[:-1])


@pytest.mark.parametrize("name", library.names("agents"))
def test_quick_runs_with_every_shipped_agent(name: str) -> None:
    assert load_suite("quick", [f"agent={name}"]).agent.algorithm.lower() == name.partition("-")[0]


def test_a_suite_of_ones_own_gets_every_default(tmp_path: Path) -> None:
    suite = load_suite(write(tmp_path))
    assert suite.budget == {"reach": 4096, "press-button": 8192}
    assert (suite.composition, suite.ends) == ("press-button", (4096, 12_288))
    assert (suite.seeds, suite.regimes, suite.evaluation.episodes) == ((0, 1, 2), ("sequential", "scratch"), 20)
    assert (suite.method, suite.task_id, suite.wandb.mode) == ("finetune", "onehot", "offline")
    assert suite.agent == load_suite("quick").agent


def test_one_number_is_the_budget_of_every_task(tmp_path: Path) -> None:
    text = MINIMAL.replace("{reach: 4_096, default: 8_192}", "2_048")
    assert load_suite(write(tmp_path, text)).budget == {"reach": 2048, "press-button": 2048}


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("tasks.0=raech", "tasks.0: unknown task 'raech'; did you mean reach?"),
        ("tasks=[unlock-drawer,reach]", "tasks.0: unlock-drawer is a composition, which must be the last task"),
        (
            "tasks=[open-drawer,unlock-drawer]",
            "tasks: unlock-drawer is made of press-button, open-drawer; list press-button before it",
        ),
        ("tasks=[reach,reach]", "tasks holds reach twice"),
        ("tasks=[]", "tasks: [] is empty; it needs at least one entry"),
        ("tasks=reach", 'tasks: "reach" is not a list; write it in brackets, as in [reach, press-button]'),
        ("tasks=[1]", "tasks.0: 1 is not text; write it as in [reach, press-button]"),
        ("evaluation.evry=2048", "evaluation.evry: there is no such key; did you mean every?"),
        ("evalution.every=2048", "evalution: there is no such key; did you mean evaluation?"),
        ("agent.parametrs.gamma=1", "agent.parametrs: there is no such key; did you mean parameters?"),
        ("budget.raech=2048", "budget names raech, which is not a task of this suite; did you mean reach?"),
        ("budget={reach: 2048}", "budget has neither a value for press-button nor a default"),
        ("budget=-5", "budget: -5 must be above 0"),
        ("budget.default=0", "budget.default: 0 must be above 0"),
        ("budget=true", "budget: true is not an integer"),
        ("budget=1.5", "budget: 1.5 is not an integer"),
        (
            "budget=[1]",
            "budget is a list; give one number, or a number a task, as in {reach: 40_960, default: 81_920}",
        ),
        ("budget=.nan", 'budget: ".nan" is not an integer'),
        ("budget=.inf", "budget: Infinity is not an integer"),
        (
            "budget.reach=20_000",
            "budget.reach: 20_000 is no multiple of the agent's rollout of 2_048 steps; try 18_432 or 20_480",
        ),
        (
            "evaluation.every=1000",
            "evaluation.every: 1_000 is no multiple of the agent's rollout of 2_048 steps; try 2_048",
        ),
        (
            "evaluation.also=[2048,4097]",
            "evaluation.also.1: 4_097 is no multiple of the agent's rollout of 2_048 steps; try 4_096 or 6_144",
        ),
        ("evaluation.also=[2048,2048]", "evaluation.also holds 2048 twice"),
        ("budget=9223372036854775808", "budget: 9223372036854775808 must be at most 1_000_000_000_000"),
        ("evaluation.every=2_000_000_000_000", "evaluation.every: 2000000000000 must be at most 1_000_000_000_000"),
        ("evaluation.episodes=100000000000", "evaluation.episodes: 100000000000 must be at most 100_000"),
        (
            "budget=409_600_000_000",
            "evaluation.every: 20_480 makes 20_000_000 checkpoints of a budget of 409_600_000_000, "
            "must be at most 100_000",
        ),
        ("evaluation.episodes=0", "evaluation.episodes: 0 must be above 0"),
        ("evaluation.episodes=true", "evaluation.episodes: true is not an integer"),
        ("seeds=[1,1]", "seeds holds 1 twice"),
        ("seeds=[-1]", "seeds.0: -1 must be at least 0"),
        ("seeds=[4294967296]", "seeds.0: 4294967296 must be below 4294967296"),
        ("seeds=[]", "seeds: [] is empty; it needs at least one entry"),
        ("seeds=3", "seeds: 3 is not a list; write it in brackets, as in [0, 1]"),
        (
            "regimes=[joined]",
            'regimes.0: "joined" is not one of sequential, scratch, isolated, joint, scratch-total, leave-one-out',
        ),
        ("regimes=[scratch,scratch]", "regimes holds scratch twice"),
        ("task_id=oneht", 'task_id: "oneht" is not one of onehot, part, hidden'),
        ("wandb.mode=off", 'wandb.mode: "off" is not one of online, offline, disabled'),
        ("wandb=disabled", 'wandb: "disabled" is not a mapping from keys to values'),
        ("agent=sec", "agent: there is no agent 'sec'; did you mean sac?"),
        ("agent=3", "agent: 3 is not a mapping from keys to values"),
        ("agent={environments: 32}", "agent.algorithm: is missing, and has no default"),
        ("agent.environments=2.5", "agent.environments: 2.5 is not an integer"),
        ("agent=PPO", "agent: there is no agent 'PPO'; did you mean ppo?"),
        (
            "agent.algorithm=os:",
            "agent.algorithm: {\"os\": null} is a mapping, not text; a word with ':' after it makes one",
        ),
        ("imports=[.]", "imports: .: neither a module's name nor a file ending in .py, as in lab, lab:Task or lab.py"),
        (
            'imports=[""]',
            "imports: '': neither a module's name nor a file ending in .py, as in lab, lab:Task or lab.py",
        ),
        ("agent.environments=1000000000000", "agent.environments: 1000000000000 must be at most 65_536"),
        ("orders=0", "orders is 0, must be at least 1: the suite's own order"),
        ("orders=7", "orders is 7, but 3 primitives have no more than 6 orders"),
        (
            "orders=true",
            "orders: true is not a list; write it in brackets, as in [[press-button, reach]], or say how many",
        ),
        (
            "orders=[[reach, press-button]]",
            "orders holds [reach, press-button], which is no order of the primitives, reach, press-button, open-drawer",
        ),
        (
            "orders=[[open-drawer, reach, press-button], [open-drawer, reach, press-button]]",
            "orders holds [open-drawer, reach, press-button] twice",
        ),
        ("imports=[no_such_module]", "imports: no_such_module: ModuleNotFoundError: No module named 'no_such_module'"),
    ],
)
def test_a_wrong_value_is_told_with_its_key_and_what_would_be_right(override: str, message: str) -> None:
    assert fault(override) == message


@pytest.mark.parametrize("name", ["a/b", "..", ".hidden", "", "a" * 65, "a b", "é"])
def test_a_name_that_cannot_be_a_folder_is_refused(name: str) -> None:
    assert fault(f'name="{name}"').endswith(
        "is not a plain name; use letters, digits, '-', '_' and '.', a letter or digit first"
    )


@pytest.mark.parametrize(
    ("override", "word"),
    [
        ("method=finetun", "finetune"),
        ("agent.algorithm=POP", "PPO"),
        ("agent.parameters.learning_rat=1e-3", "learning_rate"),
    ],
)
def test_an_unknown_method_algorithm_or_hyperparameter_gets_the_nearest(override: str, word: str) -> None:
    message = fault(override)
    assert override.partition("=")[0].split(".")[-1].removesuffix("algorithm") in message
    assert word in message


def test_an_offset_past_every_tasks_end_is_refused() -> None:
    longest = max(load_suite("quick").budget.values())
    assert fault(f"evaluation.also=[{longest}]").startswith(
        f"evaluation.also.0: {longest:_} is past the end of every task"
    )


def test_of_several_faults_a_misspelt_key_is_told_first() -> None:
    assert fault("seeds=[-1]", "evaluation.evry=0").startswith("evaluation.evry: there is no such key")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("quik", "quik: there is no such suite; did you mean quick?"),
        ("nowhere/smoke.yaml", "nowhere/smoke.yaml: there is no such suite; did you mean smoke?"),
        (
            "/tmp",
            f"/tmp: a folder, not a suite's YAML file; {KNOWN}",
        ),
        (
            ".",
            f".: a folder, not a suite's YAML file; {KNOWN}",
        ),
        (
            "x" * 5000 + ".yaml",
            f"there is no such suite; {KNOWN}",
        ),
    ],
)
def test_an_absent_suite_gets_the_nearest_names(name: str, message: str) -> None:
    assert message in fault(suite=name)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "holds nothing, not a mapping from keys to values"),
        (b"- 1", "holds a list, not a mapping from keys to values"),
        (b"quick", "holds 'quick', not a mapping from keys to values"),
        (b"a: [1", "not YAML that can be read here: line 1, column 6:"),
        (b"a: 1\na: 2", "key a is given twice"),
        (b"a: 1" + b"0" * 5000, "not YAML that can be read here: a number in it has thousands of digits"),
        (b"a: " + b"b" * 1_000_000, "larger than 1_000_000 bytes, which no suite is"),
        (b"\xff\xfe\x00", "not YAML that can be read here"),
    ],
)
def test_a_file_that_holds_no_mapping_is_refused(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "mine.yaml"
    path.write_bytes(content)
    assert message in fault(suite=str(path))


def test_a_file_beside_the_suite_can_bring_a_task(tmp_path: Path) -> None:
    (tmp_path / "more_tasks.py").write_text(
        dedent("""
        from etude.envs import Task, get_task, register_task

        class HoldStill(type(get_task("reach")) and Task):
            "Do nothing, and keep doing it."
            id = "hold-still"
            horizon = 10
            starts = "from home"
            def reset(self, scene, ids, rngs): ...
            def reward(self, scene): ...
            def success(self, scene): ...

        register_task(HoldStill)
        """)
    )
    text = MINIMAL.replace("press-button", "hold-still") + "    imports: [more_tasks.py]\n"
    suite = load_suite(write(tmp_path, text))
    assert suite.composition == "hold-still"
    assert suite.imports == (str(tmp_path / "more_tasks.py"),)
    assert load_suite(write(tmp_path, text)) == suite


@pytest.mark.parametrize(
    ("code", "message"),
    [
        (None, "there is no such file"),
        ("raise ValueError('two\\nlines')", "ValueError: two lines"),
        ("raise SystemExit", "SystemExit: no reason given"),
        ("import", "SyntaxError: invalid syntax (broken.py, line 1)"),
        ("from etude.envs import get_task; get_task('raech')", "unknown task 'raech'; did you mean reach?"),
    ],
)
def test_an_import_that_fails_gives_its_own_error(tmp_path: Path, code: str | None, message: str) -> None:
    path = tmp_path / "broken.py"
    if code is not None:
        path.write_text(code)
    suite = write(tmp_path, MINIMAL + "    imports: [broken.py]\n")
    assert fault(suite=suite) == f"imports: {path}: {message}"


def test_reading_a_study_needs_neither_its_imports_nor_its_tasks(tmp_path: Path) -> None:
    suite = load_suite("quick").model_copy(update={"imports": ("/gone.py",), "method": "gone"})
    (tmp_path / "suite.yaml").write_text(suite.to_yaml())
    assert read_suite(tmp_path) == suite


def test_a_folder_without_a_whole_suite_is_not_a_study(tmp_path: Path) -> None:
    with pytest.raises(RequestError, match="not a study; it holds no suite.yaml"):
        read_suite(tmp_path)
    (tmp_path / "suite.yaml").write_text("name: quick")
    with pytest.raises(RequestError, match="suite.yaml: tasks: is missing"):
        read_suite(tmp_path)
    (tmp_path / "suite.yaml").write_text("name: [")
    with pytest.raises(RequestError) as raised:
        read_suite(tmp_path)
    assert str(raised.value).count("suite.yaml") == 1


def test_a_whole_number_with_an_exponent_is_an_integer() -> None:
    suite = load_suite("quick", ["budget=2048e2", "evaluation.episodes=1e1", "agent.environments=3.2e1"])
    assert suite.budget["reach"] == 204_800 and type(suite.budget["reach"]) is int
    assert (suite.evaluation.episodes, suite.agent.environments) == (10, 32)


def test_what_is_long_is_not_told_whole() -> None:
    assert len(fault("x" * 5000)) < 200
    assert len(fault("agent=" + "x" * 5000)) < 200
    with pytest.raises(RequestError) as raised:
        load_suite("x" * 5000)
    assert len(str(raised.value)) < 200


NAMES = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}", fullmatch=True)
TEXT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1)
STEPS = st.integers(1, 10**12)
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)


@st.composite
def resolvable(draw: st.DrawFn) -> dict[str, Any]:
    tasks = draw(st.lists(TEXT.filter(lambda task: task != "default"), min_size=1, max_size=4, unique=True))
    return {
        "name": draw(NAMES),
        "tasks": tasks,
        "budget": draw(STEPS | st.fixed_dictionaries({task: STEPS for task in tasks})),
        "seeds": draw(st.lists(st.integers(0, 2**32 - 1), min_size=1, max_size=4, unique=True)),
        "regimes": draw(st.sampled_from([["sequential"], ["scratch"], ["scratch", "sequential"]])),
        "evaluation": {"every": draw(STEPS), "also": draw(st.lists(STEPS, max_size=3, unique=True))},
        "agent": {"algorithm": draw(TEXT), "parameters": draw(st.dictionaries(TEXT, VALUES, max_size=3))},
        "method": draw(TEXT),
        "task_id": draw(st.sampled_from(["onehot", "hidden"])),
        "wandb": {"mode": draw(st.sampled_from(["online", "offline", "disabled"])), "project": draw(NAMES)},
        "imports": draw(st.lists(TEXT, max_size=2, unique=True)),
    }


@settings(deadline=None, max_examples=50)
@given(resolvable())
def test_a_resolved_suite_is_read_back_equal(tmp_path_factory: pytest.TempPathFactory, values: dict[str, Any]) -> None:
    suite = Suite.model_validate(values)
    study = tmp_path_factory.mktemp("study")
    (study / "suite.yaml").write_text(suite.to_yaml(), encoding="utf-8")
    assert read_suite(study) == suite


def test_a_seed_may_be_written_with_an_exponent() -> None:
    assert load_suite("smoke", ["seeds=[1e0, 2]"]).seeds == (1, 2)


def test_orders_are_counted_with_the_suites_own_which_is_the_first(tmp_path: Path) -> None:
    own, other = ("reach", "press-button", "open-drawer"), ("open-drawer", "reach", "press-button")
    assert load_suite("quick").orders == (own,)
    assert load_suite("quick", [f"orders=[[{', '.join(other)}]]"]).orders == (own, other)
    assert load_suite("quick", [f"orders=[[{', '.join(other)}], [{', '.join(own)}]]"]).orders == (own, other)
    assert load_suite("quick", ["tasks=[reach]", "orders=1"]).orders == ((),)
    suite = load_suite("quick", ["orders=4"])
    (tmp_path / "suite.yaml").write_text(suite.to_yaml())
    assert read_suite(tmp_path) == suite


@given(primitives=st.integers(0, 4), number=st.integers(1, 24))
def test_drawn_orders_are_distinct_and_more_of_them_begin_with_the_fewer(primitives: int, number: int) -> None:
    tasks = [f"task{i}" for i in range(primitives + 1)]

    def orders(number: int) -> tuple[tuple[str, ...], ...]:
        settings = {"name": "drawn", "tasks": tasks, "budget": 8, "orders": number, "evaluation": {"every": 8}}
        return Suite.model_validate(settings | {"agent": {"algorithm": "PPO"}}).orders

    most = factorial(primitives)
    drawn = orders(min(number, most))
    assert len(set(drawn)) == len(drawn) == min(number, most)
    assert drawn[0] == tuple(tasks[:-1]) and all(sorted(order) == sorted(tasks[:-1]) for order in drawn)
    assert orders(most)[: len(drawn)] == drawn


def test_regimes_that_a_suite_cannot_have_are_refused(tmp_path: Path) -> None:
    assert fault("regimes=[scratch]", "orders=2") == (
        "orders has 2 entries, which only the sequential regime trains in; add it"
    )
    assert fault("tasks=[reach]", "regimes=[leave-one-out]") == (
        "regimes holds leave-one-out, which needs at least 2 tasks"
    )
    assert fault("regimes=[joint]", "agent.environments=30") == (
        "agent.environments: 30 cannot be split evenly over 4 tasks, as the joint regime does; try 28 or 32"
    )
    assert fault("regimes=[joint]", "agent.environments=3").endswith("try 4")
    assert fault(
        "tasks=[reach, press-button, open-drawer, lift, carry, place, push, stack]", "budget=40_960", "orders=1_001"
    ) == ("orders is 1_001, must be at most 1_000")


def test_what_was_checked_when_a_study_was_begun_is_not_checked_again_but_a_users_own_code(tmp_path: Path) -> None:
    path = write(tmp_path)
    unfit = "budget=2_049"
    assert set(load_suite(path, [unfit], lambda _: True).budget.values()) == {2049}
    with pytest.raises(RequestError, match="no multiple"):
        load_suite(path, [unfit], lambda _: False)
    with pytest.raises(RequestError, match="cannot be imported"):
        load_suite(path, [unfit, "method=nowhere_to_be_found:Method"], lambda _: True)
