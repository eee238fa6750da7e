"""Small tables and drawings for notebooks, as HTML. Whatever is not drawn here is escaped."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

# Pixels.
WIDTH, HEIGHT = 180, 110


class Drawn(str):
    """A text that is HTML already."""

    __slots__ = ()


def html_table(title: str, header: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """A table with a line above it.

    >>> html_table("a & b", ["x"], [["<1"]])
    '<p>a &amp; b</p><table><thead><tr><th>x</th></tr></thead><tbody><tr><td>&lt;1</td></tr></tbody></table>'
    """
    above = f"<p>{escape(title)}</p>" if title else ""
    if not rows:
        return above
    head = "".join(f"<th>{escape(name)}</th>" for name in header)
    body = "".join(f"<tr>{''.join(f'<td>{_cell(cell)}</td>' for cell in row)}</tr>" for row in rows)
    return f"{above}<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _cell(content: Any) -> str:
    if content is None:
        return ""
    if isinstance(content, Drawn):
        return content
    return escape(f"{content:.4g}" if isinstance(content, float) else str(content))


def draw_molecule(smiles: str) -> Drawn | None:
    """A molecule's structure with its SMILES below; None where it cannot be read, or RDKit is not installed."""
    try:
        from rdkit import Chem
        from rdkit.Chem.Draw import rdMolDraw2D
    except ImportError:
        return None
    molecule = Chem.MolFromSmiles(smiles)
    if molecule is None:
        return None
    drawer = rdMolDraw2D.MolDraw2DSVG(WIDTH, HEIGHT)
    rdMolDraw2D.PrepareAndDrawMolecule(drawer, molecule)
    drawer.FinishDrawing()
    picture = drawer.GetDrawingText()
    return Drawn(f"{picture[picture.index('<svg') :]}<br>{escape(smiles)}")
