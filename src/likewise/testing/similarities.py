"""The laws that every similarity keeps, for the library's own and for yours.

>>> import numpy as np
>>> from likewise.similarity.kinds.strings import Hamming
>>> check_similarity(Hamming(), ["ACGT", "AGGT", "TTTT", "ACCT"], wrong=[7, "ACG"])
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import cloudpickle
import numpy as np

from likewise.errors import SimilarityError
from likewise.similarity.base import Matrix, Similarity, Vector, is_differentiable
from likewise.similarity.encoding import Encoding, count_rows, join, take
from likewise.similarity.parallel import can_send

Perturb = Callable[[Any, Vector], Any]
# Scores may be sums in another order, or square roots of differences that should vanish.
ROUNDING = 1e-6
NEGATIVE = 1e-8
STEP = 1e-5
SLOPE_ERROR = 1e-4
PAIRS = 60


def check_similarity(
    similarity: Similarity,
    objects: Sequence[Any],
    *,
    wrong: Sequence[Any] | None = None,
    rng: np.random.Generator | None = None,
    perturb: Perturb | None = None,
) -> None:
    """Raise an AssertionError that names the first law that a similarity breaks.

    similarity: the one to be checked.
    objects: four or more that it can compare, all different.
    wrong: objects that must be refused with a SimilarityError; none by default.
    rng: what draws the cases; by default always the same.
    perturb: `perturb(x, v)` is the object whose vector is that of x plus v. It is needed only where the similarity has
        derivatives in objects that are neither numbers, arrays nor records of such.
    """
    if len(objects) < 4:
        raise ValueError(f"check_similarity needs four objects or more, not {len(objects)}")
    rng = np.random.default_rng(0) if rng is None else rng
    encoding = similarity.encode(objects)
    scores = similarity.between(encoding, encoding)
    check_scores(similarity, objects, encoding, scores)
    check_encoding(similarity, objects, encoding, scores, rng)
    check_copies(similarity, objects, encoding, scores)
    check_psd(similarity, scores)
    check_parameters(similarity, encoding, rng)
    if is_differentiable(similarity):
        check_gradient(similarity, objects, rng, perturb)
    for x in wrong or ():
        check_refused(similarity, objects, x)


def _require(holds: Any, message: str) -> None:
    """An assertion that stays under `python -O`."""
    if not holds:
        raise AssertionError(message)


def _close_slopes(law: str, actual: Any, expected: Any) -> None:
    # A derivative that vanishes leaves the rounding of the finite difference.
    _close(law, actual, expected, SLOPE_ERROR, least=1e-3)


def _close(law: str, actual: Any, expected: Any, tolerance: float = ROUNDING, least: float = 1e-12) -> None:
    """Equal up to `tolerance`, relative to the largest number expected (or to `least`)."""
    actual, expected = np.asarray(actual, dtype=float), np.asarray(expected, dtype=float)
    _require(actual.shape == expected.shape, f"{law}: shape {actual.shape} where {expected.shape} is expected")
    gap = np.abs(actual - expected)
    limit = tolerance * max(least, float(np.max(np.abs(expected), initial=0.0)))
    if gap.size and not gap.max() <= limit:
        place = tuple(map(int, np.unravel_index(int(np.argmax(gap)), gap.shape)))
        raise AssertionError(f"{law}: {actual[place]:.8g} where {expected[place]:.8g} is expected, at {place}")


def check_scores(similarity: Similarity, objects: Sequence[Any], encoding: Encoding, scores: Matrix) -> None:
    """Scores are finite, symmetric and non-negative, and `within` is their diagonal."""
    n = len(objects)
    _require(count_rows(encoding) == n, f"the encoding of {n} objects has {count_rows(encoding)} entries")
    _require(scores.shape == (n, n), f"`between` gives shape {scores.shape} where {(n, n)} is expected")
    _require(scores.dtype == np.float64, f"`between` gives {scores.dtype} where float64 is expected")
    for i, j in np.argwhere(~np.isfinite(scores))[:1]:
        raise AssertionError(f"not finite: S({objects[i]!r}, {objects[j]!r}) = {scores[i, j]}")
    _close("symmetric: S(x, x') = S(x', x)", scores, scores.T)
    _close("`within` is the diagonal of `between`", similarity.within(encoding), np.diagonal(scores))
    if similarity.signed:
        _require(similarity.psd, "only a PSD similarity may be signed")
        return
    for i, j in np.argwhere(scores < -1e-12)[:1]:
        raise AssertionError(f"negative, and not signed: S({objects[i]!r}, {objects[j]!r}) = {scores[i, j]:.8g}")


def check_copies(similarity: Similarity, objects: Sequence[Any], encoding: Encoding, scores: Matrix) -> None:
    """What a copy in another process encodes can be compared with what is encoded here, if it is `portable`."""
    if not similarity.portable or not can_send(similarity, encoding):
        return
    theirs = _sent(_sent(similarity).encode(objects[::-1]))
    law = "encodings by a copy of it (if it remembers what it has seen, set `portable = False`)"
    _close(law, similarity.between(theirs, encoding), scores[::-1])


def _sent(thing: Any) -> Any:
    return cloudpickle.loads(cloudpickle.dumps(thing))


def check_encoding(
    similarity: Similarity, objects: Sequence[Any], encoding: Encoding, scores: Matrix, rng: np.random.Generator
) -> None:
    """Encoding all at once, one by one, permuted, in pieces or by selection gives the same scores."""
    n, half = len(objects), len(objects) // 2
    for i, j in rng.integers(0, n, size=(PAIRS, 2)):
        law = f"encoding then comparing is comparing pair by pair: S({objects[i]!r}, {objects[j]!r})"
        _close(law, [similarity(objects[i], objects[j])], [scores[i, j]])
    order = rng.permutation(n)
    again = similarity.encode([objects[i] for i in order])
    _close("permuted objects have permuted scores", similarity.between(again, again), scores[np.ix_(order, order)])
    sample = rng.choice(n, size=half, replace=False)
    for law, index in (("an index array", sample), ("a slice", slice(1, half + 1))):
        taken = take(encoding, index)
        _close(f"taking entries by {law}", similarity.between(taken, encoding), scores[index])
        _close(f"taking entries by {law}, the other way", similarity.between(encoding, taken), scores[:, index])
        _close(f"taking entries by {law}, within", similarity.within(taken), np.diagonal(scores)[index])
    pieces = [similarity.encode(objects[:half]), similarity.encode(objects[half:])]
    _close("encodings made at different times", similarity.between(*pieces), scores[:half, half:])
    joined = join(pieces)
    _require(
        count_rows(joined) == n,
        f"joining encodings of {half} and {n - half} objects gives {count_rows(joined)} entries",
    )
    shifted = np.roll(np.arange(n), 1)
    paired = similarity.paired(encoding, take(encoding, shifted))
    _close("`paired` is a diagonal of `between`", paired, scores[np.arange(n), shifted])
    _close("joining encodings", similarity.between(joined, joined), scores)
    _close("joining encodings, within", similarity.within(joined), np.diagonal(scores))


def check_psd(similarity: Similarity, scores: Matrix) -> None:
    """A similarity that declares itself PSD has no eigenvalue below rounding, nor has a power of one that divides."""
    declared = {1.0: similarity.psd, 0.3: similarity.divisible, 2.7: similarity.divisible}
    for power in (power for power, is_declared in declared.items() if is_declared):
        raised = scores if power == 1.0 else np.maximum(scores, 0.0) ** power
        values = np.linalg.eigvalsh(0.5 * (raised + raised.T))
        limit, whose = -NEGATIVE * max(abs(values[-1]), 1e-300), "" if power == 1.0 else f"of its power {power} "
        span = f"from {values[0]:.4g} to {values[-1]:.4g}"
        _require(values[0] >= limit, f"declared PSD, but the eigenvalues {whose}go {span}")


def check_parameters(similarity: Similarity, encoding: Encoding, rng: np.random.Generator) -> None:
    """Settling on data is done once; parameters can be put back; `sensitivity` is the derivative in log θ."""
    settled = similarity.fitted(encoding)
    scores = settled.between(encoding, encoding)
    _require(np.isfinite(scores).all(), "`fitted` gives scores that are not finite")
    _close("`fitted` twice is `fitted` once", settled.fitted(encoding).between(encoding, encoding), scores)
    parameters = settled.parameters(encoding)
    values = {name: np.array(p.value, dtype=float) for name, p in parameters.items()}
    for name, value in values.items():
        _require(value.ndim == 1, f"parameter {name!r} has {value.ndim} axes, where a vector is expected")
        _require((np.isfinite(value) & (value > 0)).all(), f"parameter {name!r} is not positive: {value}")
    same = settled.with_parameters(values)
    _close("the same parameters, put back", same.between(encoding, encoding), scores)
    with_slopes, pull = settled.sensitivity(encoding)
    _close("`sensitivity` gives the scores", with_slopes, scores)
    weights = rng.standard_normal(scores.shape)
    slopes = pull(weights)
    _require(set(slopes) == set(values), f"`sensitivity` is of {sorted(slopes)}, `parameters` are {sorted(values)}")
    for name, value in values.items():
        expected = np.empty_like(value)
        for k in range(len(value)):
            ends = []
            for step in (-STEP, STEP):
                moved = value.copy()
                moved[k] *= np.exp(step)
                ends.append(_scores(settled.with_parameters({**values, name: moved}), encoding))
            expected[k] = np.sum(weights * (ends[1] - ends[0])) / (2 * STEP)
        _close_slopes(f"`sensitivity` to log {name} is the finite difference", slopes[name], expected)


def _scores(similarity: Similarity, encoding: Encoding) -> Matrix:
    """Scores whose diagonal has no rounding, which a kernel like exp(−|r|) would turn into a slope."""
    scores = np.array(similarity.between(encoding, encoding))
    np.fill_diagonal(scores, similarity.within(encoding))
    return scores


def check_gradient(
    similarity: Any, objects: Sequence[Any], rng: np.random.Generator, perturb: Perturb | None = None
) -> None:
    """`linearise` and `linearise_within` are the derivatives in the vectors of the objects."""
    move = perturb or (lambda x, v: _moved(similarity, x, v))
    half = len(objects) // 2
    here, there = list(objects[:half]), similarity.encode(objects[half:])
    a = similarity.encode(here)
    scores, pull = similarity.linearise(a, there)
    _close("`linearise` gives the scores", scores, similarity.between(a, there))
    weights = rng.standard_normal(scores.shape)
    gradient = pull(weights)
    expected = _differences(
        lambda x: np.sum(weights * similarity.between(similarity.encode(x), there), axis=1), here, move, gradient
    )
    _close_slopes("the gradient of `linearise` is the finite difference", gradient, expected)
    selves, pull_own = similarity.linearise_within(a)
    _close("`linearise_within` gives the scores", selves, similarity.within(a))
    gradient = pull_own(weights[:, 0])
    expected = _differences(lambda x: weights[:, 0] * similarity.within(similarity.encode(x)), here, move, gradient)
    _close_slopes("the gradient of `linearise_within` is the finite difference", gradient, expected)


def _differences(function: Callable[[list[Any]], Vector], objects: list[Any], move: Perturb, like: Matrix) -> Matrix:
    """Central differences of a function of each object, along each coordinate of its vector."""
    result = np.empty_like(like, dtype=float)
    for k in range(like.shape[1]):
        step = np.zeros(like.shape[1])
        step[k] = STEP
        ahead = function([move(x, step) for x in objects])
        behind = function([move(x, -step) for x in objects])
        result[:, k] = (ahead - behind) / (2 * STEP)
    return result


def _moved(similarity: Similarity, x: Any, step: Vector) -> Any:
    """The object displaced by `step`: a number, an array, or a record whose differentiable fields share the step."""
    if not isinstance(x, Mapping):
        moved = np.atleast_1d(np.asarray(x, dtype=float)) + step
        return moved if np.ndim(x) else float(moved[0])
    result, used = dict(x), 0
    for name, part in _fields(similarity):
        differentiable: bool = is_differentiable(part)
        if differentiable:
            width = np.size(x[name])
            result[name] = _moved(part, x[name], step[used : used + width])
            used += width
    return result


def _fields(similarity: Similarity) -> list[tuple[str, Similarity]]:
    """The fields of a similarity of records and their similarities, found inside sums, products and warps."""
    names = getattr(similarity, "fields", None)
    return list(zip(names, similarity.parts, strict=True)) if names else _fields(similarity.parts[0])


def check_refused(similarity: Similarity, objects: Sequence[Any], wrong: Any) -> None:
    """Raises an AssertionError unless a wrong object among others raises a SimilarityError."""
    try:
        similarity.encode([*objects, wrong])
    except SimilarityError as error:
        message = str(error)
    except Exception as error:
        raise AssertionError(f"{wrong!r} gives {error!r}, where a SimilarityError is expected") from error
    else:
        raise AssertionError(f"{wrong!r} is accepted, where a SimilarityError is expected")
    _require(message, f"the error for {wrong!r} says nothing")
