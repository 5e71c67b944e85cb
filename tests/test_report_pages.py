"""The report as people read it: page 1 computed again from the exports, its formats, its words."""

import json
import re
import shutil
import statistics
import subprocess
from collections import Counter, defaultdict
from itertools import combinations
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from click.testing import CliRunner, Result

from browsing import CHROMIUM
from chorale.cli import app
from chorale.engine.settling import settle_everything
from chorale.engine.started import started_study
from chorale.exchange.export import write_export
from chorale.folder.reading import load_folder
from chorale.folder.templates import create_study
from chorale.metrics.resampling import Resampling
from chorale.metrics.score_table import ScoreTable
from chorale.present.latex import latex_float, latex_text
from chorale.present.markdown import markdown_table, markdown_text
from chorale.rehearsal import Crowd, read_crowd
from chorale.rehearsal.keeping import keep_run
from chorale.rehearsal.simulated import CrowdSettings, KindSettings
from chorale.report import ReportOptions, report_page, study_report
from chorale.report.fragments import report_latex, report_markdown
from test_mcq_tasks import small

HOSTILE = (
    r"\input{/etc/passwd} \write18{rm -rf /} $\infty$ 50% & # ~ ^ { }",
    "[x](javascript:alert(1)) ![y](z) `code` **bold** | cell | <img src=x onerror=alert(1)>",
    '[10cm] * first\r\nsecond\x0bthird\u2028fourth \\\\ \\end{tabular} "quoted" 1 < 2 > 0',
)
RETIRED = (
    "released",
    "the crowd's",
    "crowd said",
    "drawn by chance",
    "by chance",
    "dropped",
    "told",
    "trust",
)


def run(*arguments: object, code: int = 0) -> Result:
    done = CliRunner().invoke(app, [str(one) for one in arguments])
    assert done.exit_code == code, done.output
    return done


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A form with several fields, done by simulated people, some of whom are removed."""
    place = tmp_path_factory.mktemp("pages")
    create_study(place / "study", "form")
    settings = place / "study" / "study.toml"
    title = json.dumps(load_folder(place / "study").settings.study.title, ensure_ascii=False)
    settings.write_text(settings.read_text("utf-8").replace(title, json.dumps(HOSTILE[1])), "utf-8")
    loaded = load_folder(place / "study")
    keep_run(loaded, read_crowd(loaded, 30, None), 1, place / "kept")
    return place / "kept"


@pytest.fixture(scope="module")
def written(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The report in every format, with its JSON and the dataset beside it."""
    place = tmp_path_factory.mktemp("written")
    data = place / "data"
    data.mkdir()
    with started_study(folder, None) as study:
        settle_everything(study)
        report = study_report(study, folder, data, ReportOptions(), Resampling(ci=True, resamples=100))
        for name in ("ledger", "workers"):
            write_export(study, name, place / f"{name}.csv")
    return {
        "data": data,
        "html": report_page(report),
        "md": report_markdown(report),
        "tex": report_latex(report),
        "json": json.loads(json.dumps(report.as_json())),
        **{name: pd.read_csv(place / f"{name}.csv") for name in ("ledger", "workers")},
    }


def test_the_command_writes_each_format(folder: Path, written: dict[str, Any], tmp_path: Path) -> None:
    usual = ["--no-charts", "--resamples", 100]
    run("report", folder, "--format", "latex", "--out", tmp_path / "report.tex", *usual)
    assert (tmp_path / "report.tex").read_text("utf-8") == written["tex"]
    refused = run("report", folder, "--format", "markdown", "--out", tmp_path / "report.tex", code=2).stderr
    assert "ends in .md" in refused


def alpha(values: dict[str, list[str]]) -> float:
    """Krippendorff's α for nominal values, from the definition."""
    several = [given for given in values.values() if len(given) > 1]
    pooled = Counter(value for given in several for value in given)
    total = pooled.total()
    observed = sum(
        sum(one != other for one, other in combinations(given, 2)) * 2 / (len(given) - 1) for given in several
    )
    expected = sum(count * (total - count) for count in pooled.values()) / (total - 1)
    return float(1 - observed / expected)


def glance(page: str) -> dict[str, str]:
    """The first table of the page, by measure."""
    table = page[page.index("The study at a glance") :].partition("</table>")[0]
    return dict(re.findall(r'<td class="text">([^<]*)</td><td class="text">([^<]*)</td>', table))


