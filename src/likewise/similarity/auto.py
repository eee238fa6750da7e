"""What kind of objects these are, why, and which similarities suit them: what "auto" stands for."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import NDArray

from likewise.errors import SimilarityError
from likewise.similarity import catalogue
from likewise.similarity.base import Similarity
from likewise.similarity.catalogue import Kind, read_as_smiles, spelling_warning, writing
from likewise.similarity.functions import as_similarity, object_key
from likewise.similarity.kinds.gaussians import Gaussian
from likewise.similarity.kinds.molecules import READING
from likewise.similarity.records import Parts

# Fields of records that are shares of a whole: fractions that add up to one, or percentages.

# What shares add up to, and by how much they may miss it: they are rounded.
WHOLES, ROUNDED = (1.0, 100.0), 0.011
FEWEST = 3


def share_groups(objects: Sequence[Mapping[str, Any]], fields: Sequence[str]) -> list[tuple[str, ...]]:
    """Neighbouring fields that are shares of a whole in every record, the longest first.

    >>> rows = [{"A": 0.1, "B": 0.9, "T": 20}, {"A": 0.3, "B": 0.7, "T": 80}, {"A": 0.5, "B": 0.5, "T": 50}]
    >>> share_groups(rows, ["A", "B", "T"])
    [('A', 'B')]
    """
    runs = _runs_of_numbers(objects, fields)
    found: list[tuple[str, ...]] = []
    for names in runs:
        sums = np.concatenate([np.zeros((len(objects), 1)), np.cumsum(_matrix(objects, names), axis=1)], axis=1)
        spans = [(j - i, i, j) for i in range(len(names)) for j in range(i + 2, len(names) + 1)]
        for _, i, j in sorted(spans, reverse=True):
            if not {*names[i:j]} & {name for group in found for name in group} and _whole(sums[:, j] - sums[:, i]):
                group = _matrix(objects, names[i:j])
                if len(np.unique(group, axis=0)) >= FEWEST and (np.ptp(group, axis=0) > 0).sum() > 1:
                    found.append(tuple(names[i:j]))
    return found


def _runs_of_numbers(objects: Sequence[Mapping[str, Any]], fields: Sequence[str]) -> list[list[str]]:
    runs: list[list[str]] = [[]]
    for name in fields:
        if all(_is_share(x[name]) for x in objects):
            runs[-1].append(name)
        elif runs[-1]:
            runs.append([])
    return [run for run in runs if len(run) > 1]


def _is_share(value: Any) -> bool:
    number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    return bool(number and 0 <= value <= WHOLES[-1] * (1 + ROUNDED))


def _matrix(objects: Sequence[Mapping[str, Any]], names: Sequence[str]) -> Any:
    return np.array([[float(x[name]) for name in names] for x in objects])


def _whole(totals: Any) -> bool:
    return any(bool(np.all(np.abs(totals - whole) <= ROUNDED * whole)) for whole in WHOLES)


# What kind of objects these are, why, and which similarities suit them: what "auto" stands for.
#
# The kind is read off the objects themselves: their types, then their letters, lengths, sums and keys. Objects that are
# not of one kind are an error that names two of them, and so are objects of a kind that is not known here.

# Vectors longer than this are series too: their entries have an order that a warping can use.
LONGEST_VECTOR = 32
SHORTEST_PERMUTATION = 3
FEWEST_SUMS = 3
# Names of which there are no more than this, and no longer ones, are categories.
LEVELS, LONGEST_NAME = 32, 60


@dataclass(frozen=True)
class Recognised:
    """A kind of objects, the reason for thinking so in one sentence, and the similarities that suit them.

    `warning` says what the user may not have meant.
    """

    kind: Kind
    why: str
    similarities: tuple[Similarity, ...]
    warning: str = ""

    def __str__(self) -> str:
        return f"{self.kind}: {self.why}; compared by {', '.join(one.name for one in self.similarities)}"


def recognise(objects: Sequence[Any]) -> Recognised:
    """The kind of these objects, and the similarities that suit it.

    >>> recognise(["CCO", "CC(=O)O", "c1ccccc1O"]).kind
    'molecules'
    >>> recognise([{"T": 20.0, "base": "KOAc"}, {"T": 80.0, "base": "KOtBu"}]).why
    'every object has the fields T (numbers), base (categories)'
    """
    family = _one_family(objects)
    if family == "text":
        return of_texts(objects)
    if family == "mapping":
        return _mappings(objects)
    if family == "sequence":
        return _sequences(objects)
    kind, what = _SIMPLE[family]
    return Recognised(kind, f"{_every(objects)} is {what}", catalogue.similarities(kind, objects))


_SIMPLE: dict[str, tuple[Kind, str]] = {
    "number": ("numbers", "a number"),
    "truth value": ("categories", "a truth value or nothing"),
    "molecule": ("molecules", "an RDKit molecule"),
    "Gaussian": ("Gaussians", "a Gaussian"),
    "set": ("sets", "a set"),
    "graph": ("graphs", "a networkx graph"),
    "table of numbers": ("series", "a series of points with several channels"),
}


# A truth value is a number to Python.
_FAMILIES: tuple[tuple[Any, str], ...] = (
    (str, "text"),
    (bool | np.bool_ | None, "truth value"),
    (int | float | np.number, "number"),
    (Gaussian, "Gaussian"),
    (Mapping, "mapping"),
    (set | frozenset, "set"),
    (list | tuple, "sequence"),
)


def of_kind(kind: Kind, why: str, objects: Sequence[Any]) -> Recognised:
    """The similarities that suit objects of a kind that is known already."""
    return Recognised(kind, why, catalogue.similarities(kind, objects))


def of_texts(objects: Sequence[str], *, molecules: bool = True) -> Recognised:
    """The similarities that suit these texts; `molecules` says whether they may be SMILES."""
    kind, why = writing(objects, molecules=molecules)
    return replace(of_kind(kind, why, objects), warning=spelling_warning(kind, objects))


def of_records(fields: Mapping[str, Recognised]) -> Recognised:
    """The similarities of records whose fields are recognised already."""
    listed = ", ".join(f"{name} ({found.kind})" for name, found in fields.items())
    why = f"every object has the fields {listed}"
    warning = "; ".join(f"field {name!r}: {found.warning}" for name, found in fields.items() if found.warning)
    similarities = catalogue.of_records({name: found.similarities for name, found in fields.items()})
    return Recognised("records", why, similarities, warning)


def of_branches(branches: Mapping[str, Recognised]) -> Recognised:
    """The similarities of objects of several branches, which are recognised already."""
    listed = ", ".join(f"{name} ({found.kind})" for name, found in branches.items())
    why = f"every object is of one of the branches {listed}"
    return Recognised(
        "branches", why, catalogue.of_branches({name: found.similarities for name, found in branches.items()})
    )


def _every(objects: Sequence[Any]) -> str:
    return f"every one of {len(objects)} objects" if len(objects) > 1 else "the object"


def _one_family(objects: Sequence[Any]) -> str:
    """The family of types that all objects belong to."""
    if not len(objects):
        raise SimilarityError(
            "there is no object to recognise a kind from; give some, or name the similarity instead of 'auto'"
        )
    families = [_family(number, x) for number, x in enumerate(objects)]
    for number, family in enumerate(families):
        if family != families[0]:
            raise SimilarityError(
                f"objects are of different kinds: object 0 is {_named(families[0], objects[0])}, and "
                f"object {number} is {_named(family, objects[number])}; "
                "give objects of one kind, or a similarity that compares them"
            )
    return families[0]


def _named(family: str, x: Any) -> str:
    return "missing, None" if x is None else f"a {family}, {x!r}"


def _family(number: int, x: Any) -> str:
    if isinstance(x, np.ndarray) and (x.ndim == 1 or (x.ndim in (0, 2) and x.dtype.kind in "iuf")):
        return ("number", "sequence", "table of numbers")[x.ndim]
    for types, family in _FAMILIES:
        if isinstance(x, types):
            return family
    for module, name, family in (("networkx", "Graph", "graph"), ("rdkit.Chem", "Mol", "molecule")):
        # If it is of an optional library's class, that library is loaded.
        if module in sys.modules and isinstance(x, getattr(sys.modules[module], name)):
            return family
    raise SimilarityError(
        f"object {number} is a {type(x).__name__}, which is of no kind that is recognised: {x!r}; "
        "give a similarity: a function of two objects is enough"
    )


def _sequences(objects: Sequence[Any]) -> Recognised:
    arrays = [_numbers(x) for x in objects]
    if any(array is None for array in arrays):
        return _tokens(objects, arrays)
    rows = [array for array in arrays if array is not None]
    every = _every(objects)
    lengths = {len(row) for row in rows}
    if len(lengths) > 1:
        return of_kind(
            "series", f"{every} is a row of numbers, and lengths go from {min(lengths)} to {max(lengths)}", objects
        )
    (length,), matrix = lengths, np.array(rows)
    kind, why = _of_one_length(matrix, length)
    return of_kind(kind, f"{every} {why}", objects)


def _of_one_length(x: NDArray[Any], length: int) -> tuple[Kind, str]:
    """The kind of equally long rows of numbers, and what every row does."""
    if (
        length >= SHORTEST_PERMUTATION
        and x.dtype.kind in "iu"
        and np.array_equal(np.sort(x, axis=1), np.broadcast_to(np.arange(length), x.shape))
    ):
        return "permutations", f"has each of the numbers 0 … {length - 1} once"
    if length >= 2 and np.isin(x, (0, 1)).all():
        return "bits", f"is a row of {length} zeros and ones"
    if length >= 2 and _constant_sum(x):
        return "compositions", f"is a row of {length} shares with the sum {x[0].sum():.6g}"
    if length > LONGEST_VECTOR:
        return "series", f"is a row of {length} numbers, more than {LONGEST_VECTOR}, so that their order may matter"
    return "vectors", f"is a row of {length} numbers"


def _constant_sum(x: NDArray[Any]) -> bool:
    totals = x.sum(axis=1)
    enough = len(np.unique(x, axis=0)) >= FEWEST_SUMS
    return bool(enough and totals[0] > 0 and np.all(x >= 0) and np.allclose(totals, totals[0], rtol=1e-6, atol=0.0))


def _numbers(x: Any) -> NDArray[Any] | None:
    """A row of numbers as an array, None for other sequences."""
    if isinstance(x, np.ndarray):
        return x if x.dtype.kind in "iufb" else None
    if not all(isinstance(entry, int | float | np.number | np.bool_) for entry in x):
        return None
    return np.array(x) if len(x) else np.zeros(0)


def _tokens(objects: Sequence[Any], arrays: Sequence[Any]) -> Recognised:
    """Sequences of anything but numbers: nested rows of numbers are series, the rest words of tokens."""
    for number, array in enumerate(arrays):
        if array is not None and len(array):
            other = next(i for i, a in enumerate(arrays) if a is None)
            raise SimilarityError(
                f"objects are of different kinds: object {number} is a row of numbers, {objects[number]!r}, and object "
                f"{other} is not, {objects[other]!r}; give objects of one kind, or a similarity that compares them"
            )
    if all(_table(x) for x in objects):
        return of_kind("series", f"{_every(objects)} is a series of points with several channels", objects)
    lengths = {len(x) for x in objects}
    if _orders(objects):
        return of_kind("permutations", f"{_every(objects)} has each of {len(objects[0])} items once", objects)
    if len(lengths) == 1 and len(objects) > 1:
        return of_kind("codes", f"{_every(objects)} is a sequence of {lengths.pop()} tokens", objects)
    return of_kind("texts", f"{_every(objects)} is a sequence of tokens", objects)


def _orders(objects: Sequence[Any]) -> bool:
    """Whether all are orders of the same items."""
    items = {object_key(item) for item in objects[0]}
    return (
        len(objects) > 1
        and len(items) >= SHORTEST_PERMUTATION
        and all(len(x) == len(items) and {object_key(item) for item in x} == items for x in objects)
    )


def _table(x: Any) -> bool:
    return len(x) > 0 and all(
        isinstance(row, list | tuple | np.ndarray) and _numbers(row) is not None and len(row) == len(x[0]) for row in x
    )


def _mappings(objects: Sequence[Mapping[Any, Any]]) -> Recognised:
    if not any(objects):
        raise SimilarityError("every object is an empty mapping; give objects with fields, or things with weights")
    fields = list(objects[0])
    odd = next((i for i, x in enumerate(objects) if set(x) != set(fields)), None)
    weights = all(_weight(value) for x in objects for value in x.values())
    named = all(isinstance(name, str) for x in objects for name in x)
    if odd is not None and named and _name_branches(objects):
        return _branches(objects)
    if weights and (odd is not None or not named or (_shares(objects, fields) and _of_molecules(fields))):
        return _mixtures(objects)
    if odd is not None or not named:
        other = 0 if odd is None else odd
        raise SimilarityError(
            f"records need one set of named fields: object 0 has {_listed(objects[0])}, and object {other} has "
            f"{_listed(objects[other])}; give every record every field, or a similarity that compares them"
        )
    return _records(objects, fields, [tuple(fields)] if weights and _shares(objects, fields) else [])


def _records(
    objects: Sequence[Mapping[str, Any]], fields: Sequence[str], groups: Sequence[tuple[str, ...]]
) -> Recognised:
    """Records by their fields; those that are shares of a whole are compared together, as a composition."""
    groups = groups or share_groups(objects, fields)
    first = {group[0]: _composition(group, objects) for group in groups}
    if groups == [tuple(fields)]:
        return first[fields[0]]
    grouped = {name for group in groups for name in group}
    found: dict[str, Recognised] = {}
    for name in fields:
        if name in first:
            found[" + ".join(next(group for group in groups if group[0] == name))] = first[name]
        elif name not in grouped and (field := _field(name, objects)):
            found[name] = field
    return of_records(found)


def _composition(group: tuple[str, ...], objects: Sequence[Mapping[str, Any]]) -> Recognised:
    total = sum(float(objects[0][name]) for name in group)
    why = f"{_every(objects)} has shares in {', '.join(group)} with the sum {total:.3g}"
    return Recognised("compositions", why, catalogue.of_shares(group, objects))


def _of_molecules(names: Sequence[Any]) -> bool:
    return all(isinstance(name, str) for name in names) and writing(names)[0] == "molecules"


def _name_branches(objects: Sequence[Mapping[str, Any]]) -> bool:
    """Whether the one key of each is a branch: what it is made of is a record, or nothing, or not always the same."""
    if any(len(x) != 1 for x in objects):
        return False
    if all(value is None or isinstance(value, Mapping) for x in objects for value in x.values()):
        return True
    return len({object_key(x) for x in objects}) > len({name for x in objects for name in x})


def _branches(objects: Sequence[Mapping[str, Any]]) -> Recognised:
    """Objects with one key each, not all the same one: each is of the branch that it names."""
    inside: dict[str, list[Any]] = {}
    for x in objects:
        ((name, value),) = x.items()
        inside.setdefault(name, []).append(value)
    return of_branches({name: of_field(values) for name, values in inside.items()})


def _listed(x: Mapping[Any, Any]) -> str:
    return ", ".join(map(repr, x)) or "no fields"


def _weight(value: Any) -> bool:
    number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    return bool(number and np.isfinite(value) and value >= 0)


def _shares(objects: Sequence[Mapping[Any, Any]], fields: Sequence[Any]) -> bool:
    return len(fields) > 1 and _constant_sum(np.array([[float(x[name]) for name in fields] for x in objects]))


def _mixtures(objects: Sequence[Mapping[Any, Any]]) -> Recognised:
    things = list({object_key(thing): thing for x in objects for thing in x}.values())
    found = recognise(things)
    if found.kind in ("texts", "categories", "codes"):
        # How things are spelled says nothing about how alike they are.
        found = of_kind("categories", "", things)
    why = f"{_every(objects)} gives weights to some of {len(things)} things ({found.kind})"
    whole = all(float(value).is_integer() for x in objects for value in x.values())
    return Recognised("mixtures", why, catalogue.of_mixtures(found.similarities[0], whole=whole))


def _field(name: str, objects: Sequence[Mapping[Any, Any]]) -> Recognised | None:
    """What a field holds; None where it is the same in all of several records, and so compares nothing."""
    column = [x[name] for x in objects]
    if len({object_key(value) for value in column}) == 1 and len({object_key(x) for x in objects}) > 1:
        return None
    try:
        return of_field(column)
    except SimilarityError as error:
        raise SimilarityError(f"field {name!r}: {error}") from error


def of_field(column: Sequence[Any]) -> Recognised:
    """The kind of a record's field, and its similarities: categories where few values occur of no narrower kind."""
    found = _of_column(column)
    repeats = 2 * len({object_key(value) for value in column}) <= len(column)
    return replace(found, similarities=catalogue.as_field(found.kind, found.similarities, repeats=repeats))


