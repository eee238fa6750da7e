"""Bayesian optimisation over anything you can compare.

Public names load when they are first used (PEP 562), so that importing the package stays cheap.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

_HOME = {
    "likewise.acquisition.confidence": ("Mean", "UpperConfidence"),
    "likewise.acquisition.improvement": ("LogExpectedImprovement", "ProbabilityOfImprovement"),
    "likewise.errors": ("LikewiseError", "MissingExtra", "SimilarityError", "SpaceError", "StorageError", "StudyError"),
    "likewise.influence.posterior": ("Posterior", "Prediction", "condition"),
    "likewise.search.batch": ("Sequential", "Thompson", "TopScore", "TwoStage"),
    "likewise.similarity.algebra": ("warped",),
    "likewise.similarity.base": ("Differentiable", "Similarity"),
    "likewise.similarity.compositions": ("Aitchison", "Hellinger"),
    "likewise.similarity.embedding": ("Embedded",),
    "likewise.similarity.gaussianembedding": ("GaussianEmbedding",),
    "likewise.similarity.gaussians": ("Bhattacharyya", "Gaussian", "SymmetricKL", "Wasserstein2"),
    "likewise.similarity.graphedit": ("GraphEdit",),
    "likewise.similarity.graphs": ("Histograms", "ShortestPath", "WeisfeilerLehman"),
    "likewise.similarity.jensenshannon": ("GeometricJensenShannon", "JensenShannon"),
    "likewise.similarity.measures": ("MaximumMeanDiscrepancy", "MeanEmbedding", "OptimalTransport"),
    "likewise.similarity.molecules": ("CanonicalSMILES", "Descriptors", "Tanimoto", "TanimotoCounts"),
    "likewise.similarity.montecarlo": ("MonteCarloJS", "MonteCarloKL"),
    "likewise.similarity.ngrams": ("NGrams", "Subsequences"),
    "likewise.similarity.permutations": ("Footrule", "Kendall", "Mallows", "Positions", "Tours"),
    "likewise.similarity.plain": ("Precomputed", "symmetrised"),
    "likewise.similarity.records": ("Parts",),
    "likewise.similarity.samples": ("SampleWasserstein", "SlicedWasserstein"),
    "likewise.similarity.sequences": ("GlobalAlignment", "LocalAlignment", "ReverseComplement"),
    "likewise.similarity.series": ("DTW", "GlobalAlignmentKernel", "SoftDTW"),
    "likewise.similarity.sets": ("Dice", "Jaccard", "MinMax", "Overlap"),
    "likewise.similarity.strings": ("Damerau", "Hamming", "Indel", "JaroWinkler", "Levenshtein"),
    "likewise.similarity.vectors": ("RBF", "Cosine", "Linear", "Matern"),
    "likewise.spaces.base": ("Space",),
    "likewise.spaces.box": ("Box",),
    "likewise.spaces.categorical": ("Categorical",),
    "likewise.spaces.custom": ("Custom",),
    "likewise.spaces.gaussians": ("Gaussians",),
    "likewise.spaces.grammar": ("Grammar",),
    "likewise.spaces.graphs": ("Graphs",),
    "likewise.spaces.molecules": ("Molecules",),
    "likewise.spaces.permutations": ("Permutations",),
    "likewise.spaces.pool": ("Pool",),
    "likewise.spaces.record": ("Record",),
    "likewise.spaces.simplex": ("Simplex",),
    "likewise.spaces.strings": ("Strings",),
    "likewise.spaces.subsets": ("Subsets",),
    "likewise.study.compare": ("compare",),
    "likewise.study.expectation": ("Expectation",),
    "likewise.study.listing": ("studies",),
    "likewise.study.measurement": ("Measurement",),
    "likewise.study.run": ("Result", "maximize", "minimize"),
    "likewise.study.study": ("Study",),
    "likewise.study.suggestion": ("Analogue", "Suggestion"),
    "likewise.study.trial": ("State", "Trial"),
}
_WHERE = {name: home for home, names in _HOME.items() for name in names}

__all__ = ["__version__", "similarity", *sorted(_WHERE)]


def __getattr__(name: str) -> Any:
    if name == "similarity":
        # The room of that name is callable; importing it sets the attribute.
        return import_module("likewise.similarity")
    if name not in _WHERE:
        raise AttributeError(f"module 'likewise' has no attribute {name!r}")
    value = getattr(import_module(_WHERE[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
