import io

from rich.console import Console

from etude.curriculum.report.numbers import print_numbers


def test_long_numbers_cut_no_other_column_at_80_columns() -> None:
    console = Console(file=io.StringIO(), width=80)
    metric = {
        "value": 551_112_704,
        "reason": None,
        "direction": "lower",
        "seeds": {"counted": [0, 1], "planned": [0, 1, 2]},
        "range": {"low": 517_214_208, "high": 551_112_704},
        "interval": None,
        "labels": None,
    }
    print_numbers(console, {"metrics": {"peak_mem": metric, "time_to_threshold_sequential": metric}})
    assert isinstance(console.file, io.StringIO)
    text = console.file.getvalue()
    assert "…" not in text and text.count("2 of 3") == 2 and text.count("517,214,208 to") == 2
    assert max(map(len, text.splitlines())) <= 80
