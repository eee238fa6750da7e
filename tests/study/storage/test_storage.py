"""Every storage keeps the same laws, and behaves as a model of a few lines does."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from likewise.study.storage.base import Storage, differences, open_storage
from likewise.study.storage.memory import Memory
from likewise.study.storage.trials import NewRow
from likewise.study.trial import State
from likewise.testing.storage_machine import machine
from likewise.testing.storages import LAWS


@pytest.fixture(params=["memory", "sqlite", "postgresql"])
def storage(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Storage]:
    urls: dict[str, Callable[[], str | None]] = {
        "memory": lambda: None,
        "sqlite": lambda: f"sqlite:///{tmp_path / 'study.db'}",
        "postgresql": lambda: str(request.getfixturevalue("postgres_url")),
    }
    with open_storage(urls[request.param]()) as opened:
        yield opened


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
def test_law(law: Callable[[Storage], None], storage: Storage) -> None:
    law(storage)


def test_storage_behaves_as_the_model(storage: Storage) -> None:
    effort = settings(
        max_examples=20, stateful_step_count=25, deadline=None, suppress_health_check=list(HealthCheck), database=None
    )
    run_state_machine_as_test(machine(lambda: storage), settings=effort)


@pytest.mark.parametrize("url", [None, "sqlite://", "sqlite:///:memory:"])
def test_in_memory(url: str | None) -> None:
    assert isinstance(open_storage(url), Memory)


def test_memories_are_apart() -> None:
    open_storage().open("mine", {})
    assert open_storage().studies() == []


def test_what_is_no_text_is_stored_as_text(storage: Storage) -> None:
    """A failure is never lost to its message, nor a trial to its worker."""
    study = storage.open("odd", {})
    study.add([NewRow("a", "1", worker=3)])  # type: ignore[arg-type]
    study.settle(0, state=State.FAILED, error=ValueError("too \x00 hot"))  # type: ignore[arg-type]
    ((row,), _) = study.since(0)
    assert (row.worker, row.error) == ("3", "too \\x00 hot")


def test_differences_tell_true_from_one() -> None:
    assert list(differences({"a": 1, "b": [1.0]}, {"a": True, "b": [1]})) == [
        "a is 1 in the stored study but True was given"
    ]
