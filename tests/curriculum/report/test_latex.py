import re
import shutil
import subprocess
from pathlib import Path

import pytest

from etude.curriculum.report.latex import ROWS
from etude.curriculum.report.tables import Column, Table

SENTENCE = "reach: no two checkpoints after its own end lie within 4096 steps, 10% of its budget"
SMALL = Table(
    "small", "Scores of 100% & more_", [Column("task"), Column("score"), Column("share", ".0%")], [["a, b", 1 / 3, 0.5]]
)
LONG_TEXT = Table("text", "Why", [Column("metric"), Column("reason")], [["windowed_forgetting", SENTENCE], ["x", "y"]])
TWO_TEXTS = Table("texts", "Both", [Column("warning"), Column("reason")], [[SENTENCE, SENTENCE], ["x", "y"]])
MANY_NUMBERS = Table(
    "numbers",
    "Much",
    [
        Column("metric"),
        *(Column(f"highest seed of {place}", "z.2f") for place in range(7)),
        Column("why", printed=False),
    ],
    [["time_to_threshold_sequential", *[12345.678] * 7, SENTENCE]],
)
MANY_ROWS = Table("rows", "Long", [Column("metric"), Column("value")], [[f"m{row}", row] for row in range(ROWS + 1)])
ALL = (SMALL, LONG_TEXT, TWO_TEXTS, MANY_NUMBERS, MANY_ROWS)


def test_latex_escapes_what_it_would_read_as_its_own() -> None:
    latex = SMALL.latex()
    assert r"\caption{Scores of 100\% \& more\_}" in latex
    assert r"a, b & 0.3 & 50\% \\" in latex
    assert r"\begin{tabular}{lrr}" in latex
    assert latex.startswith(r"% needs \usepackage{booktabs}")


def test_text_too_long_for_the_line_is_broken() -> None:
    latex = LONG_TEXT.latex()
    share = re.search(r"\\begin\{tabular\}\{l>\{\\raggedright\\arraybackslash\}p\{(0\.\d+)\\linewidth\}\}", latex)
    assert share is not None and 0.4 < float(share[1]) < 0.8
    assert latex.startswith(r"% needs \usepackage{array,booktabs}")


def test_every_text_too_long_for_the_line_is_broken() -> None:
    shares = [float(share) for share in re.findall(r"p\{(0\.\d+)\\linewidth\}", TWO_TEXTS.latex())]
    assert len(shares) == 2 and 0.8 < sum(shares) < 1


def test_many_numbers_are_set_small_and_what_explains_them_is_left_out() -> None:
    latex = MANY_NUMBERS.latex()
    assert r"\footnotesize" in latex and SENTENCE[:5] not in latex
    assert r"\shortstack[r]{highest \\ seed of \\ 0}" in latex
    assert "reach" in MANY_NUMBERS.csv()


def test_a_table_longer_than_a_page_goes_over_several() -> None:
    latex = MANY_ROWS.latex()
    assert latex.startswith(r"% needs \usepackage{booktabs,longtable}")
    assert r"\begin{longtable}{lr}" in latex and r"\endhead" in latex
    assert r"\begin{tabular}{lr}" in Table("rows", "Short", MANY_ROWS.columns, MANY_ROWS.rows[:-1]).latex()


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="needs pdflatex")
@pytest.mark.parametrize("table", ALL, ids=lambda table: table.name)
def test_pdflatex_sets_every_table_within_the_page(table: Table, tmp_path: Path) -> None:
    packages = r"\usepackage[T1]{fontenc}\usepackage[utf8]{inputenc}\usepackage{array,booktabs,longtable}"
    text = rf"\documentclass{{article}}{packages}\begin{{document}}" + "\n" + table.latex() + r"\end{document}"
    (tmp_path / "page.tex").write_text(text)
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "page.tex"]
    said = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False).stdout
    assert (tmp_path / "page.pdf").exists(), said
    assert "Overfull" not in said and "too large" not in said
