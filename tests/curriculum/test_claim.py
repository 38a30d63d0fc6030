import sys
from pathlib import Path

import pytest

from etude.curriculum.claim import claim_folder
from etude.curriculum.suite import load_suite, read_suite
from etude.envs.errors import RequestError


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def refusal(folder: Path, *overrides: str) -> str:
    before = contents(folder.parent)
    with pytest.raises(RequestError) as raised:
        claim_folder(load_suite("smoke", overrides), folder)
    assert contents(folder.parent) == before
    message = str(raised.value)
    assert "\n" not in message
    return message


def test_a_new_or_empty_folder_is_claimed(tmp_path: Path) -> None:
    suite = load_suite("smoke")
    for study in (tmp_path, tmp_path / "deep" / "er"):
        claim_folder(suite, study)
        assert read_suite(study) == suite
        assert [path.name for path in study.iterdir() if path.is_file()] == ["suite.yaml"]


def test_the_same_suite_goes_on(tmp_path: Path) -> None:
    claim_folder(load_suite("smoke"), tmp_path)
    claim_folder(load_suite("smoke"), tmp_path)


@pytest.mark.parametrize("override", ["seeds=[5,2,1,0]", "regimes=[scratch,sequential]", "wandb.mode=disabled"])
def test_a_study_may_be_given_more_seeds_and_regimes_and_other_wandb_settings(tmp_path: Path, override: str) -> None:
    claim_folder(load_suite("smoke", ["regimes=[scratch]"]), tmp_path)
    larger = load_suite("smoke", ["regimes=[scratch]", override])
    claim_folder(larger, tmp_path)
    assert read_suite(tmp_path) == larger


def test_orders_may_be_added_behind_those_that_are_there(tmp_path: Path) -> None:
    claim_folder(load_suite("smoke"), tmp_path)
    for orders in ("2", "5", "[[press-button, reach, open-drawer], [reach, open-drawer, press-button]]"):
        if orders.startswith("["):
            assert "holds another study, with orders" in refusal(tmp_path, f"orders={orders}")
        else:
            claim_folder(load_suite("smoke", [f"orders={orders}"]), tmp_path)
            assert len(read_suite(tmp_path).orders) == int(orders)


def test_a_study_that_differs_is_refused_by_the_keys_that_do(tmp_path: Path) -> None:
    claim_folder(load_suite("smoke"), tmp_path)
    message = refusal(tmp_path, "evaluation.episodes=5", "seeds=[0,1]", "agent.parameters.gamma=0.9")
    assert message.endswith(
        "holds another study, with agent.parameters.gamma unset, not 0.9; evaluation.episodes 4, not 5; "
        "seeds [0, 1, 2], not [0, 1]; choose another --out"
    )


def test_at_most_three_keys_that_differ_are_named(tmp_path: Path) -> None:
    claim_folder(load_suite("smoke", ["agent.parameters.gamma=0.9"]), tmp_path)
    message = refusal(tmp_path, "budget=1024", "task_id=hidden", "name=other", "seeds=[7]")
    assert message.endswith(
        "with agent.parameters.gamma 0.9, not unset; budget.open-drawer 512, not 1024; "
        "budget.press-button 512, not 1024; 5 more; choose another --out"
    )


def test_files_among_the_imports_may_move_and_not_be_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    for name in ("here/tasks.py", "there/tasks.py", "there/others.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    study = tmp_path / "study"
    claim_folder(load_suite("smoke", [f"imports=[{tmp_path}/here/tasks.py]"]), study)
    moved = load_suite("smoke", [f"imports=[{tmp_path}/there/tasks.py]"])
    claim_folder(moved, study)
    assert read_suite(study) == moved
    assert 'imports ["tasks.py"], not ["others.py"]' in refusal(study, f"imports=[{tmp_path}/there/others.py]")


def test_a_folder_that_holds_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("")
    assert "holds something else, not a study" in refusal(tmp_path)


def test_a_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("")
    assert "a file, not a folder" in refusal(path)
    assert "cannot be a study's folder: Not a directory" in refusal(path / "inside")


def test_a_path_too_long_is_refused(tmp_path: Path) -> None:
    assert "cannot be a study's folder: File name too long" in refusal(tmp_path / ("x" * 300))


def test_a_damaged_suite_is_refused(tmp_path: Path) -> None:
    (tmp_path / "suite.yaml").write_text("name: [")
    assert "not YAML that can be read here" in refusal(tmp_path)
