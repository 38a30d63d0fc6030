"""Python objects by name, as YAML can say them: `module:Name`."""

from difflib import get_close_matches
from typing import Any

from etude.curriculum.imports import find_module
from etude.envs.errors import RequestError, nearest


def resolve_object(name: str, key: str) -> Any:
    """The object that `module:Name` names.

    Args:
        name: such as `torch.nn:Tanh`.
        key: where it stands, for the message.

    Raises:
        RequestError: the module cannot be imported, or has no such name.
    """
    if not is_object_name(name):
        raise RequestError(f"{key}: {name!r:.60} does not name an object, as module:Name does")
    module_name, _, attribute = name.partition(":")
    try:
        module = find_module(module_name)
    except Exception as error:
        reason = " ".join(str(error).split())
        raise RequestError(f"{key}: {name!r}: {module_name!r} cannot be imported ({reason})") from None
    if not hasattr(module, attribute):
        close = get_close_matches(attribute, _public(module), cutoff=0.5)
        hint = f"; {nearest(attribute, close)}" if close else ""
        raise RequestError(f"{key}: {name!r}: {module_name} has no {attribute!r}{hint}")
    return getattr(module, attribute)


def is_object_name(value: Any) -> bool:
    """Whether a value of YAML's has the form `module:Name`."""
    if not isinstance(value, str) or value.count(":") != 1:
        return False
    module, _, name = value.partition(":")
    return all(part.isidentifier() for part in (*module.split("."), name))


def _public(module: Any) -> list[str]:
    return [name for name in vars(module) if not name.startswith("_")]