def _of_column(column: Sequence[Any]) -> Recognised:
    if any(value is None for value in column):
        return _with_gaps(column)
    texts = all(isinstance(value, str) for value in column)
    different = list(dict.fromkeys(column)) if texts else []
    if texts and (_are_levels(different) or 2 * len(different) <= len(column)) and _plain_words(different):
        return of_kind("categories", f"{len(column)} texts have {len(different)} different values", column)
    return recognise(column)


def _with_gaps(column: Sequence[Any]) -> Recognised:
    """A field that is None in some records: categories, which is worth a warning where the others are numbers."""
    gaps = sum(value is None for value in column)
    found = of_kind("categories", f"{gaps} of {len(column)} values are None", column)
    if not any(_weight(abs(value)) for value in column if isinstance(value, int | float) and value == value):
        return found
    warning = f"{gaps} of {len(column)} values are None, so its numbers are compared as equal or not; give numbers"
    return replace(found, warning=warning)


def _are_levels(different: Sequence[str]) -> bool:
    """Whether these are names of which there are few, such as ligands: categories, in a table of any size."""
    return len(different) <= LEVELS and max(map(len, different), default=0) <= LONGEST_NAME


def _plain_words(texts: Sequence[str]) -> bool:
    try:
        return writing(texts)[0] in ("texts", "categories")
    except SimilarityError:
        # Numbers written as text, of which few occur.
        return True


