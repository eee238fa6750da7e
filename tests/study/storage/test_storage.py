"""Which storage a URL means."""

from __future__ import annotations

import pytest
from tests.fixtures.logs import log_of

from likewise.study.storage.base import open_storage
from likewise.study.storage.memory import Memory


@pytest.mark.parametrize("url", [None, "sqlite://", "sqlite:///:memory:"])
def test_in_memory(url: str | None) -> None:
    assert isinstance(open_storage(url), Memory)


def test_memories_are_apart() -> None:
    log_of()
    assert open_storage().names() == []
