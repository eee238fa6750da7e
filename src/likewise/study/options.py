"""The options of a study."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypedDict

from likewise.acquisition.base import Acquisition
from likewise.model.spectrum import Spectrum
from likewise.search.base import Search
from likewise.search.batch import Strategy
from likewise.study.goals import Bounds
from likewise.study.methods.base import Method
from likewise.study.storage.base import Storage


class StudyOptions(TypedDict, total=False):
    """The options of `Study`, which says what each of them is; without its direction."""

    seed: int | None
    storage: str | Storage | None
    name: str
    method: Method | None
    acquisition: Acquisition | None
    strategy: Strategy | None
    search: Search | None
    spectrum: Spectrum | Sequence[Spectrum]
    bounds: Bounds | Mapping[str, Bounds] | None
    initial: int
    lease: float | None
    worker: str | None