# What a user may give as `similarity`, and the similarities it stands for.

SimilarityLike = Similarity | Callable[[Any, Any], float]
Given = SimilarityLike | Sequence[SimilarityLike] | Literal["auto"]


def as_similarities(given: Given) -> tuple[Similarity, ...] | None:
    """The similarities that are given; None for "auto"."""
    if isinstance(given, str):
        if given != "auto":
            raise SimilarityError(f"unknown similarity {given!r}; give a similarity, a list of them, or 'auto'")
        return None
    several = cast(Sequence[SimilarityLike], given if isinstance(given, Sequence) else [given])
    if not several:
        raise SimilarityError("an empty list of similarities compares nothing; give at least one, or 'auto'")
    return tuple(as_similarity(one) for one in several)


# Which similarities compare the objects of a table's column: by what they are, and by what the column is called.

JUDGED = 2_000
# In a column that is called SMILES, texts are molecules and those that do not parse mistakes, if half of some do.
HALF = 0.5


def recognise_column(objects: Sequence[Any], seed: int = 0, column: str = "") -> Recognised:
    """The kind of the objects; whether many texts are molecules is judged by some, for reading all takes long."""
    texts = all(isinstance(x, str) for x in objects)
    if texts and called_smiles(column) and _mostly_molecules(objects):
        return of_kind("molecules", "", objects)
    if len(objects) <= JUDGED or not texts:
        return recognise(objects)
    some = np.random.default_rng(seed).choice(len(objects), size=JUDGED, replace=False)
    found = recognise([objects[i] for i in some.tolist()])
    return found if found.kind in ("molecules", "reactions") else of_texts(objects, molecules=False)


