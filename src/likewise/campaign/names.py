"""Similarities, acquisitions and strategies by name, as one types them: `tanimoto`, `ngrams(4)`, `smiles(indel)`."""

from __future__ import annotations

import ast
import difflib
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from likewise.errors import LikewiseError, MissingExtra, UsageError

if TYPE_CHECKING:
    from likewise.acquisition.base import Acquisition
    from likewise.search.batch import Strategy
    from likewise.similarity.base import Similarity


class Named(NamedTuple):
    """Something that has a name on the command line: where it lives, what it is for, and one line about it."""

    home: str
    kind: str
    help: str
    arguments: str = ""

    def load(self) -> Any:
        """The class."""
        module, name = self.home.split(":")
        return getattr(import_module(f"likewise.{module}"), name)


SIMILARITIES: dict[str, Named] = {
    "tanimoto": Named(
        "similarity.kinds.molecules:Tanimoto",
        "molecules",
        "share of fingerprint bits in common",
        "fingerprint=morgan|atompair|torsion|maccs, radius=2, bits=2048, chirality=False",
    ),
    "tanimoto_counts": Named(
        "similarity.kinds.molecules:TanimotoCounts",
        "molecules",
        "how often each fragment occurs, compared by min over max",
        "fingerprint=morgan|atompair|torsion, radius=2, chirality=False",
    ),
    "smiles": Named(
        "similarity.kinds.molecules:CanonicalSMILES",
        "molecules",
        "a similarity of strings, on canonical SMILES",
        "indel",
    ),
    "descriptors": Named(
        "similarity.kinds.molecules:Descriptors", "molecules", "thirteen physico-chemical descriptors"
    ),
    "indel": Named("similarity.kinds.strings:Indel", "strings", "longest common subsequence, over the mean length"),
    "levenshtein": Named("similarity.kinds.strings:Levenshtein", "strings", "insertions, deletions and substitutions"),
    "damerau": Named("similarity.kinds.strings:Damerau", "strings", "Levenshtein with swaps of neighbours"),
    "jaro_winkler": Named(
        "similarity.kinds.strings:JaroWinkler", "strings", "letters at nearly the same place; for names"
    ),
    "hamming": Named(
        "similarity.kinds.strings:Hamming", "strings", "share of positions that agree; strings of one length"
    ),
    "ngrams": Named(
        "similarity.kinds.ngrams:NGrams",
        "strings",
        "runs of n letters in common",
        "n=3, how=cosine|minmax, up_to=False",
    ),
    "subsequences": Named(
        "similarity.kinds.ngrams:Subsequences", "strings", "subsequences in common, gaps allowed", "length=3, decay=0.5"
    ),
    "global_alignment": Named(
        "similarity.kinds.sequences:GlobalAlignment",
        "sequences",
        "Needleman–Wunsch score of whole sequences",
        "matrix=BLOSUM62, gap_open=11, gap_extend=1",
    ),
    "local_alignment": Named(
        "similarity.kinds.sequences:LocalAlignment",
        "sequences",
        "Smith–Waterman score of the most alike stretches",
        "matrix=BLOSUM62, gap_open=11, gap_extend=1",
    ),
    "reverse_complement": Named(
        "similarity.kinds.sequences:ReverseComplement",
        "sequences",
        "a similarity of DNA, whichever strand is given",
        "hamming",
    ),
    "matern": Named(
        "similarity.kinds.vectors:Matern",
        "numbers",
        "near in value, by a Matérn kernel",
        "smoothness=2.5, lengthscale=None",
    ),
    "rbf": Named("similarity.kinds.vectors:RBF", "numbers", "near in value, by a Gaussian kernel", "lengthscale=None"),
    "linear": Named("similarity.kinds.vectors:Linear", "numbers", "inner product", "bias=0"),
    "cosine": Named("similarity.kinds.vectors:Cosine", "numbers", "angle between vectors"),
    "hellinger": Named("similarity.kinds.compositions:Hellinger", "compositions", "overlap of the shares of a mixture"),
    "aitchison": Named("similarity.kinds.compositions:Aitchison", "compositions", "ratios of the shares of a mixture"),
    "kendall": Named("similarity.kinds.permutations:Kendall", "permutations", "pairs of items in the same order"),
    "mallows": Named(
        "similarity.kinds.permutations:Mallows", "permutations", "falls off with pairs in opposite orders"
    ),
    "footrule": Named("similarity.kinds.permutations:Footrule", "permutations", "how far items have moved"),
    "positions": Named(
        "similarity.kinds.permutations:Positions", "permutations", "share of places that hold the same item"
    ),
    "tours": Named("similarity.kinds.permutations:Tours", "permutations", "share of steps of a round trip in common"),
    "same": Named("similarity.kinds.categories:Same", "categories", "equal or not", "otherwise=0.5"),
    "jaccard": Named("similarity.kinds.sets:Jaccard", "sets", "elements in common, over all elements"),
    "dice": Named("similarity.kinds.sets:Dice", "sets", "elements in common, over the mean size"),
    "overlap": Named("similarity.kinds.sets:Overlap", "sets", "elements in common, over the smaller set"),
    "minmax": Named("similarity.kinds.sets:MinMax", "sets", "counts compared by min over max"),
    "weisfeiler_lehman": Named(
        "similarity.kinds.graphs:WeisfeilerLehman", "graphs", "subtrees in common", "iterations=3"
    ),
    "shortest_path": Named("similarity.kinds.graphs:ShortestPath", "graphs", "distances between labelled nodes"),
    "graph_edit": Named("similarity.kinds.graph_edit:GraphEdit", "graphs", "edits that turn one graph into the other"),
    "dtw": Named("similarity.kinds.series:DTW", "series", "dynamic time warping", "band=0.1, normalise=False"),
    "soft_dtw": Named("similarity.kinds.series:SoftDTW", "series", "dynamic time warping, smoothed", "gamma=1"),
    "global_alignment_kernel": Named(
        "similarity.kinds.series:GlobalAlignmentKernel", "series", "all alignments at once"
    ),
    "bhattacharyya": Named(
        "similarity.kinds.distributions.gaussians:Bhattacharyya", "Gaussians", "overlap of two Gaussians"
    ),
    "gaussian_embedding": Named(
        "similarity.kinds.distributions.gaussian_embedding:GaussianEmbedding",
        "Gaussians",
        "how alike expectations under them are",
    ),
    "symmetric_kl": Named(
        "similarity.kinds.distributions.gaussians:SymmetricKL", "Gaussians", "symmetric Kullback–Leibler divergence"
    ),
    "wasserstein": Named(
        "similarity.kinds.distributions.gaussians:Wasserstein2", "Gaussians", "how far mass must move"
    ),
}
ACQUISITIONS: dict[str, Named] = {
    "ei": Named("acquisition.improvement:LogExpectedImprovement", "", "expected gain over the best (log EI)"),
    "pi": Named("acquisition.improvement:ProbabilityOfImprovement", "", "chance to beat the best"),
    "ucb": Named("acquisition.confidence:UpperConfidence", "", "mean + κ standard deviations", "kappa=2"),
    "mean": Named("acquisition.confidence:Mean", "", "mean alone: no exploration"),
}
STRATEGIES: dict[str, Named] = {
    "sequential": Named("search.batch:Sequential", "", "pick one, take it as pending, pick the next"),
    "thompson": Named("search.batch:Thompson", "", "the best of one random draw of the model for each pick"),
    "top_score": Named("search.batch:TopScore", "", "the highest upper bounds (the paper's u₂)", "kappa=2"),
    "two_stage": Named("search.batch:TwoStage", "", "the best means, and of those the least certain (the paper's u₁)"),
}


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
    pairs = [item.split("=", 1) if _field(item) else ("", item) for item in items]
    named = {field.strip(): _made(text, SIMILARITIES, "similarity") for field, text in pairs}
    if all(field for field, _ in pairs):
        if len(named) < len(pairs):
            raise UsageError(f"--similarity {','.join(texts)!r} names a column twice; give each column one similarity.")
        return named
    if any(field for field, _ in pairs):
        raise UsageError(
            f"--similarity {','.join(texts)!r} mixes names and COLUMN=NAME; give names alone (a committee), "
            "or one COLUMN=NAME for each column of the object."
        )
    return [_made(text, SIMILARITIES, "similarity") for _, text in pairs]


