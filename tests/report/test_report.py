"""The report: one file, every section, nothing that is loaded from elsewhere, and nothing in it is run."""

from __future__ import annotations

import html
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from html.parser import HTMLParser
from itertools import product
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("matplotlib")

Run = Callable[..., Any]
Save = Callable[..., Path]

SECTIONS = ("suggestions", "next", "stop", "progress", "trust", "verdict", "predictions", "calibration", "map", "notes")
# Attributes through which a page loads something.
LOADING = {"src", "href", "xlink:href", "srcset", "data", "poster", "action", "background", "ping"}


class Page(HTMLParser):
    """The ids, links, words and tags of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.tags: list[str] = []
        self.words = ""
        self.open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        for name, value in attrs:
            if name == "id":
                self.ids.append(value or "")
            if name in LOADING:
                self.links.append(value or "")

    def handle_data(self, data: str) -> None:
        self.words += data


def links_out(text: str) -> list[str]:
    """What a page would load: links that do not stay inside it, and addresses in its styles."""
    page = Page(text)
    styles = re.findall(r"url\(\s*['\"]?([^)'\"]*)", text) + re.findall(r"@import\s+(\S+)", text)
    return [link for link in [*page.links, *styles] if not link.startswith(("#", "data:"))]


@pytest.fixture
def report(run: Run, words: Path) -> Path:
    command = ("suggest", words, "-n", 4, "-o", "word", "-s", "hamming,ngrams(2)", "--report", "report.html")
    assert run(*command).code == 0
    return Path("report.html").resolve()


def test_every_section_is_there_and_nothing_is_loaded(report: Path) -> None:
    text = report.read_text(encoding="utf-8")
    page = Page(text)
    assert [section for section in SECTIONS if section not in page.ids] == []
    assert len(page.ids) == len(set(page.ids))
    assert links_out(text) == []
    assert not {"script", "link", "iframe", "img", "object", "embed"} & set(page.tags)
    assert page.tags.count("svg") >= 4
    assert "expected score" in page.words
    assert "$" not in page.words


def test_addresses_in_a_page_are_found() -> None:
    """The check itself can fail."""
    assert links_out('<img src="https://example.org/a.png">') == ["https://example.org/a.png"]
    assert links_out("<style>a { background: url(//example.org/b) }</style>") == ["//example.org/b"]
    assert links_out('<style>@import "c.css"</style>') == ['"c.css"</style>']
    assert links_out('<use href="#x"/><i style="fill: url(#y)"></i>') == []


def test_what_a_table_says_is_never_run(run: Run, save: Save) -> None:
    names = [f"<script>alert({i})</script><b>&{i}" for i in range(10)]
    table = save("na<i>me,sc</b>ore\n" + "".join(f"{name},{i if i < 7 else ''}\n" for i, name in enumerate(names)))
    assert run("suggest", table, "-n", 2, "-s", "indel", "--report", "r.html", "--value", "sc</b>ore").code == 0
    page = Page(Path("r.html").read_text(encoding="utf-8"))
    assert "script" not in page.tags
    assert "b&8" in page.words.replace("<b>", "b")


@pytest.mark.parametrize("measured", [0, 1, 2, 8])
def test_reports_of_little_data(run: Run, save: Save, measured: int) -> None:
    table = save(
        "word,score\n" + "".join(f"{w}{w}{i % 3},{i if i < measured else ''}\n" for i, w in enumerate("ABCDEFGH"))
    )
    assert run("suggest", table, "-n", 2, "-s", "hamming", "--report", "r.html").code == 0
    page = Page(Path("r.html").read_text(encoding="utf-8"))
    assert [section for section in SECTIONS if section not in page.ids] == []


def test_molecules_are_drawn(run: Run, save: Save) -> None:
    pytest.importorskip("rdkit")
    table = save("smiles,y\n" + "".join(f"{'C' * i}O,{i if i < 9 else ''}\n" for i in range(1, 12)))
    assert run("suggest", table, "-n", 2, "-s", "tanimoto", "--report", "r.html").code == 0
    text = Path("r.html").read_text(encoding="utf-8")
    assert 'aria-label="structure of CCCCCCCCCO"' in text
    assert links_out(text) == []


def test_molecules_in_records_are_drawn(run: Run, save: Save) -> None:
    pytest.importorskip("rdkit")
    lines = [f"{'C' * (i % 4 + 1)}O,{i},{i if i < 9 else ''}" for i in range(12)]
    table = save("\n".join(["ligand,t,y", *lines]))
    command = ("suggest", table, "-n", 2, "-o", "ligand", "-o", "t", "-s", "ligand=tanimoto,t=matern")
    assert run(*command, "--report", "r.html").code == 0
    assert 'aria-label="structure of ' in Path("r.html").read_text(encoding="utf-8")


def test_many_suggestions_end_in_a_table(run: Run, words: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from likewise.report import page as report_page

    monkeypatch.setattr(report_page, "DRAWN", 2)
    command = ("suggest", words, "-n", 5, "-o", "word", "-s", "hamming", "--report", "r.html")
    assert run(*command).code == 0
    page = Page(Path("r.html").read_text(encoding="utf-8"))
    assert page.tags.count("article") == 2
    rest = Path("r.html").read_text(encoding="utf-8").split('id="next"')[0]
    assert Page(rest).tags.count("tr") == 4


def test_a_report_replaces_nothing_but_a_report(run: Run, report: Path, words: Path, save: Save) -> None:
    """Refused before any work; --force replaces files that are nobody's input."""
    notes, space = save("mine", "notes.html"), save('space = "Strings"\nalphabet = "ABE"\nlength = 4\n', "space.toml")
    before = {path: path.read_bytes() for path in (words, notes, space)}
    command = ("suggest", words, "-o", "word", "-s", "hamming")
    for target, options, reason in (
        (words, ["--force"], "is the input"),
        (space, ["--space", space, "--force"], "is the file of --space"),
        ("new.csv", ["--out", "./new.csv", "--force"], "is that of --out"),
        (notes, [], "is no report"),
        ("no/such/r.html", [], "there is no folder"),
        (report.parent, ["--force"], "not a file"),
    ):
        answer = run(*command, "--report", target, *options)
        assert answer.code == 2
        assert reason in answer.err
        assert "from column" not in answer.err
    assert {path: path.read_bytes() for path in before} == before
    assert not Path("new.csv").exists()
    assert run(*command, "--report", report).code == 0
    assert run(*command, "--report", notes, "--force").code == 0
    assert notes.read_text().startswith("<!doctype html>")