def test_page_1_is_what_the_dataset_beside_it_says(written: dict[str, Any]) -> None:
    items = pd.read_csv(written["data"] / "simulated-form.csv")
    answers = pd.read_csv(written["data"] / "simulated-form-answers.csv")
    fields = pd.read_csv(written["data"] / "simulated-tidy-labels.csv")
    responses = [
        json.loads(line) for line in (written["data"] / "simulated-responses.jsonl").read_text("utf-8").splitlines()
    ]
    ledger, workers = written["ledger"], written["workers"]
    shown, accepted, cost = glance(written["html"]), int(items["released"].sum()), int(ledger["amount"].sum())
    assert shown["accepted labels"] == f"{accepted} of {len(items)} ({accepted / len(items):.1%})"
    in_all = "" if len(answers) == len(responses) else f" (answers in all stages: {len(responses)})"
    assert shown["annotations in the final stages"] == f"{len(answers)}{in_all}"
    assert shown["total cost"] == f"${cost / 100:.2f}"
    assert shown["cost per accepted label"] == f"${round(cost / accepted) / 100:.2f}"
    wages = sorted(workers["hourly_wage"].dropna())
    tenth = wages[-(-len(wages) // 10) - 1]
    assert shown["pay per hour"] == (
        f"median ${int(statistics.median(wages)) / 100:.2f}, 10th percentile ${tenth / 100:.2f}"
    )
    removed = sum(workers["standing"] == "dropped")
    excluded = sum(one["kind"] == "production" and not one["counts"] for one in responses)
    assert removed and shown["excluded"] == f"{removed} worker{'s' * (removed > 1)}, {excluded} annotations"
    questions = {one["question"]: one for one in written["json"]["results"]["questions"]}
    assert set(questions) == {"tone: tone", "tone: ease", "tone: words"}
    for name in ("tone", "ease"):
        found, given = questions[f"tone: {name}"], defaultdict(list)
        for row in answers[["item", name]].dropna().itertuples(index=False):
            given[row[0]].append(row[1])
        labels = fields[fields["field"] == name]
        assert (found["items"], found["accepted"]) == (len(labels), int(labels["accepted"].sum()))
        assert found["confidence"] == pytest.approx(labels["confidence"].mean())
        several = [values for values in given.values() if len(values) > 1]
        unanimous = sum(len(set(values)) == 1 for values in several)
        assert (found["unanimous"], found["with_several_answers"]) == (unanimous, len(several))
        assert f"{unanimous} of {len(several)}" in written["html"]
        if name == "tone":
            assert found["alpha"]["value"] == pytest.approx(alpha(given))
            pairs = [one == other for values in given.values() for one, other in combinations(values, 2)]
            assert found["pairwise"]["value"] == pytest.approx(sum(pairs) / len(pairs))
        assert f'<td class="text">tone: {name}</td>' in written["html"]


def test_the_sentence_and_the_table_have_the_same_percentiles(written: dict[str, Any]) -> None:
    [row] = [one for one in written["json"]["workers"]["measures"] if one["stage"] == "all stages"]
    [alone] = [
        one for one in written["json"]["workers"]["measures"] if one["stage"] == "tone" and one["unit"] == "money"
    ]
    wage = written["json"]["workers"]["hourly_wage"]
    for one in (row, alone):
        assert (int(one["median"]), one["10th percentile"]) == (wage["median"], wage["tenth_percentile"])
    for text in (written["html"], written["md"]):
        percentiles = set(re.findall(r"10th percentile \\?(\$\d+\.\d\d)", text))
        assert percentiles == {f"${wage['tenth_percentile'] / 100:.2f}"}


def test_simulated_people_are_named_first(written: dict[str, Any]) -> None:
    assert written["json"]["methods"]["Design"].startswith("All people in this study were simulated")
    assert "were simulated" in written["json"]["notes"][0]
    assert written["html"].index("were simulated") < written["html"].index("The study at a glance")
    [header] = re.findall(r"<header>.*?</header>", written["html"], re.DOTALL)
    assert "were simulated" in header  # screen readers go from landmark to landmark
    assert "were simulated" in written["md"] and "were simulated" in written["tex"]


def test_methods_are_three_short_paragraphs(written: dict[str, Any]) -> None:
    paragraphs = written["json"]["methods"]
    assert len(paragraphs) == 3
    for text in paragraphs.values():
        sentences = re.split(r"(?<=[.])\s+(?=[A-Z0-9])", text)
        assert len(text.split()) < 150 and max(len(one.split()) for one in sentences) <= 26, sentences


def test_no_retired_words_on_a_page(written: dict[str, Any]) -> None:
    page = re.sub(r"<script.*?</script>|<style.*?</style>|<[^>]+>", " ", written["html"], flags=re.DOTALL)
    # The names of the columns of files stay as they are.
    page = re.sub(r"\b(item_)?released\b(?= +Whether)|\btrust\b(?= +Weight)", "", re.sub(r"\s+", " ", page))
    assert [word for word in RETIRED if re.search(rf"\b{word}\b", page, re.IGNORECASE)] == []


def test_the_main_part_is_open_and_the_appendix_is_folded(written: dict[str, Any]) -> None:
    page = written["html"]
    assert "<details open" not in page and page.count("<details ") == page.count("</details>") >= 8
    order = [page.index(f'id="{name}"') for name in ("results", "methods", "flow", "costs", "data-card", "appendix")]
    assert order == sorted(order)
    assert page.index('id="protocol"') > order[-1]
    ids = re.findall(r' id="([^"]+)"', page)
    assert len(ids) == len(set(ids))


def plain_latex(text: str) -> str:
    """What is left of LaTeX without the commands that the report writes itself."""
    known = r"\\(?:textbackslash|textasciitilde|textasciicircum|textless|textgreater|textbar|char34|ldots)\{\}"
    known += r"|\\[&%$#_{}]|\{[\[\]*]\}|\$\\(?:alpha|kappa|times|neq)\$|\$-?[\d.,]*\$|\\quad |\\\\"
    known += r"|\\(?:toprule|midrule|bottomrule|centering|small|footnotesize|caption|label|paragraph|raggedright)\b"
    known += r"|\\setlength\{\\tabcolsep\}\{2pt\}|@\{\}"
    known += r"|\\(?:begin|end)\{(?:table|tabular)\}|p\{0\.\d+\\linewidth\}"
    return re.sub(known, "", text)


def test_nothing_from_a_study_is_a_command_of_latex(written: dict[str, Any]) -> None:
    for text in HOSTILE:
        assert not set(plain_latex(latex_text(text))) & set("\\$%&#_^~{}|<>\r\n\x0b\u2028"), text
    body = "\n".join(line for line in written["tex"].splitlines() if not line.startswith("%"))
    assert "\\" not in plain_latex(body) and "$" not in plain_latex(body)
    for name in ("table", "tabular"):
        assert body.count(rf"\begin{{{name}}}") == body.count(rf"\end{{{name}}}") >= 3
    table = latex_float(ScoreTable("t", ("a", "b#"), [(text, 1.5) for text in HOSTILE]), "t")
    rows = table[table.index(r"\midrule") :].splitlines()[1:-3]
    # A bracket or star at the beginning of a row would be an argument of the row before.
    assert len(rows) == len(HOSTILE) and all(re.fullmatch(r"[^\[*].* & 1\.5000 \\\\", row) for row in rows)
    assert len(re.findall(r"(?<!\\)\\paragraph\{", body)) == 3


def test_nothing_from_a_study_is_markup_in_markdown(written: dict[str, Any]) -> None:
    for text in HOSTILE:
        shown = markdown_text(text)
        assert "\n" not in shown and not re.search(r"(?<!\\)[`*_\[\]|$~#!]|<|>", shown)
    table = markdown_table(ScoreTable(HOSTILE[1], ("a", "b#"), [(text, 1) for text in HOSTILE])).splitlines()
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in table[2:]} == {3}
    assert "# Simulated: \\[x\\](javascript:alert(1))" in written["md"]
    assert "<img" not in written["md"] and "<img src" not in written["html"]
    assert "| --- | ---: |" in written["md"] and "### Design" in written["md"]


def test_the_methods_name_the_weights_of_annotations(written: dict[str, Any]) -> None:
    """Before, a reader could not see why two of three answers had a confidence of 1."""
    for name in ("html", "md", "tex"):
        assert "Annotations were weighted by the gold accuracy of their workers." in " ".join(written[name].split())


def test_a_wide_table_fits_on_a_page_of_a_paper() -> None:
    """Before, the agreement per question ran off the page by 10 cm."""
    columns = (
        "question",
        "labelled items#",
        "mean confidence#",
        "Krippendorff's α (95% interval)#",
        "pairwise (95% interval)#",
    )
    wide = latex_float(ScoreTable("Wide", columns, [("main: toxic", 8, 0.5, "0.668 (0.083 to 1.000)", "n/a")]), "wide")
    assert r"\begin{tabular}[b]{@{}r@{}}Krippendorff's \\ $\alpha$ \\ (95\% interval)\end{tabular}" in wide
    assert r"\begin{tabular}[t]{@{}r@{}}0.668 \\ ($0.083$ to $1.000$)\end{tabular} & n/a \\" in wide
    narrow = latex_float(ScoreTable("Narrow", columns[:2], [("main: toxic", 8)]), "narrow")
    assert r"\begin{tabular}{lr}" in narrow and narrow.count(r"\begin{tabular}") == 1


BY_ARM = ScoreTable(
    "Results by arm",
    ("", "baseline#", "justification#", "crowd#", "expert#"),
    [
        ("fraction of validators who give the gold answer of a kept question", *["0.868 (n = 25)"] * 4),
        ("  difference (95% interval)", "reference", *["−0.733 (−0.827 to −0.627)"] * 3),
        ("cost of the arm's own stages", "$2,621.50", "$2,996.00", "$8,285.00", "$6,022.40"),
    ],
)

PERFORMANCE = ScoreTable(
    "Human and model performance by arm, in percent",
    ("questions", "measure", "baseline#", "justification#", "crowd#", "expert#"),
    [("with votes left", "N (mean over samples)", 6.0, 6.0, 6.0, 6.0), ("", "human", 90.0, 80.0, 76.7, 90.0)],
    digits=1,
)


def test_paragraphs_in_a_table_have_the_width_that_numbers_leave() -> None:
    """Before, the table of four arms was 20 to 35 points too wide."""
    table = latex_float(BY_ARM, "arms")
    assert r"\begin{tabular}{@{}p{0.19\linewidth}rrrr@{}}" in table
    assert r"\raggedright \quad difference (95\% interval) & reference & " in table
    texts = ScoreTable("t", ("question", "measure", *["share (of all)#"] * 6), [("a " * 18, "b " * 8, *[0.5] * 6)])
    assert r"p{0." in latex_float(texts, "t")


def test_the_gaps_between_many_columns_count_as_width() -> None:
    """Before, this table was 19 points too wide."""
    assert r"\footnotesize" in latex_float(PERFORMANCE, "performance")


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="needs a TeX engine")
def test_the_fragment_compiles(written: dict[str, Any], tmp_path: Path) -> None:
    packages = r"\usepackage[T1]{fontenc}\usepackage[utf8]{inputenc}\usepackage{booktabs}"
    hostile = latex_float(ScoreTable(HOSTILE[0], ("a", "b#"), [(text, 1) for text in HOSTILE]), "hostile")
    trial = latex_float(BY_ARM, "arms") + latex_float(PERFORMANCE, "performance")
    for options, fragment, is_hostile in (
        ("", f"{written['tex']}{hostile}", True),
        ("", trial, False),
        ("[a4paper,11pt]", trial, False),
    ):
        document = rf"\documentclass{options}{{article}}{packages}\begin{{document}}{fragment}\end{{document}}"
        (tmp_path / "report.tex").write_text(document, "utf-8")
        command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape", "report.tex"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False)
        assert done.returncode == 0, done.stdout[-2000:]
        assert is_hostile or b"Overfull" not in done.stdout


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium")
def test_a_trial_has_ten_pages_at_most(tmp_path: Path) -> None:
    settings = CrowdSettings(workers=40, experts=2, kind=(KindSettings(name="able", share=1),))
    keep_run(load_folder(small(tmp_path / "study")), Crowd(settings), 1, tmp_path / "kept")
    out = ["--out", tmp_path / "report.pdf", "--appendix", tmp_path / "appendix.pdf"]
    run("report", tmp_path / "kept", "--arms", "--resamples", 100, *out)
    main, appendix = (
        len(re.findall(rb"/Type\s*/Page\b", (tmp_path / f"{name}.pdf").read_bytes())) for name in ("report", "appendix")
    )
    assert 3 <= main <= 10 < appendix
