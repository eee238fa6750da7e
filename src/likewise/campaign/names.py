"""Similarities, acquisitions, strategies and methods by name, as one types them: `tanimoto`, `ngrams(4)`."""

from __future__ import annotations

import ast
import difflib
import inspect
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Literal, get_args, get_origin, get_type_hints

import numpy as np

import likewise
from likewise.acquisition.acquisitions import (
    Acquisition,
    LogExpectedImprovement,
    Mean,
    ProbabilityOfImprovement,
    UpperConfidence,
)
from likewise.campaign.columns import Aims
from likewise.campaign.text import Listener
from likewise.errors import LikewiseError, MissingExtra, UsageError
from likewise.paper import Paper
from likewise.search.batch import Sequential, Strategy, Thompson, TopScore, TwoStage
from likewise.similarity.algebra import Fields
from likewise.similarity.auto import called_smiles, of_columns, recognise_column
from likewise.similarity.base import Similarity
from likewise.similarity.catalogue import has_rdkit
from likewise.spaces.base import Space
from likewise.study.goals import Bounds
from likewise.study.methods.base import Method

# The names, arguments and descriptions of similarities are what their classes say of themselves.

Known = Mapping[str, Callable[..., Any]]
ACQUISITIONS: Known = {
    "ei": LogExpectedImprovement,
    "pi": ProbabilityOfImprovement,
    "ucb": UpperConfidence,
    "mean": Mean,
}
STRATEGIES: Known = {
    "sequential": Sequential,
    "thompson": Thompson,
    "top_score": TopScore,
    "two_stage": TwoStage,
}

METHODS: Known = {"paper": Paper}


def public_names(room: str) -> dict[str, Any]:
    """What is public of a room of the package, by name."""
    homes = {name: home for name, home in likewise.HOMES.items() if home.startswith(f"likewise.{room}.")}
    return {name: getattr(import_module(home), name) for name, home in homes.items()}


def known_similarities() -> dict[str, type[Similarity]]:
    """The public similarities that text can describe, by name, those of one kind together.

    >>> known_similarities()["tanimoto_counts"].__name__, "embedded" in known_similarities()
    ('TanimotoCounts', False)
    """
    listed = {_snake(name): kind for name, kind in public_names("similarity").items() if getattr(kind, "compares", "")}
    return dict(sorted(listed.items(), key=lambda item: (str(item[1].kind).lower(), item[0])))


def arguments(make: Callable[..., Any]) -> str:
    """The arguments that something takes, with their defaults and choices.

    >>> arguments(known_similarities()["ngrams"])
    'n=3, how=cosine|minmax, up_to=False'
    """
    hints = get_type_hints(make.__init__)
    taken = (p for p in inspect.signature(make).parameters.values() if not p.name.startswith("_"))
    return ", ".join(_argument_text(p, hints.get(p.name)) for p in taken)


def _argument_text(parameter: inspect.Parameter, hint: Any) -> str:
    if parameter.default is parameter.empty:
        return parameter.name
    choices = get_args(hint) if get_origin(hint) is Literal else (parameter.default,)
    return f"{parameter.name}={'|'.join(map(str, choices))}"


def _snake(name: str) -> str:
    """A class's name as one types it; how it is typed makes no difference, see `_plain`.

    >>> _snake("NGrams"), _snake("SoftDTW"), _snake("TanimotoCounts")
    ('ngrams', 'soft_dtw', 'tanimoto_counts')
    """
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def _plain(name: str) -> str:
    return name.lower().replace("_", "")


