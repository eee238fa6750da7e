"""Figures and molecules as SVG that stands inside a page: no prologue, no metadata, ids of their own, any width."""

from __future__ import annotations

import io
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from markupsafe import Markup, escape

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Colours that follow the page, light or dark: those of the figures, and those of atoms that are hard to read on black.
OF_PAGE = {
    "#22262b": "--ink",
    "#5a6069": "--soft",
    "#e4e7eb": "--grid",
    "#c3c8cf": "--faint",
    "#ffffff": "--page",
    "#0072b2": "--blue",
    "#d55e00": "--orange",
}
OF_ATOMS = {"#000000": "--ink", "#0000FF": "--blue", "#FF0000": "--red", "#3B3BFF": "--blue"}
# Length of a bond in pixels: the same in all drawings of a size, so that small molecules do not look large.
BOND, SMALL_BOND = 24.0, 17.0


def inline(figure: Figure, key: str, label: str, titles: Mapping[str, Sequence[str]] | None = None) -> Markup:
    """A figure as an SVG element; `titles` name the points of a group, to be read under the mouse."""
    import matplotlib as mpl

    stream = io.StringIO()
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": key}):
        figure.savefig(stream, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
    text = stream.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = re.sub(r"<!--.*?-->\s*", "", text, flags=re.DOTALL)
    for group, names in (titles or {}).items():
        text = _with_titles(text, group, names)
    text = re.sub(r'\bid="', f'id="{key}-', text)
    text = re.sub(r'href="#', f'href="#{key}-', text)
    text = text.replace("url(#", f"url(#{key}-")
    # Fonts of the reader's own machine, as in the rest of the page.
    text = re.sub(r"font: ([\d.]+)px [^;\"]*", r"font-size: \1px; font-family: inherit", text)
    text = _with_page_colours(text, OF_PAGE)
    width, height = re.findall(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', text)[0]
    head = (
        f'<svg xmlns:xlink="http://www.w3.org/1999/xlink" viewBox="0 0 {width} {height}" role="img" '
        f'aria-label="{escape(label)}" style="max-width:{float(width) * 1.75:.0f}px">'
    )
    return Markup(head + text[text.index(">") + 1 :])


def _with_page_colours(text: str, colours: Mapping[str, str]) -> str:
    """The drawing with colours of the page, which has others in the dark; elsewhere they are as they were."""
    for colour, name in colours.items():
        text = re.sub(rf"(fill|stroke):\s*{colour}", rf"\1: var({name}, {colour})", text, flags=re.IGNORECASE)
    return text


def _with_titles(text: str, group: str, names: Sequence[str]) -> str:
    """Put a name into each point of a group of points, in their order."""
    start = text.find(f'<g id="{group}"')
    if start < 0:
        return text
    end = _end_of_group(text, start)
    waiting = iter(names)

    def named(match: re.Match[str]) -> str:
        name = next(waiting, None)
        return match[0] if name is None else f"<use{match[1]}><title>{escape(name)}</title></use>"

    return text[:start] + re.sub(r"<use([^>]*)/>", named, text[start:end]) + text[end:]


def _end_of_group(text: str, start: int) -> int:
    depth = 0
    for match in re.finditer(r"<g\b[^>]*?(/?)>|</g>", text[start:]):
        depth += -1 if match[0] == "</g>" else 0 if match[1] else 1
        if depth == 0:
            return start + match.end()
    return len(text)


@lru_cache(maxsize=1024)
def molecule(smiles: str, bond: float = BOND) -> Markup | None:
    """The structure of a molecule; None where it cannot be drawn."""
    try:
        from rdkit import Chem
        from rdkit.Chem.Draw import rdMolDraw2D
        from rdkit.rdBase import BlockLogs
    except ImportError:
        return None
    with BlockLogs():
        parsed = Chem.MolFromSmiles(smiles)
        if parsed is None or not parsed.GetNumAtoms():
            return None
        # Without a size the canvas is as large as the drawing.
        drawer = rdMolDraw2D.MolDraw2DSVG(-1, -1)
        options: Any = drawer.drawOptions()
        options.clearBackground = False
        options.padding = 0.02
        options.scalingFactor = bond
        options.bondLineWidth = 1.4
        options.minFontSize = 10
        rdMolDraw2D.PrepareAndDrawMolecule(drawer, parsed)
        drawer.FinishDrawing()
    text = drawer.GetDrawingText()
    text = re.sub(r"<!--.*?-->\s*", "", text[text.index("<svg") :], flags=re.DOTALL)
    text = re.sub(r"\sclass='[^']*'", "", text)
    width, height = re.findall(r"viewBox='0 0 ([\d.]+) ([\d.]+)'", text)[0]
    # Letters are attributes, which know no variables.
    text = re.sub(r"fill='(#[0-9A-F]{6})'", r"style='fill:\1'", text)
    body = _with_page_colours(text[text.index(">") + 1 :], OF_ATOMS)
    return Markup(
        f'<svg viewBox="0 0 {width} {height}" style="width:{float(width):.0f}px" role="img" '
        f'aria-label="structure of {escape(smiles)}">{body}'
    )
