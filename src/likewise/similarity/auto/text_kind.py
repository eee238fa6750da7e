"""What a list of texts is: molecules, DNA, RNA, proteins, codes of one length, categories, or words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from importlib.util import find_spec
from typing import Literal

from likewise.errors import SimilarityError
from likewise.similarity.kinds.reactions import read_reaction
from likewise.similarity.kinds.smiles import parse

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
    if _proteins(texts, letters):
        return "proteins", f"{every} is written in the letters of amino acids"
    if _codes(distinct, letters):
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


def _proteins(texts: Sequence[str], letters: set[str]) -> bool:
    return (
        letters <= AMINO_ACIDS
        and len(letters) >= min(FEWEST_AMINO_ACIDS, max(map(len, texts)))
        and _median(texts) >= SHORTEST_PROTEIN
    )


def _codes(distinct: set[str], letters: set[str]) -> bool:
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
