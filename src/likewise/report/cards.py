"""Suggestions as cards: what to try, what is expected, and the measured objects that speak for it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from likewise.campaign.roles import PREFIX
from likewise.campaign.wording import difference, percent, shown
from likewise.report.svg import BOND, SMALL_BOND, molecule

if TYPE_CHECKING:
    from likewise.campaign.problem import Problem
    from likewise.similarity.base import Similarity
    from likewise.study.suggestion import Analogue, Suggestion

DRAWN = 48
ANALOGUES = 3
WHOLE = ""


def molecular(similarities: Sequence[Similarity]) -> set[str]:
    """The fields of the objects that are molecules; `WHOLE` where the object itself is one."""
    found: set[str] = set()
    for similarity in similarities:
        found |= _molecular(similarity)
    return found


def _molecular(similarity: Similarity) -> set[str]:
    if similarity.kind == "molecules":
        return {WHOLE}
    fields = getattr(similarity, "fields", None)
    if fields is not None:
        return {name for name, part in zip(fields, similarity.parts, strict=True) if _molecular(part)}
    return {name for part in similarity.parts for name in _molecular(part)}


def described(x: Any, fields: Collection[str], bond: float = BOND, width: int | None = None) -> str:
    """An object for people: a molecule drawn and as text, a record field by field, others as text."""
    if isinstance(x, Mapping):
        return f'<div class="fields">{"".join(_field(name, x[name], fields, bond) for name in x)}</div>'
    drawn = molecule(x, bond) if isinstance(x, str) and WHOLE in fields else None
    return f"{drawn or ''}{escape(shown(x, width))}"


def _field(name: str, value: Any, fields: Collection[str], bond: float) -> str:
    drawn = molecule(str(value), bond) if name in fields else None
    content = f"<b>{escape(shown(value, 120))}</b>" if drawn is None else drawn
    return f'<div class="field"><span>{escape(name)}</span>{content}</div>'


def cards(problem: Problem, found: Sequence[Suggestion], name: str) -> str:
    """All suggestions; the first ones as cards, further ones in a table."""
    fields = molecular(problem.similarities)
    made = "\n".join(_card(problem, rank, s, name, fields) for rank, s in enumerate(found[:DRAWN], 1))
    return f'<div class="cards">\n{made}\n</div>{_rest(found[DRAWN:], name)}'


def _card(problem: Problem, rank: int, s: Suggestion, name: str, fields: Collection[str]) -> str:
    record = isinstance(s.object, Mapping)
    parts = f'<div class="wide">{described(s.object, fields, SMALL_BOND)}</div>' if record else ""
    drawn = molecule(s.object) if isinstance(s.object, str) and WHOLE in fields else None
    aside = _aside(problem, s.object)
    title = "" if record else escape(shown(s.object))
    picture = "" if drawn is None else f'<div class="drawing">{drawn}</div>'
    return (
        f'<article class="card"><div class="rank"><b>{rank}</b></div>'
        f'<div class="what">{title}{f"<small>{aside}</small>" if aside else ""}</div>'
        f"{parts}"
        f'<div class="wide facts">{picture}<div class="numbers">{_facts(s, name)}</div></div>'
        f"{_because(s, fields, name)}</article>"
    )


def _aside(problem: Problem, x: Any) -> str:
    """The row of the object, and what else the table says of it."""
    row, sheet = problem.row(x), problem.sheet
    if row is None or sheet is None:
        return ""
    place = row - sheet.table.first
    roles = {*sheet.roles.objects, sheet.roles.value, sheet.roles.std}
    names = [c for c in sheet.table.columns if c not in roles and not c.startswith(PREFIX)][:3]
    cells = [(c, sheet.table.frame[c][place]) for c in names]
    texts = [f"{escape(c)}: {escape(shown(cell, 60))}" for c, cell in cells if cell not in (None, "")]
    return " · ".join([f"row {row}", *texts])


def _facts(s: Suggestion, name: str) -> str:
    if s.mean is None or s.std is None:
        return "<div><b>?</b><span>nothing measured yet to predict from</span></div>"
    return (
        f"<div><b>{s.mean:.4g} ± {s.std:.2g}</b><span>expected {escape(name)}</span></div>"
        f"<div><b>{percent(s.chance)}</b><span>chance to beat the best so far</span></div>"
    )


def _because(s: Suggestion, fields: Collection[str], name: str) -> str:
    if not s.analogues:
        return ""
    items = "".join(_analogue(a, s.object, fields, name) for a in s.analogues[:ANALOGUES])
    return (
        f'<div class="wide because"><span class="soft small">because of what was measured:</span><ul>{items}</ul></div>'
    )


def _analogue(a: Analogue, suggested: Any, fields: Collection[str], name: str) -> str:
    sign = "against" if a.influence < 0 else "for"
    weight = f'weight <span class="num {sign}">{a.influence:+.2f}</span>'
    unlike = difference(a.object, suggested)
    what = (
        described(a.object, fields, SMALL_BOND, 60)
        if unlike is None
        else f'<span class="soft">the same with</span>{described(unlike, fields, SMALL_BOND)}'
    )
    return f'<li>{what}<div><span class="num">{escape(name)} {a.value:.4g}</span>, {weight}</div></li>'


def _rest(found: Sequence[Suggestion], name: str) -> str:
    if not found:
        return ""
    rows = "".join(
        f'<tr><td class="num">{rank}</td><td class="any">{escape(shown(s.object))}</td>'
        f'<td class="num">{"" if s.mean is None else f"{s.mean:.4g} ± {s.std:.2g}"}</td>'
        f'<td class="num">{percent(s.chance)}</td></tr>'
        for rank, s in enumerate(found, DRAWN + 1)
    )
    names = ("", "object", f"expected {escape(name)}", "beats best")
    head = "".join(f"<th{'' if each == 'object' else ' class=num'}>{each}</th>" for each in names)
    return f'<div class="scroll"><table><tr>{head}</tr>{rows}</table></div>'