def similarities(texts: Sequence[str]) -> list[Similarity] | dict[str, Similarity] | None:
    """The similarities that options name, separated by commas; None for "auto".

    A list is a committee. `FIELD=NAME` gives the similarity of a record's column, and the answer is a mapping.

    >>> [s.name for s in similarities(["hamming,ngrams(4)"])]
    ['Hamming', 'NGrams(4, cosine)']
    >>> similarities(["auto"]) is None
    True
    """
    items = [item for text in texts for item in _split(text)]
    if not items or [item.lower() for item in items] == ["auto"]:
        return None
    pairs = [item.split("=", 1) if _names_field(item) else ("", item) for item in items]
    makers = known_similarities()
    built = [(field.strip(), _build_text(text, makers, "similarity")) for field, text in pairs]
    named = dict(built)
    if all(named):
        if len(named) < len(pairs):
            raise UsageError(f"Similarity {','.join(texts)!r} names a column twice; give each column one similarity.")
        return named
    if any(named):
        raise UsageError(
            f"Similarity {','.join(texts)!r} mixes names and COLUMN=NAME; give names alone (a committee), "
            "or one COLUMN=NAME for each column of the object."
        )
    return [similarity for _, similarity in built]


def method(text: str) -> Method | None:
    """The method of this name; None for "committee", the default.

    >>> method("paper(kappa=1.0)").kappa, method("committee") is None
    (1.0, True)
    """
    if text.strip().lower() == "committee":
        return None
    chosen: Method = _build_text(text, METHODS, "method")
    return chosen


def acquisition(text: str) -> Acquisition | None:
    """The acquisition of this name; None for "auto"."""
    if text.strip().lower() == "auto":
        return None
    chosen: Acquisition = _build_text(text, ACQUISITIONS, "acquisition")
    return chosen


def strategy(text: str) -> Strategy | None:
    """The strategy of this name; None for "auto"."""
    if text.strip().lower() == "auto":
        return None
    chosen: Strategy = _build_text(text, STRATEGIES, "strategy")
    return chosen


def _split(text: str) -> Iterator[str]:
    """The parts between commas that are not inside brackets."""
    depth, part = 0, ""
    for letter in text:
        depth += (letter in "([{") - (letter in ")]}")
        if letter == "," and depth == 0:
            yield part
            part = ""
        else:
            part += letter
    yield part


def _names_field(item: str) -> bool:
    return "=" in item and "(" not in item.split("=", 1)[0]


def _build_text(text: str, makers: Known, what: str) -> Any:
    try:
        tree = ast.parse(text.strip().replace("-", "_") if "(" not in text else text.strip(), mode="eval").body
    except SyntaxError:
        raise UsageError(
            f"{what} {text.strip()!r} is not a name, nor a name with arguments such as ngrams(4); "
            f"known are {', '.join(makers)}."
        ) from None
    return _build(tree, makers, what, text.strip())


def _build(tree: ast.expr, makers: Known, what: str, text: str) -> Any:
    call = tree if isinstance(tree, ast.Call) else ast.Call(tree, [], [])
    if not isinstance(call.func, ast.Name):
        raise UsageError(f"{what} {text!r} is not a name; known are {', '.join(makers)}.")
    name = call.func.id.lower()
    make = _find(name, makers)
    if make is None:
        close = difflib.get_close_matches(name, makers, n=1, cutoff=0.6)
        hint = f"did you mean {close[0]!r}?" if close else f"known are {', '.join(makers)}."
        raise UsageError(f"there is no {what} called {name!r}; {hint}")
    values = [_argument(argument, makers, what, text) for argument in call.args]
    options = {str(argument.arg): _argument(argument.value, makers, what, text) for argument in call.keywords}
    try:
        return _checked(make(*values, **options))
    except MissingExtra:
        raise
    except (AttributeError, LikewiseError, TypeError, ValueError) as error:
        takes = arguments(make) or "none"
        raise UsageError(f"{what} {text!r} does not fit: {error}; the arguments of {name} are: {takes}.") from None


def _find(name: str, makers: Known) -> Callable[..., Any] | None:
    return next((make for key, make in makers.items() if _plain(key) == _plain(name)), None)


