"""What `likewise similarities` and `likewise spaces` do: list what there is, with a line about each."""

from __future__ import annotations

from collections.abc import Sequence

from likewise.campaign.names import arguments, known_similarities
from likewise.campaign.space_text import summary
from likewise.cli.console import say, say_table
from likewise.cli.parameters import Reply
from likewise.spaces.description import spaces as known_spaces

KEYS = ("name", "for", "help", "arguments")
EXAMPLE = """
Settings go into one line: --space "temp=20..120/5, cycles=1..8 int, dose=0.01..10 log, solvent=DMF|THF, x+y+z=1".
/5 is for steps of 5. Conditions such as x+y+z=1 or a+2*b<=5 hold in every suggestion. dna:8, rna:8 and protein:8 are
texts of 8 letters.
The others, and options that have no short form, go into a TOML file for --space space.toml:

    space = "Record"
    [parts]
    solvent = ["water", "DMF", "toluene"]
    temperature = { space = "Box", lower = 20, upper = 120 }
    barcode = { space = "Strings", alphabet = "ACGT", min_length = 4, max_length = 8 }
"""


FOOTER = """
--similarity NAME[,NAME…] takes several as a committee, weighted by how well each explains the values.
Arguments go in brackets: ngrams(4), tanimoto(fingerprint=maccs), canonical_smiles(indel).
Records take one for each column: --similarity ligand=tanimoto,temperature=matern.
Left out, or auto, the kind of object decides."""


def similarities() -> Reply:
    """The similarities that have a name on the command line."""
    kinds = known_similarities().items()
    rows = [(name, str(kind.kind), kind.compares, arguments(kind)) for name, kind in kinds]
    return _list("similarities", ("name", "for", "compares", "arguments"), rows, FOOTER)


def spaces() -> Reply:
    """The spaces that a text or a file can describe."""
    rows = [
        (name, kind.short or "(file)", summary(kind), ", ".join(kind.arguments()))
        for name, kind in sorted(known_spaces().items())
    ]
    return _list("spaces", ("space", "short form", "objects", "arguments in a file"), rows, EXAMPLE)


def _list(what: str, columns: Sequence[str], rows: Sequence[Sequence[str]], footer: str) -> Reply:
    def in_words() -> None:
        say_table(columns, rows)
        say(footer)

    return Reply(lambda: {what: [dict(zip(KEYS, row, strict=True)) for row in rows]}, in_words)
