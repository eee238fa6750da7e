"""What a list of texts is, and which similarities stand for each kind of object."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from typing import Any, Literal

import numpy as np

import likewise as lw
from likewise.errors import SimilarityError, did_you_mean
from likewise.similarity.algebra import Fields, fixed
from likewise.similarity.base import Similarity
from likewise.similarity.kinds.molecules import parse, read_reaction
from likewise.similarity.kinds.permutations import Numbered
from likewise.similarity.kinds.vectors import as_vectors

# What a list of texts is: molecules, DNA, RNA, proteins, codes of one length, categories, or words.

Writing = Literal["molecules", "reactions", "DNA", "RNA", "proteins", "codes", "categories", "texts"]
AMINO_ACIDS = frozenset("ACDEFGHIKLMNPQRSTVWY")
NUCLEOTIDES = {"DNA": frozenset("ACGTN"), "RNA": frozenset("ACGUN")}
# Letters of DNA and RNA that are no atoms: a text without them may be SMILES.
NO_ATOM = frozenset("AGTU")
SHORTEST_SEQUENCE, SHORTEST_PROTEIN, FEWEST_AMINO_ACIDS = 4, 7, 10
# Texts of one length over so few letters are codes; ten digits always are.
CODE_LETTERS, FEWEST_CODES = 6, 3
SHORTEST_NUMBER_CODE = 4
# So large a share of so many must parse: one typing error does not turn molecules into words.
MOLECULES, PARSED = 0.9, 200
BONDS = re.compile(r"[()\[\]=#@/\\%]|[a-zA-Z][0-9]")
# What SMILES are written in: atoms of organic molecules, anything in square brackets, bonds, rings and branches.
SMILES = re.compile(r"(?:\[[^\[\]]+\]|Cl|Br|[BCNOPSFIbcnops]|[0-9%()=#$:/\\.\-+@~*])+")
# How names of chemicals end.
CHEMICAL = re.compile(
    r"(?:ane|ene|yne|ol|one|ine|ide|ate|ite|acid|amine|amide|ether|aldehyde|nitrile|phos|ium|yl)\b", re.I
)
CHEMICALS = 0.6
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


def writing(texts: Sequence[str], *, molecules: bool = True) -> tuple[Writing, str]:
    """What these texts are, and why; `molecules` says whether they may be SMILES.

    >>> writing(["CCO", "CC(=O)O", "c1ccccc1"])[0], writing(["ACGTT", "GGCAT"])[0], writing(["wine", "beer"])[0]
    ('molecules', 'DNA', 'texts')
    """
    n, distinct, letters = len(texts), set(texts), set("".join(texts))
    every = f"every one of {n} texts" if n > 1 else "the text"
    for kind in ("DNA", "RNA"):
        if _nucleic(kind, texts, letters):
            return kind, f"{every} is written in the letters {', '.join(sorted(letters))} of {kind}"
    if molecules and (reason := _molecular(distinct)):
        return "molecules", reason
    if molecules and (reason := _reactive(distinct)):
        return "reactions", reason
    if _are_proteins(texts, letters):
        return "proteins", f"{every} is written in the letters of amino acids"
    if _are_codes(distinct, letters):
        length = len(texts[0])
        return "codes", f"{every} has {length} letters, out of the {len(letters)} letters {', '.join(sorted(letters))}"
    if n > 1 and (2 * len(distinct) <= n or max(map(len, distinct)) <= 1):
        return "categories", f"{n} texts have {len(distinct)} different values"
    _refuse_numbers(texts)
    return "texts", f"{every} is text of no narrower kind" + _hint(distinct, molecules)


def _nucleic(kind: str, texts: Sequence[str], letters: set[str]) -> bool:
    capital = {letter.upper() for letter in letters}
    # RNA without U would be DNA as well, and C and N alone are atoms: carbon and nitrogen.
    marks = NO_ATOM if kind == "DNA" else {"U"}
    return capital <= NUCLEOTIDES[kind] and bool(capital & marks) and _median(texts) >= SHORTEST_SEQUENCE


def _are_proteins(texts: Sequence[str], letters: set[str]) -> bool:
    return (
        letters <= AMINO_ACIDS
        and len(letters) >= min(FEWEST_AMINO_ACIDS, max(map(len, texts)))
        and _median(texts) >= SHORTEST_PROTEIN
    )


def _are_codes(distinct: set[str], letters: set[str]) -> bool:
    lengths = set(map(len, distinct))
    if len(lengths) != 1 or len(distinct) < FEWEST_CODES or not all(letter.isalnum() for letter in letters):
        return False
    (length,) = lengths
    if all(letter.isdigit() for letter in letters):
        # 90, 105 are numbers; 0012 and 2210 are codes.
        return length >= 2 and (length >= SHORTEST_NUMBER_CODE or any(text[0] == "0" for text in distinct))
    return length >= 3 and len(letters) <= CODE_LETTERS


def _molecular(distinct: set[str]) -> str | None:
    """Why these are molecules, or None where they are not."""
    if max(map(len, distinct)) < 2 or any(" " in text for text in distinct):
        return None
    parsed, tried = read_as_smiles(sorted(distinct))
    if not tried or parsed < MOLECULES * tried:
        return None
    if parsed < tried:
        return f"{parsed} of {tried} texts parse as SMILES"
    return f"every one of {parsed} texts parses as SMILES" if parsed > 1 else "the text parses as SMILES"


def _reactive(distinct: set[str]) -> str | None:
    """Why these are reactions, or None where they are not."""
    if sum(text.count(">") == 2 for text in distinct) < MOLECULES * len(distinct) or not has_rdkit():
        return None
    some = sorted(distinct)[:: -(-len(distinct) // PARSED)]
    parsed = sum(read_reaction(text) is not None for text in some)
    return f"{parsed} of {len(some)} texts are reaction SMILES" if parsed >= MOLECULES * len(some) else None


def spelling_warning(kind: Writing, texts: Sequence[str]) -> str:
    """What to say about names of chemicals, which are compared by their letters.

    >>> spelling_warning("texts", ["benzoic acid", "toluene", "aniline"])[:42]
    'these look like names of chemicals, which '
    """
    named = sum(CHEMICAL.search(text) is not None for text in texts)
    if kind != "texts" or named < CHEMICALS * len(texts):
        return ""
    return (
        "these look like names of chemicals, which are compared by their letters; a column of SMILES would compare the "
        "molecules"
    )


def read_as_smiles(texts: Sequence[str]) -> tuple[int, int]:
    """How many of some texts are molecules, and how many were tried: none where RDKit is not there."""
    if not texts or not has_rdkit():
        return 0, 0
    some = texts[:: -(-len(texts) // PARSED)]
    return sum(bool(text) and parse(text) is not None for text in some), len(some)


def seem_smiles(text: str) -> bool:
    """Whether a text is written like SMILES or InChI; whether it is a molecule, RDKit knows.

    >>> seem_smiles("CC(=O)O"), seem_smiles("XPhos")
    (True, False)
    """
    return text.startswith("InChI=") or SMILES.fullmatch(text) is not None


def has_rdkit() -> bool:
    """Whether molecules can be read."""
    return find_spec("rdkit") is not None


def _refuse_numbers(texts: Sequence[str]) -> None:
    if all(NUMBER.fullmatch(text.strip()) for text in texts):
        raise SimilarityError(
            f"object 0 is a number written as text: {texts[0]!r}; give numbers, as in float({texts[0]!r}), "
            "or name a similarity of texts such as Levenshtein()"
        )


def _hint(distinct: set[str], molecules: bool) -> str:
    """What would be needed to recognise molecules, where they seem to be some."""
    seem = molecules and all(BONDS.search(text) or text.isupper() for text in distinct)
    return "; if these are molecules, run: pip install 'likewise[molecules]'" if seem and not has_rdkit() else ""


def _median(texts: Sequence[str]) -> int:
    return sorted(map(len, texts))[len(texts) // 2]


# Which similarities stand for a kind of object: a few views that differ, as the committee weighs them by evidence.
#
# The choices are measured: a similarity is here because committees with it predict better on average over the data sets
# of its kind (docs/committee.md). Of each kind the first similarity is the one to take alone, as the field of a record.
# Where a similarity has many parameters to learn, a fixed one stands beside it for when observations are few.

# The package itself, which loads a similarity when it is named first: only those that suit the objects at hand.

Kind = Literal[
    "molecules",
    "reactions",
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
    "distributions",
    "mixtures",
    "records",
    "branches",
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
    if kind not in _CATALOGUE:
        raise SimilarityError(
            f"'auto' has no similarity for the kind {kind!r}: {did_you_mean(str(kind), _CATALOGUE)}; "
            "name a similarity in place of 'auto', or leave out the space's `kind`, so that its objects tell"
        )
    return _CATALOGUE[kind](objects)


def usual_lengthscale(dimension: int) -> float:
    """Half the diagonal of the unit cube, ½√d: points at random in it are about as alike as not, in any dimension."""
    return 0.5 * float(np.sqrt(dimension))


def _vectors(objects: Sequence[Any]) -> Similarities:
    width = as_vectors(objects[:1]).shape[1]
    return lw.Matern(), fixed(lw.RBF(usual_lengthscale(width)))


def _bits(objects: Sequence[Any]) -> Similarities:
    # Of lists and tuples, Jaccard would compare the sets of their entries.
    arrays = all(isinstance(x, np.ndarray) for x in objects)
    return lw.Hamming(), _vectors(objects)[-1], *((lw.Jaccard(),) if arrays else ())


def _molecules(objects: Sequence[Any]) -> Similarities:
    descriptors = lw.Descriptors(lw.Matern(usual_lengthscale(lw.Descriptors.count)))
    return lw.TanimotoCounts(), lw.Tanimoto("maccs"), fixed(descriptors)


def _words(objects: Sequence[Any]) -> Similarities:
    return lw.NGrams(2, "minmax", up_to=True), lw.NGrams(4, "minmax", up_to=True), *_edited(lw.Indel(), objects)


def _edited(edits: Similarity, objects: Sequence[Any]) -> Similarities:
    """The similarity by edits, where the sequences are short enough for it."""
    return (edits,) if max(map(len, objects)) <= LONGEST_EDITED else ()


def _positioned(objects: Sequence[Any]) -> Similarities:
    """Hamming, where the sequences have one length."""
    return (lw.Hamming(),) if len({len(x) for x in objects}) == 1 else ()


def _codes(objects: Sequence[Any]) -> Similarities:
    return lw.NGrams(3, "minmax", up_to=True), *_positioned(objects), lw.NGrams(4, "cosine", up_to=True)


def _rna(objects: Sequence[Any]) -> Similarities:
    return lw.NGrams(4, "cosine", up_to=True), *_edited(lw.Levenshtein(), objects)


def _dna(objects: Sequence[Any]) -> Similarities:
    grams, *edits = _rna(objects)
    return lw.ReverseComplement(grams), grams, *edits


def _proteins(objects: Sequence[Any]) -> Similarities:
    aligned = _has("Bio") and max(map(len, objects)) <= LONGEST_ALIGNED
    whole = (lw.GlobalAlignment(),) if aligned else _edited(lw.Levenshtein(), objects)
    return lw.NGrams(3, "minmax", up_to=True), *whole, *_positioned(objects)


def _permutations(objects: Sequence[Any]) -> Similarities:
    views: Similarities = (lw.Positions(), lw.Mallows(), lw.Tours())
    if all(isinstance(item, int | np.integer) for item in objects[0]) and min(objects[0]) == 0:
        return views
    return tuple(Numbered(view, tuple(objects[0])) for view in views)


def _series(objects: Sequence[Any]) -> Similarities:
    long = max(map(len, objects)) > LONGEST_SUMMED and _has("dtaidistance")
    if len({len(x) for x in objects}) == 1 and np.ndim(objects[0]) == 1:
        return lw.DTW() if long else lw.GlobalAlignmentKernel(), _vectors(objects)[-1]
    return (lw.DTW(),) if long else (lw.GlobalAlignmentKernel(), *((lw.DTW(),) if _has("dtaidistance") else ()))


def _gaussians(objects: Sequence[Any]) -> Similarities:
    full = not all(x.diagonal for x in objects)
    return lw.Wasserstein2(full=full), lw.Bhattacharyya(full=full), lw.GaussianEmbedding(full=full)


def _has(library: str) -> bool:
    return find_spec(library) is not None


def of_shares(names: tuple[str, ...], objects: Sequence[Mapping[str, Any]]) -> Similarities:
    """The similarities of records in these fields, which are shares of a whole."""
    vectors = [[x[name] for name in names] for x in objects[:1]]
    return tuple(Fields(one, names) for one in similarities("compositions", vectors))


def of_mixtures(ground: Similarity, *, whole: bool) -> Similarities:
    """The similarities of mixtures of things that `ground` compares; `whole` weights may be counts."""
    return lw.MeanEmbedding(ground), lw.MaximumMeanDiscrepancy(ground), *((lw.MinMax(),) if whole else ())


def as_field(kind: Kind, found: Similarities, *, repeats: bool) -> Similarities:
    """The similarities of a record's field in a product and in a sum; its weight is all there is to learn.

    Molecules that come up again and again, as the ligands of a grid do, are more than their structure: in the product
    they count half by structure and half by identity.
    """
    first = found[-1] if kind in ("numbers", "vectors") else found[0]
    if kind == "molecules" and repeats:
        return 0.5 * (first + lw.Equal(0.0)), first
    return first, first


def of_records(fields: Mapping[str, Similarities]) -> Similarities:
    """The similarities of records from those of their fields: a product whose weights are learnt, and a plain sum.

    Warped, the sum holds interactions of the fields of every order.
    """
    factors, terms = ({name: found[k] for name, found in fields.items()} for k in (0, -1))
    return lw.Parts("product", [0.5] * len(fields), **factors), fixed(lw.Parts("sum", **terms))


def of_branches(branches: Mapping[str, Similarities]) -> Similarities:
    """The similarities of objects of several branches: the first of each, and the last with nothing to learn."""
    first, last = ({name: found[k] for name, found in branches.items()} for k in (0, -1))
    return lw.Branches(**first), fixed(lw.Branches(**last))


_CATALOGUE: dict[Kind, Callable[[Sequence[Any]], Similarities]] = {
    "molecules": _molecules,
    "reactions": lambda objects: (lw.Reactions(), lw.Reactions(agents=False)),
    "DNA": _dna,
    "RNA": _rna,
    "proteins": _proteins,
    "codes": _codes,
    "texts": _words,
    "categories": lambda objects: (lw.Equal(),),
    "numbers": _vectors,
    "vectors": _vectors,
    "compositions": lambda objects: (lw.Hellinger(), _vectors(objects)[-1]),
    "bits": _bits,
    "permutations": _permutations,
    "sets": lambda objects: (lw.Dice(), lw.Overlap()),
    "graphs": lambda objects: (lw.ShortestPath(), lw.WeisfeilerLehman()),
    "series": _series,
    "Gaussians": _gaussians,
    # The divergence is bounded, so that what is far apart is all alike to it; the parameters tell it apart.
    "distributions": lambda objects: (lw.MonteCarloJS(), _vectors(objects)[-1]),
    "nothing": lambda objects: (lw.Equal(),),
}