def called_smiles(column: str) -> bool:
    """Whether a column's name says that it holds SMILES.

    >>> called_smiles("ligand_SMILES"), called_smiles("name")
    (True, False)
    """
    return column.strip().lower().endswith(("smiles", "smi"))


def _mostly_molecules(texts: Sequence[str]) -> bool:
    parsed, tried = read_as_smiles(texts)
    return tried > 0 and parsed >= HALF * tried


def of_columns(named: Mapping[str, Similarity], objects: Sequence[Mapping[str, Any]]) -> Similarity:
    """Records compared column by column: as `named` says, and otherwise as suits the column."""
    rest = [name for name in objects[0] if name not in named]
    parts = {name: of_field([x[name] for x in objects]).similarities[0] for name in rest}
    return Parts("product", None, **{name: named.get(name) or parts[name] for name in objects[0]})


# What encoding a large pool takes, and which similarities to leave out where all of them would take too long.
#
# Fingerprints and descriptors of a hundred thousand molecules take minutes. The prices are fixed figures, which the
# similarities name themselves, and are not measured on the spot: the same table gives the same answer however busy the
# machine is.

# Seconds that reading and encoding a pool may take on two free processors.
SECONDS, PROCESSORS = 40.0, 2
# A similarity of less weight than this is not worth any price.
LEAST = 0.02