def acquisition(text: str) -> Acquisition:
    """The acquisition of this name."""
    made: Acquisition = _made(text, ACQUISITIONS, "acquisition")
    return made


def strategy(text: str) -> Strategy | None:
    """The strategy of this name; None for "auto"."""
    if text.strip().lower() == "auto":
        return None
    made: Strategy = _made(text, STRATEGIES, "strategy")
    return made


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


def _field(item: str) -> bool:
    return "=" in item and "(" not in item.split("=", 1)[0]


def _made(text: str, known: Mapping[str, Named], what: str) -> Any:
    try:
        tree = ast.parse(text.strip().replace("-", "_") if "(" not in text else text.strip(), mode="eval").body
    except SyntaxError:
        raise UsageError(
            f"{what} {text.strip()!r} is not a name, nor a name with arguments such as ngrams(4); "
            f"known are {', '.join(known)}."
        ) from None
    return _built(tree, known, what, text.strip())


def _built(tree: ast.expr, known: Mapping[str, Named], what: str, text: str) -> Any:
    call = tree if isinstance(tree, ast.Call) else ast.Call(tree, [], [])
    if not isinstance(call.func, ast.Name):
        raise UsageError(f"{what} {text!r} is not a name; known are {', '.join(known)}.")
    name = call.func.id.lower()
    if name not in known:
        close = difflib.get_close_matches(name, known, n=1, cutoff=0.6)
        hint = f"did you mean {close[0]!r}?" if close else f"known are {', '.join(known)}."
        raise UsageError(f"there is no {what} called {name!r}; {hint}")
    arguments = [_argument(each, known, what, text) for each in call.args]
    options = {str(each.arg): _argument(each.value, known, what, text) for each in call.keywords}
    try:
        return _sound(known[name].load()(*arguments, **options))
    except MissingExtra:
        raise
    except (AttributeError, LikewiseError, TypeError, ValueError) as error:
        takes = known[name].arguments or "none"
        raise UsageError(f"{what} {text!r} does not fit: {error}; the arguments of {name} are: {takes}.") from None


def _sound(made: Any) -> Any:
    """What was made, if everything that it is made of is a similarity."""
    from likewise.similarity.base import Similarity

    for part in made.parts if isinstance(made, Similarity) else ():
        if not isinstance(part, Similarity):
            raise TypeError(f"{part!r} is no similarity")
    return made


def _argument(tree: ast.expr, known: Mapping[str, Named], what: str, text: str) -> Any:
    if isinstance(tree, ast.Name) and tree.id.lower() not in known:
        return tree.id
    if isinstance(tree, ast.Name | ast.Call):
        return _built(tree, known, what, text)
    try:
        return ast.literal_eval(tree)
    except ValueError:
        raise UsageError(f"{what} {text!r} has an argument that is no number, word or similarity.") from None
