"""What `likewise suggest` answers: a table of runs for people, data for programs, and the command to go on with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from likewise.campaign.display.naming import cells_of, columns_of, headings_of, named_cells
from likewise.campaign.display.numbers import expectation, interval, plus_minus
from likewise.campaign.display.prospects import ORDER, front_prospect, nothing_to_suggest, prospect
from likewise.campaign.display.reasons import Reasons
from likewise.campaign.judgement import Judgement
from likewise.campaign.listener import Listener
from likewise.campaign.problem import Problem
from likewise.campaign.runs.commit import Committed
from likewise.campaign.sheets.bad_rows import rows_named
from likewise.campaign.sheets.sheet import Choices
from likewise.campaign.wording import percent
from likewise.cli.answers import analogues_json, header_json, object_json, weights_json
from likewise.cli.console import answer_width, say
from likewise.cli.layout import Line, lay_out
from likewise.cli.work.session import OF_COLUMNS, Session, command, words
from likewise.cli.work.suggest_outcomes import front_json, front_lines, lay_out_outcomes, outcomes_json, rows_of
from likewise.report.page import Story
from likewise.study.gain import Gain
from likewise.study.suggestion import Suggestion

NEXT = "next.csv"


class Files(NamedTuple):
    """The files that are written beside the answer, and whether they may replace others.

    `more` says that the last round stays out, even if nothing has come back of it.
    """

    out: Path | None = None
    report: Path | None = None
    force: bool = False
    more: bool = False
    plate: Path | None = None


@dataclass(frozen=True)
class Plan:
    """What was asked for, by the names of the options, and in which session: for the record, and to go on."""

    session: Session | None = None
    typed: Mapping[str, Any] = field(default_factory=dict)

    @property
    def options(self) -> dict[str, Any]:
        """The options as JSON data, but for the files."""
        return {k: v for k, v in self.typed.items() if k not in ("out", "report", "plate")}

    def suggest(self, table: Path, out: Path | None) -> str:
        """The command for the next round."""
        project = None if self.session is None else self.session.project
        given = {**self.typed, "out": out}
        return command("suggest", table, *words(given), project=project, skip_bad=given.get("skip_bad"))

    def tell(self, table: Path, results: Path, *, skip_bad: bool = False) -> str:
        """The command that merges the results of this one; `skip_bad` says that some of them cannot be used."""
        project = None if self.session is None else self.session.project
        mine = project if project is not None and project.options.get("out") == results else None
        columns = {name: self.typed.get(name) for name in OF_COLUMNS}
        columns["skip_bad"] = skip_bad or columns["skip_bad"]
        return command("tell", table, results, *words(columns), project=mine, skip_bad=columns["skip_bad"])


@dataclass(frozen=True, eq=False)
class Answer:
    """What is suggested, on what grounds, and where it was written."""

    problem: Problem
    suggestions: Sequence[Suggestion]
    verdict: str | None
    chosen: Choices
    files: Files
    plan: Plan
    committed: Committed | None
    gain: Gain | None = None

    @property
    def prospect(self) -> str:
        """What is still to be gained, in words."""
        if self.problem.study.goals.named:
            return front_prospect(self.gain, entering=self.problem.study.goals.objective is None)
        return prospect(self.gain, self.value, minimize=self.problem.study.direction == "minimize")

    @property
    def value(self) -> str:
        """The name of the values' column."""
        sheet = self.problem.sheet
        return (self.chosen.value or "value") if sheet is None else sheet.roles.value

    @property
    def names(self) -> list[str]:
        """What each suggestion is called: its run, or its rank where nothing was written."""
        if self.committed is None:
            return [str(rank) for rank in range(1, len(self.suggestions) + 1)]
        return list(self.committed.runs)

    def story(self, judgement: Judgement | None, notes: Sequence[str]) -> Story:
        """What the report tells."""
        parts = self.problem, self.suggestions, self.names, judgement, self.prospect, self.next_command
        return Story(*parts, advice=self.advice, notes=notes)

    @property
    def advice(self) -> str:
        """What to do with the suggestions before the next command."""
        out, committed = self.files.out, self.committed
        if out is None or committed is None:
            return "To begin with these, so that they are written down" if self.suggestions else ""
        if not self.suggestions and not committed.out_already:
            return ""
        outcomes = self.problem.study.goals.named_outcomes
        if len(outcomes) < 2:
            name = outcomes[0] if self.problem.study.goals.named else self.value
            return f"Fill in column {name!r} of {out}, then"
        return f"Fill in columns {', '.join(map(repr, outcomes))} of {out}, as far as they are known, then"

    @property
    def next_command(self) -> str:
        """The command to go on with."""
        out, sheet = self.files.out, self.problem.sheet
        if out is None:
            if sheet is None:
                return command("suggest", *words({**self.plan.typed, "out": Path("experiments.csv")}))
            return self.plan.suggest(sheet.table.path, Path(NEXT))
        if sheet is None:
            return self.plan.suggest(out, following(out))
        return self.plan.tell(sheet.table.path, out)


