"""YAML as this project reads it: plain values only, `1e-3` a number, `010` and `yes` text, a key only once."""

import math
import re
from typing import Any

import yaml

_DIGITS = r"\d(?:_?\d)*"
_INT = re.compile(r"[-+]?(?:0|[1-9](?:_?\d)*)$")
_FLOAT = re.compile(
    rf"[-+]?(?:(?:{_DIGITS}\.(?:{_DIGITS})?|\.{_DIGITS})(?:[eE][-+]?\d+)?|{_DIGITS}[eE][-+]?\d+|\.(?:inf|Inf|INF))$"
)
_BOOL = re.compile(r"(?:true|True|TRUE|false|False|FALSE)$")
_NULL = re.compile(r"(?:~|null|Null|NULL|)$")


class _Loader(yaml.SafeLoader):
    """Safe, with YAML 1.2's idea of a number plus digit groups, and no key twice, and no aliases."""

    yaml_implicit_resolvers: dict[str, Any] = {}

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            mark = self.peek_event().start_mark  # type: ignore[no-untyped-call]
            raise yaml.composer.ComposerError(None, None, "write the value itself, not an alias of it", mark)
        return super().compose_node(parent, index)

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        keys: set[str] = set()
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode) or key.tag != "tag:yaml.org,2002:str":
                raise yaml.constructor.ConstructorError(None, None, "a key must be a name", key.start_mark)
            if key.value in keys:
                raise yaml.constructor.ConstructorError(None, None, f"key {key.value} is given twice", key.start_mark)
            keys.add(key.value)
        return super().construct_mapping(node, deep)


class _Dumper(yaml.SafeDumper):
    """PyYAML's, which also quotes text that the loader above would read as a number."""

    yaml_implicit_resolvers: dict[str, Any] = {k: list(v) for k, v in yaml.SafeDumper.yaml_implicit_resolvers.items()}

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _represent_text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    """Quoted and escaped where PyYAML's plainer styles would not bring every line break back."""
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=None if text.isprintable() else '"')


_Dumper.add_representer(str, _represent_text)
_Loader.add_implicit_resolver("tag:yaml.org,2002:bool", _BOOL, list("tTfF"))
_Loader.add_implicit_resolver("tag:yaml.org,2002:int", _INT, list("-+0123456789"))
_Loader.add_implicit_resolver("tag:yaml.org,2002:null", _NULL, ["~", "n", "N", ""])
for _class in (_Loader, _Dumper):
    _class.add_implicit_resolver("tag:yaml.org,2002:float", _FLOAT, list("-+0123456789."))


def parse(text: str) -> Any:
    """The plain value (None, bool, int, float, str, list, dict) that a YAML text holds.

    Raises:
        ValueError: it is not YAML, repeats a key, or uses a tag; one line that says where.
    """
    try:
        return yaml.load(text, Loader=_Loader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        where = f"line {mark.line + 1}, column {mark.column + 1}: " if mark else ""
        raise ValueError(f"{where}{error.problem or error.context}") from None
    except yaml.YAMLError as error:
        raise ValueError(" ".join(str(error).split())) from None
    except ValueError:
        raise ValueError("a number in it has thousands of digits") from None
    except RecursionError:
        raise ValueError("nested too deeply") from None


def dump(value: Any) -> str:
    """The YAML text that `parse` reads back as an equal value."""
    return yaml.dump(
        value, Dumper=_Dumper, sort_keys=False, allow_unicode=True, default_flow_style=None, width=math.inf
    )