def test_reports_need_their_library_before_any_work(run: Run, words: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    answer = run("suggest", words, "-o", "word", "-s", "hamming", "--report", "r.html", "--out", "next.csv")
    assert answer.code == 1
    assert "likewise[plots]" in answer.err
    assert not Path("next.csv").exists()


@pytest.fixture
def chromium(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Open a file in a real browser, which finds no network."""
    program = next(
        (found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))), None
    )
    if program is None:
        pytest.skip("no Chromium on this machine; apt-get install chromium brings one")
    options = [
        "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
        "--disable-background-networking", "--disable-component-update", "--disable-dev-shm-usage",
        "--host-resolver-rules=MAP * ~NOTFOUND", "--enable-logging=stderr", "--v=0",
    ]  # fmt: skip

    def open_page(path: Path, *more: str) -> subprocess.CompletedProcess[str]:
        command = [program, *options, f"--user-data-dir={tmp_path / 'profile'}", *more, path.resolve().as_uri()]
        return subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)

    return open_page


def test_a_browser_shows_every_section_and_asks_for_nothing(
    chromium: Callable[..., subprocess.CompletedProcess[str]], report: Path
) -> None:
    log = report.with_name("net.json")
    shown = chromium(report, f"--log-net-log={log}", "--window-size=390,2000", "--dump-dom")
    assert shown.returncode == 0, shown.stderr
    page = Page(shown.stdout)
    assert [section for section in SECTIONS if section not in page.ids] == []
    assert page.tags.count("svg") >= 4
    # Refused by the page's own policy, or looked up in vain: either would be a request that left the file.
    assert "Content Security Policy" not in shown.stderr
    asked = set(re.findall(r'"url":"(https?://[^"]+)"', log.read_text(errors="replace")))
    assert not {url for url in asked if not _of_the_browser(url)}, asked


def _of_the_browser(url: str) -> bool:
    """What Chromium asks for on its own account, whatever the page."""
    return bool(re.match(r"https?://([\w.-]*\.)?(google|googleapis|gstatic|gvt1|chromium)\.(com|org)[/:]", url))


@pytest.mark.parametrize("name", ["a_$b_c_d$", r"$\frac{1$", "$$", r"\$x_y_z$"])
def test_names_are_no_mathematics(run: Run, save: Save, name: str) -> None:
    lines = [
        f"{name}x,{name}",
        *(f"{letter * 3},{place if place < 5 else ''}" for place, letter in enumerate("ABCDEFG")),
    ]
    table = save("\n".join(lines) + "\n")
    answer = run("suggest", table, "-o", f"{name}x", "-v", name, "-s", "ngrams(2)", "--report", "r.html")
    assert answer.code == 0, answer.err
    assert f"measured {name}" in Page((table.parent / "r.html").read_text(encoding="utf-8")).words


def test_names_of_similarities_are_no_mathematics() -> None:
    from likewise.figures import figures as pictures
    from likewise.report.charts import inline

    assert "$x_y_z$" in inline(pictures.weights(["$x_y_z$", "b"], [0.5, 0.5]), "key", "label")


HEADINGS = (
    "What should I measure next?",
    "How do I go on?",
    "Is it worth going on?",
    "Which runs were best?",
    "Which factor matters, and how?",
    "How has it gone so far?",
    "Can the predictions be trusted?",
    "Which objects are alike?",
)


@pytest.fixture
def recipes(save: Save) -> Path:
    """A factorial design in three rounds: the base matters much, the temperature less, the solvent not at all."""
    lines, cells = [], product(("KOAc", "NaOH", "LiOH"), ("DMF", "THF"), (20.0, 60.0, 100.0, 140.0))
    for i, (base, solvent, t) in enumerate(cells):
        value = {"KOAc": 10.0, "NaOH": 50.0, "LiOH": 30.0}[base] + 0.1 * t
        measured = i % 3 != 2
        lines.append(f"{base},{solvent},{t:g},{f'{value:.2f}' if measured else ''},{i % 3 + 1 if measured else ''}")
    return save("\n".join(["base,solvent,temp,y,round", *lines]), "recipes.csv")


RECIPES = ("-o", "base", "-o", "solvent", "-o", "temp", "-v", "y")


def test_each_section_is_headed_by_the_question_it_answers(run: Run, recipes: Path) -> None:
    answer = run("suggest", recipes, "-n", 2, *RECIPES, "--report", "r.html")
    text = Path("r.html").read_text(encoding="utf-8")
    page = Page(text)
    assert [heading for heading in HEADINGS if heading not in page.words] == []
    # What to do next is the command that the terminal shows, and what is to be gained is the same.
    assert answer.out.splitlines()[-1].split(": ", 1)[1] in html.unescape(text)
    assert next(line for line in answer.out.splitlines() if "to be gained" in line) in page.words
    # Names of similarities are for `diagnose`.
    assert not re.search("Tanimoto|Matern|Hamming|Equal|RBF|committee", page.words)
    assert links_out(text) == []


def test_the_factor_that_matters_comes_first_and_its_best_level_too(run: Run, recipes: Path) -> None:
    for way, best, worst in (("--maximize", "NaOH", "KOAc"), ("--minimize", "KOAc", "NaOH")):
        assert run("suggest", recipes, "-n", 2, *RECIPES, way, "--report", "r.html").code == 0
        words = Page(Path("r.html").read_text(encoding="utf-8")).words.split("Which factor matters")[1]
        assert words.index("base ") < words.index("temp ") < words.index("solvent ")
        table = words.split("In numbers")[1]
        assert table.index(best) < table.index("LiOH") < table.index(worst)


def test_rounds_are_told_one_by_one(run: Run, recipes: Path) -> None:
    assert run("suggest", recipes, "-n", 2, *RECIPES, "--report", "r.html").code == 0
    text = Path("r.html").read_text(encoding="utf-8")
    course = text.split('id="course"')[1].split("</section>")[0]
    rows = [re.findall(r">([^<>]+)<", row) for row in re.findall(r"<tr>(.*?)</tr>", course, flags=re.DOTALL)]
    assert rows == [["round", "runs", "best y", "best so far"], ["1", "8", "64", "64"], ["2", "8", "60", "64"]]
    assert "The last round brought nothing better." in Page(text).words


def test_a_report_has_colours_for_the_dark_and_prints_in_light(report: Path) -> None:
    text = report.read_text(encoding="utf-8")
    assert "@media screen and (prefers-color-scheme: dark)" in text
    # What is drawn in the ink of the page follows it.
    drawn = "".join(re.findall(r"<svg.*?</svg>", text, flags=re.DOTALL))
    assert not re.search(r"(fill|stroke):\s*#(22262b|000000|ffffff)", drawn)


def test_limits_keep_their_sign_and_do_not_count_as_the_best(run: Run, save: Save) -> None:
    rows = ("a,20,<90,1", "a,40,3,1", "b,20,5,1", "b,40,>9,2", "c,20,2,2", "c,40,4,2", "c,60,1,2", "a,60,,", "b,60,,")
    table = save("\n".join(["base,temp,y,round", *rows]))
    assert run("suggest", table, "-o", "base", "-o", "temp", "--report", "r.html").code == 0
    text = Path("r.html").read_text(encoding="utf-8")
    top = text.split('id="top"')[1].split("</section>")[0]
    assert re.findall(r"<b>([^<]+)</b>", top)[:2] == ["&gt;9", "5"]
    assert "90" not in top