def encoding_seconds(similarities: Sequence[Similarity], objects: int) -> tuple[list[float], float]:
    """Seconds that each similarity takes to encode so many objects, and what is left for all of them after reading.

    >>> from likewise.similarity.kinds.molecules import Tanimoto
    >>> encoding_seconds([Tanimoto(), Tanimoto("maccs")], 10_000)
    ([0.3, 3.75], 39.2)
    """
    share = 1e-6 * objects / PROCESSORS
    reading = READING if any(similarity.kind == "molecules" for similarity in similarities) else 0.0
    return [share * similarity.price for similarity in similarities], SECONDS - share * reading


def affordable(weights: Sequence[float], costs: Sequence[float], seconds: float) -> list[int]:
    """The similarities to keep, so that encoding takes no longer than this: those that count most for their price.

    The weightiest one is always kept; one without weight never, as it would not be asked.

    >>> affordable([0.7, 0.2, 0.1, 0.0], [10.0, 5.0, 100.0, 1.0], seconds=40.0)
    [0, 1]
    """
    first = int(np.argmax(weights))
    spent, kept = costs[first], [first]
    for k in sorted(range(len(costs)), key=lambda k: -weights[k] / max(costs[k], 1e-9)):
        if k != first and weights[k] >= LEAST and spent + costs[k] <= seconds:
            spent += costs[k]
            kept.append(k)
    return sorted(kept)
