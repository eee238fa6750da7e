"""One object in several spellings: `XPhos` and `xphos `, `c1ccccc1` and `C1=CC=CC=C1`.

Names are the same where they differ in capitals, blanks and forms of a character (K₂CO₃) alone. Molecules are the same
where their canonical SMILES are. One spelling, the most frequent, stands for all of them; the table keeps its own.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import polars

from likewise.errors import SimilarityError
from likewise.similarity.auto.column import called_smiles
from likewise.similarity.auto.text_kind import has_rdkit, read_as_smiles, seem_smiles, writing
from likewise.similarity.kinds.reactions import canonical_reaction
from likewise.similarity.kinds.smiles import canonical_text

Kind = Literal["names", "molecules", "reactions", "texts"]
# More different texts than this are not all folded: a molecule takes 0.2 ms.
MANY = 5_000
MOLECULES = 0.9
LISTED = 3
# Spellings of one molecule have as many of these letters, and close as many rings; hydrogen is written or not.
LETTERS = "cnosplfbri"


@dataclass(frozen=True, eq=False)
class Spellings:
    """How the texts of a column are spelled: what kind they are, and the spelling that stands for each folded text.

    `texts` are all of them where they are too many to be folded.
    """

    kind: Kind
    chosen: Mapping[str, str] = field(default_factory=dict)
    texts: polars.Series | None = None

    def fold(self, text: str) -> str:
        """What all spellings of a text share."""
        return FOLDS[self.kind](text)

    def of(self, texts: Sequence[str]) -> dict[str, str]:
        """The spelling in this column for each text that is spelled otherwise."""
        if self.texts is not None:
            own = set(self.texts.to_list())
            found = twins([text for text in texts if text not in own], self.texts)
            return {other: text for text, other in found.items()}
        if not self.chosen:
            return {}
        spelled = {text: self.chosen.get(self.fold(text), text) for text in texts}
        return {text: other for text, other in spelled.items() if text != other}


def fold_name(text: str) -> str:
    """A name without capitals, blanks at its ends, and special forms of characters.

    >>> fold_name("XPhos") == fold_name(" xphos"), fold_name("K₂CO₃")
    (True, 'k2co3')
    """
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def fold_molecule(text: str) -> str:
    """The canonical SMILES, or the text itself where it is no molecule."""
    return canonical_text(text) or text


def fold_reaction(text: str) -> str:
    """The reaction in canonical SMILES, or the text itself where it is none."""
    return canonical_reaction(text) or text


FOLDS: dict[Kind, Callable[[str], str]] = {
    "names": fold_name,
    "molecules": fold_molecule,
    "reactions": fold_reaction,
    "texts": str,
}


def spellings(texts: Sequence[str | None], column: str) -> Spellings:
    """How the texts of a column are spelled."""
    some = list(dict.fromkeys(text for text in texts[: 4 * MANY] if text is not None))
    kind = _kind(some, column)
    if kind == "texts" or (kind == "names" and len(some) > MANY):
        return Spellings("texts")
    counts = Counter(text for text in texts if text is not None)
    if len(counts) > MANY:
        return Spellings(kind, texts=polars.Series(list(counts))) if kind == "molecules" else Spellings("texts")
    fold = FOLDS[kind]
    chosen: dict[str, str] = {}
    # Of equally frequent ones the first, as the counter keeps their order.
    for text in sorted(counts, key=lambda text: -counts[text]):
        chosen.setdefault(fold(text), text)
    return Spellings(kind, chosen)


def _kind(distinct: list[str], column: str) -> Kind:
    """What the texts are; sequences and codes, in which every letter counts, are texts."""
    some = distinct[:: -(-len(distinct) // 200)] if distinct else []
    if has_rdkit() and some and sum(text.count(">") == 2 for text in some) >= MOLECULES * len(some):
        return "reactions"
    likely = sum(map(seem_smiles, some)) >= MOLECULES * len(some)
    if has_rdkit() and some and (likely or called_smiles(column)):
        parsed, tried = read_as_smiles(some)
        if parsed >= (0.5 if called_smiles(column) else MOLECULES) * tried and _written(some) != "sequence":
            return "molecules"
    return "names" if not likely and not called_smiles(column) and _written(some) == "name" else "texts"


def _written(texts: list[str]) -> str:
    try:
        kind = writing(texts, molecules=False)[0]
    except SimilarityError:
        return "name"
    return "name" if kind in ("texts", "categories") else "sequence"


def twins(wanted: Sequence[str], texts: polars.Series) -> dict[str, str]:
    """The texts that are the same molecule as a wanted one, with that one; those with other heavy atoms are not read.

    >>> twins(["c1ccccc1"], polars.Series(["CCO", "C1=CC=CC=C1", "c1ccccc1"]))
    {'C1=CC=CC=C1': 'c1ccccc1'}
    """
    if not wanted:
        return {}
    known = {fold_molecule(text): text for text in reversed(wanted)}
    atoms = _atoms(polars.Series(list(wanted))).unique()
    near = _atoms(texts).with_columns(text=texts).join(atoms, on=atoms.columns, how="semi")["text"]
    found = ((text, known.get(fold_molecule(text))) for text in near.to_list())
    return {text: other for text, other in found if other is not None and other != text}


def _atoms(texts: polars.Series) -> polars.DataFrame:
    """How often each letter of an atom occurs in each text, and how many digits close its rings."""
    low = polars.col("low")
    bare = low.str.replace_all(r"\[[^\]]*\]", "").str.replace_all(r"%\d\d", "0")
    counts = [low.str.count_matches(letter, literal=True).alias(letter) for letter in LETTERS]
    return texts.str.to_lowercase().alias("low").to_frame().select(*counts, rings=bare.str.count_matches(r"\d"))


def respell(
    values: list[Any], column: str, known: Spellings | None, place: Callable[[int], int], measured: Sequence[int]
) -> tuple[list[Any], Spellings, str]:
    """The texts of a column, each in the spelling that stands for it, how they are spelled, and a note on changes.

    `known` is how the table spells that these are results of; `place` gives the number of a row. Of too many molecules,
    those are found that are `measured` in another spelling.
    """
    own = spellings(values, column) if known is None else known
    if own.kind == "texts":
        return values, own, ""
    if known is None and own.texts is not None:
        wanted = dict.fromkeys(values[i] for i in measured if values[i] is not None)
        changed = twins(list(wanted), own.texts)
    else:
        changed = own.of(list(dict.fromkeys(text for text in values if text is not None)))
    if not changed:
        return values, own, ""
    rows = {text: place(number) for number, text in reversed(list(enumerate(values))) if text in changed}
    listed = [f"{text!r} (row {row}) as {changed[text]!r}" for text, row in reversed(rows.items())]
    more = f" and {len(listed) - LISTED} more" if len(listed) > LISTED else ""
    what = f"one {own.kind.removesuffix('s')}"
    note = f"takes {', '.join(listed[:LISTED])}{more}: {what} in several spellings"
    return [changed.get(value, value) if isinstance(value, str) else value for value in values], own, note
