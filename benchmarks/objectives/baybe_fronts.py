"""BayBE: a campaign with a Pareto objective, whose recommender takes qLogNEHVI of a Gaussian process for each target.

Molecules are substance parameters with their Mordred descriptors, numbers are discrete or continuous parameters. All of
this is BayBE's own default but for two things that every method is given: the reference point, and that rows that are
measured are not asked for again. BayBE's constraints are on parameters, so that tasks with constraints on outcomes are
not for it.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import torch
from baybe import Campaign
from baybe.acquisition import qLogNEHVI
from baybe.objectives import ParetoObjective
from baybe.parameters import NumericalContinuousParameter, SubstanceParameter
from baybe.recommenders import BotorchRecommender, TwoPhaseMetaRecommender
from baybe.searchspace import SearchSpace, SubspaceDiscrete
from baybe.settings import active_settings
from baybe.targets import NumericalTarget

from benchmarks.objectives.tasks import Several
from benchmarks.tasks.base import Matrix
from benchmarks.tasks.box import Box
from benchmarks.tasks.pool import Pool


class CampaignOptimiser:
    """A campaign with the task's objectives, as a user would make it."""

    def __init__(self, task: Several, seed: int) -> None:
        if task.constraints:
            raise ValueError(f"{task.name} has constraints on outcomes, which BayBE does not know; leave it out")
        torch.set_num_threads(1)
        active_settings.random_seed = seed
        self.targets = list(task.objectives)
        self.rows = _frame(task.base) if isinstance(task.base, Pool) else None
        targets = [NumericalTarget(name, minimize=way == "minimize") for name, way in task.objectives.items()]
        gain = qLogNEHVI(reference_point=task.reference.tolist())
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.campaign = Campaign(
                _box(task.base) if isinstance(task.base, Box) else _pool(task.base),
                ParetoObjective(targets),
                TwoPhaseMetaRecommender(recommender=BotorchRecommender(acquisition_function=gain)),
                allow_recommending_already_measured=isinstance(task.base, Box),
            )

    def tell(self, objects: Sequence[Any], outcomes: Matrix) -> None:
        if self.rows is not None:
            told = self.rows.loc[list(objects)].reset_index(drop=True)
        else:
            told = pd.DataFrame(np.asarray(objects), columns=[p.name for p in self.campaign.parameters])
        self.campaign.add_measurements(told.assign(**dict(zip(self.targets, outcomes.T, strict=True))))

    def ask(self, n: int) -> list[Any]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = self.campaign.recommend(n)
        return list(found.to_numpy(dtype=float)) if self.rows is None else [int(row) for row in found.index]


def _box(base: Box) -> SearchSpace:
    bounds = enumerate(zip(base.lower.tolist(), base.upper.tolist(), strict=True))
    return SearchSpace.from_product([NumericalContinuousParameter(f"x{i}", pair) for i, pair in bounds])


def _frame(base: Pool) -> pd.DataFrame:
    return pd.DataFrame({part.name: part.values for part in base.parts})


_SPACES: dict[str, SearchSpace] = {}


def _pool(base: Pool) -> SearchSpace:
    """Made once per task: Mordred takes a quarter of a second for a molecule."""
    if base.name not in _SPACES:
        molecules = [part for part in base.parts if part.kind == "molecule"]
        substances = [SubstanceParameter(part.name, {x: x for x in part.values}) for part in molecules]
        _SPACES.clear()
        _SPACES[base.name] = SearchSpace(discrete=SubspaceDiscrete.from_dataframe(_frame(base), substances))
    return _SPACES[base.name]
