"""Laws of the similarities of time series, against sums and minima over all alignments written out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from likewise.errors import SimilarityError
from likewise.similarity.base import Similarity
from likewise.similarity.kinds.series import (
    DTW,
    NEGLIGIBLE,
    GlobalAlignmentKernel,
    SoftDTW,
    alignment_logs,
    band_corridor,
)
from likewise.testing.similarities import check_similarity

Path = list[tuple[int, int]]
relaxed = settings(max_examples=40, deadline=None)
values = st.floats(-3, 3)
channels = st.integers(1, 2)


def series(longest: int) -> st.SearchStrategy[Any]:
    return channels.flatmap(
        lambda c: st.lists(
            st.integers(1, longest).flatmap(lambda n: arrays(float, (n, c), elements=values)), min_size=2, max_size=2
        )
    )


def paths(n: int, m: int) -> Iterator[Path]:
    """All alignments of n points with m."""
    if (n, m) == (1, 1):
        yield [(0, 0)]
        return
    for di, dj in ((1, 0), (0, 1), (1, 1)):
        if n > di and m > dj:
            yield from ([*path, (n - 1, m - 1)] for path in paths(n - di, m - dj))


def allowed(path: Path, n: int, m: int, band: float | None) -> bool:
    if band is None:
        return True
    wide = round(band * max(n, m))
    return all(i - j <= wide + max(n - m, 0) and j - i <= wide + max(m - n, 0) for i, j in path)


def costs(x: Any, y: Any, band: float | None) -> Any:
    """Σ ‖x_i − y_j‖² of every allowed alignment."""
    return np.array(
        [
            sum(np.sum((x[i] - y[j]) ** 2) for i, j in path)
            for path in paths(len(x), len(y))
            if allowed(path, len(x), len(y), band)
        ]
    )


def soft(x: Any, y: Any, gamma: float, band: float | None) -> float:
    c = costs(x, y, band)
    return float(c.min() - gamma * np.log(np.sum(np.exp(-(c - c.min()) / gamma))))


bands = st.sampled_from([None, 0.0, 0.2, 0.5, 1.0])


@relaxed
@given(series(5), bands)
def test_dtw_is_the_least_over_alignments(pair: Any, band: float | None) -> None:
    x, y = pair
    expected = np.sqrt(costs(x, y, band).min())
    assert 100.0 - DTW(band, constant=100.0)(x, y) == pytest.approx(expected, abs=1e-9)


@relaxed
@given(series(5), bands, st.sampled_from([0.01, 0.5, 10.0]))
def test_soft_dtw_is_the_sum_over_alignments(pair: Any, band: float | None, gamma: float) -> None:
    x, y = pair
    expected = soft(x, y, gamma, band) - 0.5 * soft(x, x, gamma, band) - 0.5 * soft(y, y, gamma, band)
    assert 1e3 - SoftDTW(gamma, band, constant=1e3)(x, y) == pytest.approx(max(expected, 0.0), abs=1e-8)


@relaxed
@given(series(5), st.sampled_from([None, 1, 2, 4]), st.sampled_from([0.3, 1.0, 5.0]))
def test_global_alignment_is_the_sum_over_alignments(pair: Any, shift: int | None, bandwidth: float) -> None:
    def kernel(x: Any, y: Any) -> float:
        g = np.exp(-0.5 * np.sum((x[:, None] - y) ** 2, axis=2) / bandwidth**2)
        if shift is not None:
            g *= np.maximum(1 - np.abs(np.subtract.outer(np.arange(len(x)), np.arange(len(y)))) / shift, 0)
        k = g / (2 - g)
        return float(sum(np.prod([k[cell] for cell in path]) for path in paths(len(x), len(y))))

    x, y = pair
    expected = kernel(x, y) / np.sqrt(kernel(x, x) * kernel(y, y))
    assert GlobalAlignmentKernel(bandwidth, shift)(x, y) == pytest.approx(expected, rel=1e-9, abs=np.exp(NEGLIGIBLE))


def walks(count: int, longest: int, channels: int = 1, seed: int = 0) -> list[Any]:
    rng = np.random.default_rng(seed)
    lengths = rng.integers(longest // 2, longest + 1, size=count)
    return [np.cumsum(rng.normal(size=(n, channels)), axis=0) / np.sqrt(longest) for n in lengths]


ALL: list[Similarity] = [
    DTW(),
    DTW(None, lengthscale=2.0, normalise=True),
    SoftDTW(),
    SoftDTW(0.1, band=0.2, constant=100.0),
    GlobalAlignmentKernel(),
    GlobalAlignmentKernel(0.5, shift=6, normalise=True),
]


@pytest.mark.parametrize("similarity", ALL, ids=repr)
def test_conformance(similarity: Similarity) -> None:
    objects = [x[:, 0] for x in walks(12, 12)]
    wrong = [np.array([1.0, np.nan]), [], "abc", np.zeros((2, 2)), np.zeros((2, 2, 2)), 3.0, [np.inf, 1.0]]
    check_similarity(similarity, objects, wrong=wrong)
    check_similarity(similarity, walks(6, 10, channels=3))


@pytest.mark.parametrize("shift", [1, 2, 4])
def test_series_too_unequal_for_the_shift_have_no_similarity(shift: int) -> None:
    rng = np.random.default_rng(0)
    objects = [rng.normal(size=n) for n in (1, 9, 3, 12, 2, 5, 12, 7, 4)]
    kernel = GlobalAlignmentKernel(1.0, shift)
    scores = kernel.between(kernel.encode(objects), kernel.encode(objects))
    lengths = np.array([len(x) for x in objects])
    apart = np.abs(np.subtract.outer(lengths, lengths)) >= shift
    np.testing.assert_array_equal(scores == 0, apart)


def test_a_series_is_aligned_with_itself_anew_for_another_bandwidth() -> None:
    objects = walks(4, 10)
    encoding = GlobalAlignmentKernel(0.2).encode(objects)
    for kernel in (GlobalAlignmentKernel(0.2), GlobalAlignmentKernel(2.0), GlobalAlignmentKernel(2.0, shift=7)):
        fresh = kernel.encode(objects)
        np.testing.assert_array_equal(kernel.between(encoding, encoding), kernel.between(fresh, fresh))


@pytest.mark.parametrize("shift", [None, 5])
def test_global_alignment_is_psd(shift: int | None) -> None:
    objects = walks(60, 16, seed=3)
    for bandwidth in (0.05, 0.5, 5.0):
        kernel = GlobalAlignmentKernel(bandwidth, shift)
        matrix = kernel.between(*[kernel.encode(objects)] * 2)
        assert np.linalg.eigvalsh(matrix).min() > -1e-10


@pytest.mark.parametrize("band", [None, 0.3])
def test_plain_sums_and_logarithms_agree(band: float | None) -> None:
    """Also where plain sums fall out of range, and must be left to logarithms."""
    objects = [walk.ravel().tolist() for walk in walks(8, 60)]
    for bandwidth in (10.0, 1.0, 0.1, 0.03):
        kernel = GlobalAlignmentKernel(bandwidth)
        series = [np.sqrt(0.5) / bandwidth * x.values for x in kernel.encode(objects)]
        i, j = np.triu_indices(len(series))
        corridor = band_corridor(band)
        logs = alignment_logs(series, series, i, j, kernel._log_local, corridor)
        both = alignment_logs(series, series, i, j, kernel._log_local, corridor, kernel._reciprocal)
        np.testing.assert_allclose(both, logs, rtol=1e-12, atol=1e-11)
        rough = alignment_logs(series, series, i, j, kernel._log_local, corridor, kernel._reciprocal, NEGLIGIBLE)
        np.testing.assert_allclose(np.exp(rough), np.exp(logs), rtol=1e-11, atol=np.exp(NEGLIGIBLE))


def test_long_series_stay_finite() -> None:
    objects = walks(3, 400)
    soft_dtw = SoftDTW(1e-3, constant=1e6)
    encoding = soft_dtw.encode(objects)
    dtw = DTW(None, constant=1e3)
    exact = dtw.distances(objects, objects) ** 2
    # With γ → 0 soft-DTW is DTW²; the entropy of the alignments is below γ log of their number, about 1.8 (n + m).
    np.testing.assert_allclose(soft_dtw.distances(encoding, encoding), exact, atol=1e-3 * 1.8 * 800)
    kernel = GlobalAlignmentKernel()
    series = kernel.encode(objects)
    scores = kernel.fitted(series).between(series, series)
    assert np.all((scores > 0) & (scores < 1 + 1e-9))


@pytest.mark.parametrize("similarity", [DTW(None), SoftDTW(0.1), GlobalAlignmentKernel(1.0)], ids=repr)
def test_warping_is_cheaper_than_change(similarity: Similarity) -> None:
    t = np.linspace(0, 1, 40)
    bump = np.exp(-((t - 0.4) ** 2) / 0.005)
    late, low = np.exp(-((t - 0.5) ** 2) / 0.005), np.zeros(40)
    assert similarity(bump, late) > similarity(bump, low)


def test_normalising_ignores_level_and_scale() -> None:
    x, y = (walk[:, 0] for walk in walks(2, 20))
    for make in (DTW, SoftDTW, GlobalAlignmentKernel):
        similarity = make(normalise=True)
        assert similarity(3.0 * x + 7.0, y) == pytest.approx(similarity(x, y), rel=1e-9)
    assert DTW(normalise=True)([2.0, 2.0, 2.0], [5.0, 5.0]) == 1.0


def test_a_gap_is_named_with_its_position() -> None:
    for similarity in ALL:
        with pytest.raises(SimilarityError, match="series 1 has nan at position 2"):
            similarity.encode([np.zeros(3), np.array([0.0, 1.0, np.nan, np.nan])])


def test_other_channels_are_named() -> None:
    for similarity in ALL:
        with pytest.raises(SimilarityError, match="series 1 has 1 channels where the first one has 2"):
            similarity.encode([np.zeros((3, 2)), np.zeros(4)])
        with pytest.raises(SimilarityError, match="series of 2 and of 1 channels cannot be compared"):
            similarity(np.zeros((3, 2)), np.zeros(4))


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: DTW(band=1.5),
        lambda: DTW(lengthscale=-1.0),
        lambda: SoftDTW(gamma=0.0),
        lambda: SoftDTW(band=-0.1),
        lambda: GlobalAlignmentKernel(bandwidth=0.0),
        lambda: GlobalAlignmentKernel(shift=0),
    ],
)
def test_wrong_settings_are_refused(wrong: Any) -> None:
    with pytest.raises(SimilarityError, match="needs a"):
        wrong()


def test_no_objects_have_no_scores() -> None:
    for similarity in ALL:
        some, none = similarity.encode([np.zeros(3)]), similarity.encode([])
        assert similarity.between(some, none).shape == (1, 0)
        assert similarity.between(none, some).shape == (0, 1)
        assert similarity.between(none, none).shape == (0, 0)
