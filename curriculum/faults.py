"""One line for the first thing wrong in a suite's settings: its dotted key, its value, what would be right."""

import json
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from etude.envs.errors import nearest

_WRONG_KIND = {
    "int_type": "is not an integer",
    "int_from_float": "is not an integer",
    "int_parsing_size": "is too large a number",
    "dict_type": "is not a mapping from keys to values",
    "model_type": "is not a mapping from keys to values",
    "too_short": "is empty; it needs at least one entry",
    "string_too_short": "is empty",
}


_LISTS = {
    "tasks": "[reach, press-button]",
    "regimes": "[sequential, scratch]",
    "orders": "[[press-button, reach]], or say how many",
    "imports": "[tasks.py]",
}


def first_fault(error: ValidationError, model: type[BaseModel], settings: Any) -> str:
    """The first fault that validating `settings` as a `model` found; misspelt keys before all else."""
    faults = error.errors(include_url=False)
    fault = next((fault for fault in faults if fault["type"] == "extra_forbidden"), faults[0])
    path = _path(fault["loc"], settings)
    if fault["type"] == "extra_forbidden":
        return f"{path}: there is no such key; {nearest(str(fault['loc'][-1]), _keys(model, fault['loc'][:-1]))}"
    if fault["type"] == "missing":
        return f"{path}: is missing, and has no default"
    if fault["type"] == "value_error":
        return f"{path} {fault['ctx']['error']}"
    return f"{path}: {_shown(fault['input'])} {_what(fault)}"


def _what(fault: ErrorDetails) -> str:
    context = fault.get("ctx", {})
    match fault["type"]:
        case "greater_than":
            return f"must be above {context['gt']}"
        case "greater_than_equal":
            return f"must be at least {context['ge']}"
        case "less_than_equal":
            return f"must be at most {context['le']:_}"
        case "less_than":
            return f"must be below {context['lt']}"
        case "literal_error":
            options = [option.strip("'") for option in context["expected"].replace(" or ", ", ").split(", ")]
            return f"is not one of {', '.join(options)}"
        case "string_pattern_mismatch":
            return "is not a plain name; use letters, digits, '-', '_' and '.', a letter or digit first"
        case "tuple_type":
            return f"is not a list; write it in brackets, as in {_LISTS.get(str(fault['loc'][-1]), '[0, 1]')}"
        case "string_type" if isinstance(fault["input"], dict):
            return "is a mapping, not text; a word with ':' after it makes one"
        case "string_type":
            example = _LISTS.get(str(fault["loc"][0]))
            return "is not text; " + (f"write it as in {example}" if example else "put it in quotes")
        case kind:
            return _WRONG_KIND.get(kind, f"is wrong: {fault['msg']}")


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=list)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _path(loc: tuple[int | str, ...], settings: Any) -> str:
    """The dotted key of a fault, as far as the settings really reach (`budget: 5` stands for a whole mapping)."""
    keys: list[str] = []
    for key in loc:
        if not isinstance(settings, dict | list | tuple):
            break
        keys.append(" ".join(str(key).split()))
        known = key in settings if isinstance(settings, dict) else isinstance(key, int) and key < len(settings)
        settings = settings[key] if known else {}  # type: ignore[index]
    return ".".join(keys)


def _keys(model: type[BaseModel], loc: tuple[int | str, ...]) -> list[str]:
    for key in loc:
        inner = model.model_fields[str(key)].annotation
        assert isinstance(inner, type) and issubclass(inner, BaseModel)
        model = inner
    return list(model.model_fields)
