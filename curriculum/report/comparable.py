"""Whether studies may stand side by side: where tasks, oracles, simulator or training differ, they may not."""

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

from etude.curriculum.metrics.curves import Curves
from etude.curriculum.study import StudyFolder

_SAME = ("budget", "evaluation")


def differences(studies: Mapping[str, Curves]) -> list[str]:
    """Why studies must not be compared, each reason one line; none where they may.

    Of a task that two of them share, the fingerprints must be the same: version, sources, simulator, episodes.
    Studies of the same tasks must also have trained for the same steps, and been evaluated alike.

    Args:
        studies: by the names that they are told apart by.
    """
    marks = {name: _fingerprints(curves) for name, curves in studies.items()}
    found = []
    for one, other in combinations(studies, 2):
        found += [f"{one} and {other}: {what}" for what in _tasks(marks[one], marks[other])]
        if studies[one].suite.tasks == studies[other].suite.tasks:
            found += [f"{one} and {other}: {what}" for what in _training(studies[one], studies[other])]
    return found


def differing_keys(suites: Sequence[Mapping[str, Any]]) -> list[str]:
    """The dotted keys of resolved suites that are not the same in all of them; the name and W&B do not count."""
    flat = [dict(_flat(suite)) for suite in suites]
    keys = dict.fromkeys(key for one in flat for key in one)
    return [key for key in keys if key != "name" and not key.startswith("wandb.") and _differ(flat, key)]


def flattened(suite: Mapping[str, Any]) -> dict[str, Any]:
    """A resolved suite by dotted keys."""
    return dict(_flat(suite))


def _differ(flat: Sequence[Mapping[str, Any]], key: str) -> bool:
    return any(one.get(key) != flat[0].get(key) for one in flat)


def _flat(settings: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in settings.items():
        if isinstance(value, dict) and value:
            yield from _flat(value, f"{above}{key}.")
        else:
            yield f"{above}{key}", value


def _fingerprints(curves: Curves) -> dict[str, dict[str, Any]]:
    try:
        stored = json.loads(StudyFolder(curves.study).references.read_bytes())
        return {task: dict(stored[task]["fingerprint"]) for task in curves.suite.tasks if task in stored}
    except (OSError, ValueError, KeyError, TypeError):
        return {}


def _tasks(one: Mapping[str, dict[str, Any]], other: Mapping[str, dict[str, Any]]) -> Iterator[str]:
    for task in one:
        if task not in other:
            continue
        for key in dict.fromkeys((*one[task], *other[task])):
            first, second = one[task].get(key), other[task].get(key)
            if first != second:
                yield f"{task} has another {key}, {_shown(first)} and {_shown(second)}"


def _training(one: Curves, other: Curves) -> Iterator[str]:
    flat = [dict(_flat({key: curves.suite.model_dump()[key] for key in _SAME})) for curves in (one, other)]
    for key in dict.fromkeys((*flat[0], *flat[1])):
        if flat[0].get(key) != flat[1].get(key):
            yield f"{key} is {_shown(flat[0].get(key))} and {_shown(flat[1].get(key))}"


def _shown(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 16 else f"{text[:12]}…"