def _checked(value: Any) -> Any:
    """What was made, if everything that it is made of is a similarity."""
    for part in value.parts if isinstance(value, Similarity) else ():
        if not isinstance(part, Similarity):
            raise TypeError(f"{part!r} is no similarity")
    return value


def _argument(tree: ast.expr, makers: Known, what: str, text: str) -> Any:
    if isinstance(tree, ast.Name) and _find(tree.id, makers) is None:
        return tree.id
    if isinstance(tree, ast.Name | ast.Call):
        return _build(tree, makers, what, text)
    try:
        return ast.literal_eval(tree)
    except ValueError:
        raise UsageError(f"{what} {text!r} has an argument that is no number, word or similarity.") from None


# Which similarities compare a table's objects: those the user named, or those that suit the kind of object.

# Kinds of similarities that compare rows of numbers.
NUMERIC = ("vectors", "compositions")


@dataclass(frozen=True)
class Request:
    """What the user asked for, beside the columns."""

    similarity: tuple[str, ...] = ()
    space: Space | None = None
    direction: Literal["maximize", "minimize"] = "maximize"
    seed: int = 0
    acquisition: Acquisition | None = None
    strategy: Strategy | None = None
    method: Method | None = None
    skip_bad: bool = False
    # Whether all candidates will be compared, or the measured rows alone.
    searching: bool = False
    bounds: Bounds | Mapping[str, Bounds] | None = None
    # What is wanted of several columns; None where one is optimised.
    aims: Aims | None = None


def choose_similarities(
    request: Request, space: Space, objects: Sequence[Any], column: str, listener: Listener
) -> list[Similarity]:
    """The similarities that the user named, or those that suit the kind of object."""
    named = similarities(request.similarity)
    if isinstance(named, list):
        return [_of_records(similarity, objects) for similarity in named]
    if isinstance(named, dict):
        return [_of_columns(named, objects)]
    if request.space is None and not objects:
        raise UsageError("The table has no row with an object; fill in a row for each candidate, or give a space.")
    if request.space is not None:
        recognised = space.recognise(np.random.default_rng(request.seed))
    else:
        recognised = recognise_column(objects, request.seed, column)
    what = f"column {column!r}" if column else "the objects"
    listener.note(f"Treating {what} as {recognised.kind}{f': {recognised.why}' if recognised.why else ''}")
    if recognised.warning:
        listener.note(f"Warning: {recognised.warning}")
    if recognised.kind != "molecules" and called_smiles(column) and not has_rdkit():
        listener.note("To compare SMILES as molecules, install likewise[molecules]")
    if request.method is not None:
        # Another method than the default one compares by one similarity: the first, in the range of the objects.
        return [space.view(recognised.similarities[0])]
    return list(recognised.similarities)


def molecular(similarity: Similarity) -> bool:
    """Whether the objects as a whole are compared as molecules."""
    return similarity.kind == "molecules"


def _of_records(similarity: Similarity, objects: Sequence[Any]) -> Similarity:
    """A similarity of vectors, for records: of the numbers in all their columns."""
    if similarity.kind not in NUMERIC or not objects or not isinstance(objects[0], Mapping):
        return similarity
    for name, value in objects[0].items():
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise UsageError(
                f"{similarity.name} compares numbers, and column {name!r} holds {value!r}; name a similarity for each "
                f"column, as in {name}=equal."
            )
    return Fields(similarity, tuple(objects[0]))


def _of_columns(named: dict[str, Similarity], objects: Sequence[Any]) -> Similarity:
    """Records compared column by column: as the user said, and otherwise as suits the column."""
    if not objects or not isinstance(objects[0], Mapping):
        raise UsageError("Similarities by column are for objects of several columns; name the similarity alone.")
    if unknown := [name for name in named if name not in objects[0]]:
        raise UsageError(
            f"A similarity is named for column {unknown[0]!r}, but the objects have the columns "
            f"{', '.join(map(repr, objects[0]))}."
        )
    return of_columns(named, objects)
