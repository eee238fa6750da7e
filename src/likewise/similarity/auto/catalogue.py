"""Which similarities stand for a kind of object: a few views that differ, as the committee weighs them by evidence.

The choices are measured: a similarity is here because committees with it predict better on average over the data sets
of its kind (docs/committee.md). Of each kind the first similarity is the one to take alone, as the field of a record.
Where a similarity has many parameters to learn, a fixed one stands beside it for when observations are few.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import numpy as np

from likewise.similarity.base import Similarity
from likewise.similarity.combine.fixed import fixed

Kind = Literal[
    "molecules",
    "DNA",
    "RNA",
    "proteins",
    "codes",
    "texts",
    "categories",
    "numbers",
    "vectors",
    "compositions",
    "bits",
    "permutations",
    "sets",
    "graphs",
    "series",
    "Gaussians",
    "mixtures",
    "records",
    "nothing",
]
Similarities = tuple[Similarity, ...]
# Aligning two sequences takes time in the product of their lengths; past these, quicker similarities must do.
LONGEST_ALIGNED, LONGEST_SUMMED = 64, 128
# Counting edits is some hundred times as quick (0.1 ms for two texts of 2,000 letters), but no different in kind.
LONGEST_EDITED = 2_000


def similarities(kind: Kind, objects: Sequence[Any]) -> Similarities:
    """The similarities that suit objects of this kind, of which these are some.

    >>> [one.name for one in similarities("vectors", [[0.0, 1.0], [2.0, 3.0]])]
    ['Matern5/2', 'fixed RBF']
    """
    return _CATALOGUE[kind](objects)


def usual_lengthscale(dimension: int) -> float:
    """Half the diagonal of the unit cube, ½√d: points at random in it are about as alike as not, in any dimension."""
    return 0.5 * float(np.sqrt(dimension))


def _vectors(objects: Sequence[Any]) -> Similarities:
    from likewise.similarity.kinds.vectors import RBF, Matern, as_vectors

    width = as_vectors(objects[:1]).shape[1]
    return Matern(), fixed(RBF(usual_lengthscale(width)))


def _compositions(objects: Sequence[Any]) -> Similarities:
    from likewise.similarity.kinds.compositions import Hellinger

    return Hellinger(), _vectors(objects)[-1]


def _bits(objects: Sequence[Any]) -> Similarities:
    from likewise.similarity.kinds.sets import Jaccard
    from likewise.similarity.kinds.strings import Hamming

    # Of lists and tuples, Jaccard would compare the sets of their entries.
    arrays = all(isinstance(x, np.ndarray) for x in objects)
    return Hamming(), _vectors(objects)[-1], *((Jaccard(),) if arrays else ())


def _molecules(objects: Sequence[Any]) -> Similarities:
    from likewise.similarity.kinds.molecules import DESCRIPTORS, Descriptors, Tanimoto, TanimotoCounts
    from likewise.similarity.kinds.vectors import Matern

    descriptors = Descriptors(Matern(usual_lengthscale(len(DESCRIPTORS))))
    return TanimotoCounts(), Tanimoto("maccs"), fixed(descriptors)


def _words(objects: Sequence[Any]) -> Similarities:
    from likewise.similarity.kinds.ngrams import NGrams
    from likewise.similarity.kinds.strings import Indel

    return NGrams(2, "minmax", up_to=True), NGrams(4, "minmax", up_to=True), *_edited(Indel(), objects)


def _edited(edits: Similarity, objects: Sequence[Any]) -> Similarities:
    """The similarity by edits, where the sequences are short enough for it."""
    return (edits,) if max(map(len, objects)) <= LONGEST_EDITED else ()


def _positioned(objects: Sequence[Any]) -> Similarities:
    """Hamming, where the sequences have one length."""
    from likewise.similarity.kinds.strings import Hamming

    return (Hamming(),) if len({len(x) for x in objects}) == 1 else ()


def _codes(objects: Sequence[Any]) -> Similarities:
    from likewise.similarity.kinds.ngrams import NGrams

    return NGrams(3, "minmax", up_to=True), *_positioned(objects), NGrams(4, "cosine", up_to=True)


def _rna(objects: Sequence[Any]) -> Similarities:
    from likewise.similarity.kinds.ngrams import NGrams
    from likewise.similarity.kinds.strings import Levenshtein

    return NGrams(4, "cosine", up_to=True), *_edited(Levenshtein(), objects)


def _dna(objects: Sequence[Any]) -> Similarities:
    from likewise.similarity.kinds.sequences import ReverseComplement

    grams, *edits = _rna(objects)
    return ReverseComplement(grams), grams, *edits


def _proteins(objects: Sequence[Any]) -> Similarities:
    from likewise.similarity.kinds.ngrams import NGrams
    from likewise.similarity.kinds.sequences import GlobalAlignment
    from likewise.similarity.kinds.strings import Levenshtein

    aligned = _has("Bio") and max(map(len, objects)) <= LONGEST_ALIGNED
    whole = (GlobalAlignment(),) if aligned else _edited(Levenshtein(), objects)
    return NGrams(3, "minmax", up_to=True), *whole, *_positioned(objects)


def _categories(objects: Sequence[Any]) -> Similarities:
    from likewise.similarity.kinds.categories import Equal

    return (Equal(),)


def _permutations(objects: Sequence[Any]) -> Similarities:
    from likewise.similarity.kinds.numbered import Numbered
    from likewise.similarity.kinds.permutations import Mallows, Positions, Tours

    views: Similarities = (Positions(), Mallows(), Tours())
    if all(isinstance(item, int | np.integer) for item in objects[0]) and min(objects[0]) == 0:
        return views
    return tuple(Numbered(view, tuple(objects[0])) for view in views)


def _sets(objects: Sequence[Any]) -> Similarities:
    from likewise.similarity.kinds.sets import Dice, Overlap

    return Dice(), Overlap()


def _graphs(objects: Sequence[Any]) -> Similarities:
    from likewise.similarity.kinds.graphs import ShortestPath, WeisfeilerLehman

    return WeisfeilerLehman(2), ShortestPath(disconnected=True)


def _series(objects: Sequence[Any]) -> Similarities:
    from likewise.similarity.kinds.series import DTW, GlobalAlignmentKernel

    long = max(map(len, objects)) > LONGEST_SUMMED and _has("dtaidistance")
    if len({len(x) for x in objects}) == 1 and np.ndim(objects[0]) == 1:
        return DTW() if long else GlobalAlignmentKernel(), _vectors(objects)[-1]
    return (DTW(),) if long else (GlobalAlignmentKernel(), *((DTW(),) if _has("dtaidistance") else ()))


def _gaussians(objects: Sequence[Any]) -> Similarities:
    from likewise.similarity.kinds.distributions.gaussian_embedding import GaussianEmbedding
    from likewise.similarity.kinds.distributions.gaussians import Bhattacharyya, Wasserstein2

    full = not all(x.diagonal for x in objects)
    return Wasserstein2(full=full), Bhattacharyya(full=full), GaussianEmbedding(full=full)


def _has(library: str) -> bool:
    from importlib.util import find_spec

    return find_spec(library) is not None


def of_mixtures(ground: Similarity, *, whole: bool) -> Similarities:
    """The similarities of mixtures of things that `ground` compares; `whole` weights may be counts."""
    from likewise.similarity.kinds.mixtures import MaximumMeanDiscrepancy, MeanEmbedding
    from likewise.similarity.kinds.sets import MinMax

    return MeanEmbedding(ground), MaximumMeanDiscrepancy(ground), *((MinMax(),) if whole else ())


def as_field(kind: Kind, found: Similarities, *, repeats: bool) -> Similarities:
    """The similarities of a record's field in a product and in a sum; its weight is all there is to learn.

    Molecules that come up again and again, as the ligands of a grid do, are more than their structure: in the product
    they count half by structure and half by identity.
    """
    first = found[-1] if kind in ("numbers", "vectors") else found[0]
    if kind == "molecules" and repeats:
        from likewise.similarity.kinds.categories import Equal

        return 0.5 * (first + Equal(0.0)), first
    return first, first


def of_records(fields: Mapping[str, Similarities]) -> Similarities:
    """The similarities of records from those of their fields: a product whose weights are learnt, and a plain sum.

    Warped, the sum holds interactions of the fields of every order.
    """
    from likewise.similarity.combine.parts import Parts

    factors, terms = ({name: found[k] for name, found in fields.items()} for k in (0, -1))
    return Parts("product", [0.5] * len(fields), **factors), fixed(Parts("sum", **terms))


_CATALOGUE: dict[Kind, Callable[[Sequence[Any]], Similarities]] = {
    "molecules": _molecules,
    "DNA": _dna,
    "RNA": _rna,
    "proteins": _proteins,
    "codes": _codes,
    "texts": _words,
    "categories": _categories,
    "numbers": _vectors,
    "vectors": _vectors,
    "compositions": _compositions,
    "bits": _bits,
    "permutations": _permutations,
    "sets": _sets,
    "graphs": _graphs,
    "series": _series,
    "Gaussians": _gaussians,
    "nothing": _categories,
}
