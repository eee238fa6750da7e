"""Fingerprint similarities against RDKit's own, and what happens to text that is no molecule."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likewise.errors import MissingExtra, SimilarityError
from likewise.similarity.base import Similarity
from likewise.similarity.kinds import molecules
from likewise.similarity.kinds.molecules import CanonicalSMILES, Descriptors, Tanimoto, TanimotoCounts
from likewise.similarity.kinds.strings import Indel, NGrams
from likewise.similarity.kinds.vectors import RBF

Chem = pytest.importorskip("rdkit.Chem")
DataStructs = pytest.importorskip("rdkit.DataStructs")
make = pytest.importorskip("rdkit.Chem.rdFingerprintGenerator")
keys = pytest.importorskip("rdkit.Chem.MACCSkeys")

SMILES = [
    "CCO",
    "CCN",
    "c1ccccc1O",
    "CC(=O)Oc1ccccc1C(=O)O",
    "CN1C=NC2=C1C(=O)N(C(=O)N2C)C",
    "C[C@H](N)C(=O)O",
    "C[C@@H](N)C(=O)O",
    "[Na+].[Cl-]",
    "CCCCCCCCCCCCCCCC",
    "OC[C@H]1O[C@@H](O)[C@H](O)[C@@H](O)[C@@H]1O",
]
GENERATORS = {
    "morgan": lambda chirality: make.GetMorganGenerator(radius=2, fpSize=2048, includeChirality=chirality),
    "atompair": lambda chirality: make.GetAtomPairGenerator(fpSize=2048, includeChirality=chirality),
    "torsion": lambda chirality: make.GetTopologicalTorsionGenerator(fpSize=2048, includeChirality=chirality),
}


def scores(like: Similarity, objects: list[object]) -> np.ndarray:
    a = like.encode(objects)
    return like.between(a, a)


def rdkits(fingerprints: list[object]) -> np.ndarray:
    found = np.array([DataStructs.BulkTanimotoSimilarity(f, fingerprints) for f in fingerprints])
    empty = np.array(
        [f.GetNumOnBits() == 0 if hasattr(f, "GetNumOnBits") else f.GetTotalVal() == 0 for f in fingerprints]
    )
    # RDKit calls molecules without any feature unlike, even a molecule and itself.
    found[np.ix_(empty, empty)] = 1.0
    return found


@pytest.mark.parametrize("chirality", [False, True])
@pytest.mark.parametrize("fingerprint", list(GENERATORS))
def test_tanimoto_is_rdkits(fingerprint: molecules.Counted, chirality: bool) -> None:
    generator = GENERATORS[fingerprint](chirality)
    expected = rdkits([generator.GetFingerprint(Chem.MolFromSmiles(s)) for s in SMILES])
    like = Tanimoto(fingerprint, chirality=chirality)
    np.testing.assert_allclose(scores(like, list(SMILES)), expected, atol=1e-12)


@pytest.mark.parametrize("chirality", [False, True])
@pytest.mark.parametrize("fingerprint", list(GENERATORS))
def test_tanimoto_of_counts_is_rdkits(fingerprint: molecules.Counted, chirality: bool) -> None:
    generator = GENERATORS[fingerprint](chirality)
    expected = rdkits([generator.GetSparseCountFingerprint(Chem.MolFromSmiles(s)) for s in SMILES])
    like = TanimotoCounts(fingerprint, chirality=chirality)
    np.testing.assert_allclose(scores(like, list(SMILES)), expected, atol=1e-12)


def test_chirality_tells_mirror_images_apart() -> None:
    mirror = "C[C@H](N)C(=O)O", "C[C@@H](N)C(=O)O"
    for kind in (Tanimoto, TanimotoCounts):
        assert kind()(*mirror) == 1.0
        assert kind(chirality=True)(*mirror) < 1.0


def test_maccs_keys_are_rdkits() -> None:
    expected = rdkits([keys.GenMACCSKeys(Chem.MolFromSmiles(s)) for s in SMILES])
    np.testing.assert_allclose(scores(Tanimoto("maccs"), list(SMILES)), expected, atol=1e-12)


@pytest.mark.parametrize(
    "like", [Tanimoto(), Tanimoto("maccs"), TanimotoCounts(), Descriptors(), CanonicalSMILES(Indel())]
)
def test_the_way_a_molecule_is_written_does_not_matter(like: Similarity) -> None:
    rng = np.random.default_rng(0)
    written = [Chem.MolToSmiles(Chem.MolFromSmiles(s), doRandom=True) for s in SMILES]
    parsed = [Chem.MolFromSmiles(s) for s in SMILES]
    order = rng.permutation(len(SMILES))
    np.testing.assert_allclose(scores(like, written), scores(like, list(SMILES)), atol=1e-9)
    mixed = [parsed[i] if i % 2 else SMILES[i] for i in order]
    np.testing.assert_allclose(scores(like, mixed), scores(like, list(SMILES))[np.ix_(order, order)], atol=1e-9)


@pytest.mark.parametrize("like", [Tanimoto(bits=256), TanimotoCounts(), Descriptors()])
def test_chunks_are_encoded_as_one(like: Similarity, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = scores(like, list(SMILES))
    monkeypatch.setattr(molecules, "CHUNK", 3)
    np.testing.assert_allclose(scores(like, list(SMILES)), expected, atol=1e-12)
    with pytest.raises(SimilarityError, match="row 7 is not a molecule: 'C1CC'"):
        like.encode([*SMILES[:7], "C1CC"])


def test_canonical_smiles_passes_the_text_on() -> None:
    objects = ["OCC", "C(C)N", "Oc1ccccc1"]
    canonical = [Chem.MolToSmiles(Chem.MolFromSmiles(s)) for s in objects]
    for inner in (Indel(), NGrams(2)):
        like = CanonicalSMILES(inner)
        np.testing.assert_allclose(scores(like, list(objects)), scores(inner, list(canonical)), atol=1e-15)
        assert like.psd == inner.psd


def test_descriptors_are_about_one_wide_and_the_inner_similarity_is_the_users() -> None:
    a = Descriptors(RBF(0.7)).encode(SMILES)
    assert a.shape == (len(SMILES), len(molecules.DESCRIPTORS))
    assert np.abs(a).max() < 3.0
    np.testing.assert_allclose(scores(Descriptors(RBF(0.7)), list(SMILES)), RBF(0.7).between(a, a), atol=1e-12)
    lengthscales = np.linspace(0.5, 2.0, len(molecules.DESCRIPTORS))
    learnt = Descriptors(RBF(0.7)).with_parameters({"0.lengthscale": lengthscales})
    np.testing.assert_allclose(scores(learnt, list(SMILES)), RBF(lengthscales).between(a, a), atol=1e-12)


@pytest.mark.parametrize("like", [Tanimoto(), TanimotoCounts("torsion"), Descriptors(), CanonicalSMILES(Indel())])
@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ("C1CC", "'C1CC' (not valid SMILES)"),
        ("CC(C)(C)(C)C", "Explicit valence for atom # 1 C, 5"),
        ("c1cccc1", "kekulize"),
        ("", "without atoms: ''"),
        (None, "NoneType"),
        (3.5, "3.5"),
    ],
)
def test_what_is_no_molecule_is_named_quietly(
    like: Similarity, wrong: object, why: str, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SimilarityError, match="row 1 is") as caught:
        like.encode(["CCO", wrong])
    assert why in str(caught.value)
    assert capfd.readouterr() == ("", "")


@given(st.text(max_size=8))
def test_any_text_is_a_molecule_or_a_similarity_error(text: str) -> None:
    try:
        assert Tanimoto()(text, text) == 1.0
    except SimilarityError as error:
        assert repr(text) in str(error)  # noqa: PT017


def test_each_text_is_parsed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    molecules._parsed.cache_clear()
    before = molecules._parsed.cache_info().misses
    objects = ["CCCO", "CCCN", "CCCO", "CCCO"]
    for like in (Tanimoto(), TanimotoCounts(), Descriptors(), Tanimoto("maccs")):
        like.encode(objects)
    assert molecules._parsed.cache_info().misses - before == 2


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: Tanimoto("ecfp"),  # type: ignore[arg-type]
        lambda: TanimotoCounts("maccs"),  # type: ignore[arg-type]
        lambda: Tanimoto(bits=100),
        lambda: Tanimoto(radius=-1),
    ],
)
def test_settings_that_cannot_be_are_refused(wrong: object) -> None:
    with pytest.raises(SimilarityError, match=r"ecfp|maccs|100|-1"):
        wrong()  # type: ignore[operator]


def test_without_rdkit_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "rdkit", None)
    with pytest.raises(MissingExtra, match=r"likewise\[molecules\]"):
        Tanimoto().encode(["CCO"])
