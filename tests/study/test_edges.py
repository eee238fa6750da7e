"""What a user of other tools reaches for: the queue, notes, frames, the best value, the number of trials."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas
import polars
import pytest

import likewise as lw
from likewise.errors import SpaceError, StudyError

REACTIONS = lw.Record(T=lw.Int(20, 120), base=lw.Categorical(["KOAc", "KOPiv"]))


def words(**options: object) -> lw.Study:
    return lw.Study(lw.Strings("ACGT", 4), lw.Hamming(), **options)  # type: ignore[arg-type]


def test_what_is_enqueued_is_asked_first_and_once() -> None:
    study = words()
    study.enqueue("ACGT", "AAAA", notes={"by": "Ann"})
    first, second, third = study.ask(3)
    assert [first.object, second.object] == ["ACGT", "AAAA"]
    assert [s.notes["stage"] for s in (first, second, third)] == ["enqueued", "enqueued", "initial"]
    assert not {s.object for s in study.ask(8)} & {"ACGT", "AAAA"}
    study.tell(first, 1.0, notes={"vial": 3})
    assert study.trials[0].notes == {"by": "Ann", "vial": 3}
    assert study.trials[0].summary["stage"] == "enqueued"


def test_the_queue_is_seen_by_others_and_after_a_resume(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'study.db'}"
    one, other = words(storage=url), words(storage=url)
    one.enqueue("ACGT", "AAAA")
    assert [s.object for s in other.ask()] == ["ACGT"]
    assert [s.object for s in words(storage=url).ask()] == ["AAAA"]
    assert (one.count(lw.State.QUEUED), len(one)) == (0, 2)
    assert one.ask()[0].notes.get("stage") == "initial"


def test_enqueue_after_the_start_has_numbers_and_a_repeat_is_wanted_explicitly() -> None:
    study = words()
    study.tell_many([(x, x.count("A")) for x in ("AAAA", "AACC", "CCCC", "ACGT", "GGGG", "TTTT")])
    with pytest.raises(StudyError, match="replicate=True"):
        study.enqueue("AAAA")
    study.enqueue("AAAA", replicate=True)
    with pytest.raises(StudyError, match="enqueued or being measured"):
        study.enqueue("AAAA", replicate=True)
    with pytest.raises(SpaceError):
        study.enqueue("AAAX")
    study.enqueue("AAAC")
    again, new = study.ask(2)
    assert again.object == "AAAA"
    assert new.mean is not None
    study.tell(again, 3.0)
    assert study.best_value == 3.5


def test_an_enqueued_object_may_be_told_or_taken_out() -> None:
    study = words()
    study.enqueue("ACGT", "AAAA")
    study.tell("ACGT", 1.0)
    study.abandon("AAAA")
    assert [t.state.value for t in study.trials] == ["told", "abandoned"]
    assert study.ask()[0].notes["stage"] == "initial"


def test_the_queue_waits_while_a_plate_is_asked() -> None:
    study = lw.Study(REACTIONS)
    study.enqueue({"T": 20, "base": "KOAc"})
    assert study.ask(fix={"base": "KOPiv"})[0].object["base"] == "KOPiv"
    assert study.ask()[0].object == {"T": 20, "base": "KOAc"}


def test_enqueued_objects_are_the_first_that_a_run_evaluates() -> None:
    study, seen = words(), []
    study.enqueue("ACGT")
    study.optimize(lambda x: seen.append(x) or float(x.count("A")), budget=6)
    assert (seen[0], len(study)) == ("ACGT", 6)


def test_the_queue_of_the_papers_method() -> None:
    study = words(method=lw.Paper())
    study.tell_many([(x, x.count("A")) for x in ("AAAA", "AACC", "CCCC", "ACGT", "GGGG", "TTTT")])
    study.enqueue("AAAC")
    assert study.ask(2)[0].object == "AAAC"


def test_notes_that_are_no_json_are_refused_and_nothing_is_recorded() -> None:
    study = words()
    for bad in ({"by": object()}, {1: "x"}, "Ann", {"x": float("nan")}):
        with pytest.raises(StudyError, match="notes"):
            study.tell("ACGT", 1.0, notes=bad)  # type: ignore[arg-type]
    assert (len(study), bool(study)) == (0, True)


@pytest.mark.parametrize("suffix", ["csv", "parquet", "json"])
def test_notes_come_back_from_files(tmp_path: Path, suffix: str) -> None:
    study = words()
    study.tell("ACGT", 1.0, notes={"by": "Ann", "vial": 3})
    study.fail("AAAA", "broke", notes={"by": "Bob"})
    study.export(tmp_path / f"study.{suffix}")
    other = words()
    assert other.read(tmp_path / f"study.{suffix}") == 2
    assert {t.object: t.notes for t in other.trials} == {"ACGT": {"by": "Ann", "vial": 3}, "AAAA": {"by": "Bob"}}


@pytest.mark.parametrize(
    "convert",
    [lambda frame: frame, lambda frame: pandas.DataFrame(frame.to_dict(as_series=False))],
    ids=["polars", "pandas"],
)
def test_a_frame_of_a_study_tells_another_the_same(convert: Callable[[polars.DataFrame], object]) -> None:
    study = lw.Study(REACTIONS)
    study.tell_many([({"T": 20, "base": "KOAc"}, 1.0), ({"T": 80, "base": "KOPiv"}, 2.0, 0.1)])
    study.fail({"T": 50, "base": "KOAc"}, "broke")
    study.ask()
    other = lw.Study(REACTIONS)
    other.tell_many(convert(study.to_frame()))
    mine, theirs = ({(*t.object.values(), t.state, t.value, t.std) for t in s.trials} for s in (study, other))
    assert theirs == {one for one in mine if one[2] != "asked"}
    believed = other.predict(convert(study.to_frame().head(2).select("T", "base")))  # type: ignore[arg-type]
    assert believed.mean.shape == (2,)


def test_frames_of_named_outcomes() -> None:
    goals = {"yield": "maximize", "cost": "minimize"}
    study = lw.Study(REACTIONS, objectives=goals)  # type: ignore[arg-type]
    frame = polars.DataFrame(
        {"T": [20, 80], "base": ["KOAc", "KOPiv"], "yield": [71.0, 60.0], "yield std": [0.5, None], "cost": [2.0, None]}
    )
    study.tell_many(frame)
    assert [t.values for t in study.trials] == [{"yield": 71.0, "cost": 2.0}, {"yield": 60.0}]
    assert study.trials[0].outcomes["yield"].std == 0.5
    assert {"yield", "cost", "yield std", "T", "base", "state"} <= set(study.to_frame().columns)
    with pytest.raises(StudyError, match="several objectives"):
        _ = study.best_value


def test_a_frame_is_told_whole_or_not_at_all() -> None:
    study = lw.Study(REACTIONS)
    bad = polars.DataFrame({"T": [20, 500], "base": ["KOAc", "KOPiv"], "value": [1.0, 2.0]})
    with pytest.raises(SpaceError, match="row 1 of the frame"):
        study.tell_many(bad)
    with pytest.raises(StudyError, match="no column 'value'"):
        study.tell_many(bad.rename({"value": "result"}))
    assert len(study) == 0


def test_a_frame_of_plain_objects_and_of_vectors() -> None:
    study = words()
    study.tell_many(polars.DataFrame({"sequence": ["ACGT", "AAAA"], "value": [1.0, None]}))
    assert [t.object for t in study.trials] == ["ACGT"]
    box = lw.Study(lw.Box([0.0, 0.0], [1.0, 1.0]), lw.RBF())
    box.tell_many(polars.DataFrame({"object": [[0.1, 0.2], [0.3, 0.4]], "value": [1, 2]}))
    assert box.best.object.tolist() == [0.3, 0.4]
    assert box.to_frame()["object"].to_list() == [[0.1, 0.2], [0.3, 0.4]]


@dataclass
class Vial:
    number: int


def test_what_a_space_cannot_read_back_is_not_told_from_a_frame() -> None:
    """A fault in the user's `from_json` is named, also where the space takes anything for an object of its own."""

    def unread(data: Any) -> Vial:
        raise ZeroDivisionError("a fault in from_json")

    space = lw.Custom(lambda rng: Vial(int(rng.integers(9))), to_json=vars, from_json=unread)
    study = lw.Study(space, lambda x, y: float(x == y))
    for cell in ({"number": 3}, '{"number": 3}'):
        with pytest.raises(SpaceError, match=r"row 0 of the frame: .* cannot be stored and read again"):
            study.tell_many(pandas.DataFrame({"object": pandas.Series([cell], dtype=object), "value": [1.0]}))
    inside = lw.Custom(
        space._sample, contains=lambda x: isinstance(x, Vial), to_json=space._to_json, from_json=space._from_json
    )
    with pytest.raises(SpaceError, match="its `contains` says no") as raised:
        lw.Study(inside, lambda x, y: float(x == y)).tell_many(
            pandas.DataFrame({"object": [{"number": 3}], "value": [1.0]})
        )
    assert isinstance(raised.value.__cause__, ZeroDivisionError)
    good = lw.Custom(space._sample, to_json=vars, from_json=lambda data: Vial(**data))
    told = lw.Study(good, lambda x, y: float(x == y))
    told.tell_many(pandas.DataFrame({"object": pandas.Series([{"number": 3}, '{"number": 4}', Vial(5)]), "value": 1.0}))
    assert [trial.object for trial in told.trials] == [Vial(3), Vial(4), Vial(5)]


def test_a_seed_of_none_is_drawn_and_kept() -> None:
    one, other = words(seed=None), words(seed=None)
    assert one.seed != other.seed
    assert words(seed=one.seed).ask(3)[0].object == one.ask(3)[0].object
