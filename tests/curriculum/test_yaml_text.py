import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from etude.curriculum.yaml_text import dump, parse

TEXT = st.text(st.characters(exclude_categories=["Cs"]))
NUMBERS = st.integers() | st.floats(allow_nan=False)
PLAIN = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXT, lambda inner: st.lists(inner) | st.dictionaries(TEXT, inner)
)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("3e-4", 3e-4),
        ("1e-3", 1e-3),
        ("1E5", 1e5),
        (".5", 0.5),
        ("1.", 1.0),
        ("1_000.5", 1000.5),
        ("-.inf", -math.inf),
        ("61_440", 61_440),
        ("-5", -5),
        ("0", 0),
        ("true", True),
        ("null", None),
        ("", None),
    ],
)
def test_a_number_is_a_number(text: str, value: object) -> None:
    parsed = parse(text)
    assert parsed == value
    assert type(parsed) is type(value)


@pytest.mark.parametrize("text", ["010", "1:30", "yes", "off", "2020-01-01", "1__0", "0x10", "1e", ".", "-5-", ".nan"])
def test_what_only_old_yaml_would_convert_stays_text(text: str) -> None:
    assert parse(text) == text


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("{a: 1, b: {c: 1, c: 2}}", "line 1, column 18: key c is given twice"),
        ("1: 2", "a key must be a name"),
        ("? [1]\n: 2", "a key must be a name"),
        ("!!python/object:os.system x", "could not determine a constructor"),
        ("&a [*a]", "write the value itself, not an alias of it"),
        ("[1, 2", "line 1, column 6: expected ',' or ']'"),
        ("a: \x07", "special characters are not allowed"),
        ("[" * 1500, "nested too deeply"),
        ("a\n---\nb", "another document"),
    ],
)
def test_what_is_not_plain_yaml_is_refused_in_one_line(text: str, fault: str) -> None:
    with pytest.raises(ValueError) as raised:
        parse(text)
    assert fault in str(raised.value)
    assert "\n" not in str(raised.value)


@settings(deadline=None, max_examples=50)
@given(PLAIN)
def test_a_dumped_value_is_read_back_equal(value: object) -> None:
    parsed = parse(dump(value))
    assert parsed == value
    assert repr(parsed) == repr(value)