def following(table: Path) -> Path:
    """A file for the suggestions of a table, which is not the table."""
    return table.with_name(NEXT if table.name != NEXT else "next-round.csv")


def answer_json(answer: Answer, listener: Listener) -> dict[str, Any]:
    problem, out, report = answer.problem, answer.files.out, answer.files.report
    other, reasons = problem.recommended(), Reasons.of(problem)
    suggestions = [
        {
            "rank": rank,
            "run": None if answer.committed is None else answer.names[rank - 1],
            **object_json(problem, s.object),
            "mean": s.mean,
            "std": s.std,
            "low": s.low,
            "high": s.high,
            "chance": s.chance,
            "improvement": s.improvement,
            **outcomes_json(s),
            "because": analogues_json(problem, s.analogues, reasons),
        }
        for rank, s in enumerate(answer.suggestions, 1)
    ]
    return {
        **header_json(problem, listener),
        **(front_json(problem) if problem.study.goals.named else _best_json(problem)),
        "recommended": None
        if other is None
        else {**object_json(problem, other.object), "mean": other.mean, "low": other.low, "high": other.high},
        "suggestions": suggestions,
        "gain": None if answer.gain is None else {"expected": answer.gain.expected, "chance": answer.gain.chance},
        "similarities": weights_json(problem),
        "verdict": answer.verdict,
        "out": None if out is None else str(out),
        "report": None if report is None else str(report),
        "round": None if answer.committed is None else answer.committed.number,
        "under_way": [] if answer.committed is None else list(answer.committed.out_already),
        "next_command": answer.next_command,
    }


def _best_json(problem: Problem) -> dict[str, Any]:
    if not problem.measured:
        return {"best": None}
    best = problem.study.best
    limit = {} if best.limit is None else {"limit": best.limit}
    found = {**object_json(problem, best.object), "value": best.value, **limit, "rows": rows_of(problem, best.object)}
    return {"best": found}


def say_answer(answer: Answer) -> None:
    reasons = Reasons.of(answer.problem)
    if not answer.suggestions:
        say(nothing_to_suggest(answer.problem))
    else:
        say(*_laid_out(answer, reasons))
    _say_background(answer, reasons)


def _laid_out(answer: Answer, reasons: Reasons) -> list[str]:
    """The suggestions, a column for each factor, and what is expected of them and why."""
    problem, names, found = answer.problem, reasons.names, answer.suggestions
    columns = columns_of(problem, answer.chosen.objects)
    if found[0].outcomes:
        return lay_out_outcomes(problem, answer.names, found, reasons, columns)
    headings, predicted = headings_of(names, columns), found[0].mean is not None
    rows = []
    for name, s in zip(answer.names, found, strict=True):
        texts = named_cells(names, columns, cells_of(problem, s.object, columns))
        own = [plus_minus(s.mean, s.std), interval(s.low, s.high), percent(s.chance)] if predicted else []
        said = zip(("because", "against"), reasons.texts(s), strict=True) if predicted else ()
        rows.append(Line([name, *texts, *own], [(label, text) for label, text in said if text]))
    more = [f"expected {answer.value}", "95 % interval", "beats best"] if predicted else []
    right = (len(headings) + 3,) if predicted else ()
    return lay_out(["", *headings, *more], rows, answer_width(), right)


def _say_background(answer: Answer, reasons: Reasons) -> None:
    """The order, the best so far, what is still to be gained, the verdict, and how to go on."""
    problem, names = answer.problem, reasons.names
    first = answer.suggestions[0] if answer.suggestions else None
    if len(answer.suggestions) > 1 and first is not None and (first.mean is not None or first.outcomes):
        say("", ORDER)
    if problem.measured and problem.study.goals.named:
        say("", *front_lines(problem, reasons))
    elif problem.measured:
        best = problem.study.best
        where = _where(problem, best.object)
        say("", f"Best so far: {answer.value} {best.measured}{where}, {names.object(best.object, reasons.column)}.")
        if (other := problem.recommended()) is not None:
            expected = expectation(other.mean, other.low, other.high)
            what = names.object(other.object, reasons.column)
            say(f"Recommended: {what}, expected {answer.value} {expected}; the best may have been lucky.")
    if answer.prospect:
        say(answer.prospect)
    if answer.verdict:
        say(f"Verdict: {answer.verdict}")
    if answer.files.report is not None:
        say(f"Report: {answer.files.report}")
    _say_next(answer)


def _where(problem: Problem, x: Any) -> str:
    """The row of the best object, or the rows that its value is the mean of."""
    rows = problem.measured_rows(x)
    if not rows or problem.sheet is None:
        return ""
    return f" ({'mean of ' if len(rows) > 1 else ''}{rows_named(problem.sheet.table, rows)})"


def _say_next(answer: Answer) -> None:
    committed = answer.committed
    if committed is not None and committed.out_already:
        say(f"Still under way, and in {answer.files.out} too: {', '.join(committed.out_already)}.")
    if answer.advice:
        say(f"{answer.advice}: {answer.next_command}")
