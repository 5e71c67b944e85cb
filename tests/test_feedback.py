"""What people read of how they did: what is held against an answer, what graders wrote, and that it reads well."""

import re
from itertools import product
from pathlib import Path

import pytest

from chorale.audit.verify import verify
from chorale.engine.clock import Clock
from chorale.engine.gates import close_gate
from chorale.engine.opening import open_study
from chorale.folder.feedback import compose
from chorale.folder.reading import check_folder
from chorale.folder.templates import template_folder, template_names
from chorale.model import GateSettings, GradedAnswer
from chorale.protocol import Candidate, GateVerdict, decide_gate
from chorale.store import arms, messages
from chorale.web.pages import markdown
from crowd import Person, do, look
from writing_study import write_writing_study

PRAISE = "Excellent, keep it up!"
EVIDENCE = {"average": 0.5, "rank": 1, "of": 2, "needed": 0.5}
MESSAGES = [
    (path.read_text("utf-8"), f"{template}/{path.name}")
    for template in template_names()
    for path in sorted((template_folder(template) / "messages").glob("*.md"))
]


@pytest.mark.parametrize(
    ("marks", "expert", "reasons", "flagged", "told"),
    [
        # What graders write is not against an answer by itself.
        ({"clear": 1.0, "hard": 1.0}, None, [PRAISE], "", PRAISE),
        ({"clear": 1.0, "hard": 0.5}, None, [PRAISE], "", PRAISE),
        ({"clear": 1.0, "hard": 0.4}, None, ["hard", "Too easy."], "1", "Too easy."),
        ({"clear": 1.0, "hard": 0.4}, None, ["hard"], "1", ""),
        # By an expert's answer, every reason is.
        ({}, "no", ["answered yes; the correct answer is no"], "1", ""),
        ({}, "no", [], "", ""),
    ],
)
def test_an_answer_is_flagged_for_what_is_held_against_it(
    marks: dict[str, float], expert: str | None, reasons: list[str], flagged: str, told: str
) -> None:
    answer = GradedAnswer(1, "w", 1, 1, 0.7, tuple(reasons), "an answer", {}, marks, expert=expert)
    template = "{% for one in flagged %}{{ loop.index }}{% endfor %}|{{ '%.0f' % flagged_share }}|"
    template += "{{ answers[0].comments | join }}|{{ answers[0].reasons | join('; ') }}"
    found = compose(template, GateVerdict("w", 0.7, True, False, "", EVIDENCE), [answer], marks, {})
    assert found.replace("\\", "") == f"{flagged}|{len(flagged)}|{told}|{'; '.join(reasons)}"


def test_a_message_about_a_round_without_a_mistake_mentions_none() -> None:
    template = (template_folder("qasrl") / "messages" / "round.md").read_text("utf-8")
    answers = [GradedAnswer(number, "w", number, number, 1.0, (), "", {}, {}, expert="[]") for number in (1, 2)]
    message = compose(
        template, GateVerdict("w", 1.0, True, False, "", EVIDENCE), answers, {}, {"contact": "a@example.org"}
    )
    assert "Your score is 100%" in message
    assert "missing or different" not in message


def test_praise_reaches_the_worker_and_is_held_against_nobody(
    tmp_path: Path, database: str | None, clock: Clock
) -> None:
    write_writing_study(tmp_path)
    comment = '  { name = "note", kind = "long_text", ask = "A comment?", required = false },\n]\n\n[[gate]]'
    settings = (tmp_path / "study.toml").read_text().replace("]\n\n[[gate]]", comment)
    settings = settings.replace("graded = 4", "graded = 1").replace("judgments = 3", "judgments = 1")
    (tmp_path / "study.toml").write_text(settings)
    (tmp_path / "message.md").write_text(
        "{{ '%.2f' % flagged_share }}{% for one in answers if one.comments %} {{ one.comments | join }}{% endfor %}"
    )
    study = open_study(tmp_path, database, clock)
    try:
        writer, grader = Person(study, "writer"), Person(study, "grader")
        arm = look(study, arms.arms_by_worker)[writer.pseudonym]
        writer.judge({"question": "What did the town do?", "kind": "what", "length": "one"}, f"{arm}-practice")
        grader.judge({"clear": 5, "hard": 5, "note": PRAISE}, f"{arm}-grades")
        do(study, close_gate, study.gates[f"{arm}-trained"], "the test")
        [message] = look(study, lambda tx: messages.messages_to(tx, writer.id))
        assert message.body.replace("\\", "") == f"0.00 {PRAISE}"
        assert look(study, lambda tx: verify(tx, study)).differences == []
    finally:
        study.close()


def test_a_message_that_counts_on_good_work_is_refused(tmp_path: Path) -> None:
    write_writing_study(tmp_path)
    (tmp_path / "message.md").write_text("Your best: {{ best[0].answer }}.\n")
    [problem] = check_folder(tmp_path)[1]
    assert "can't be filled" in problem.message


@pytest.mark.parametrize("template", [text for text, _ in MESSAGES], ids=[name for _, name in MESSAGES])
def test_messages_of_templates_are_laid_out_as_they_are_meant(template: str) -> None:
    """A block that lacks an empty line before it runs into the list or the paragraph above."""
    names = [f"{name}_{n}" for name in ("answerable", "reading", "creative", "distracting") for n in (1, 2)]
    extra = {"study": "a study", "contact": "team@example.org", "bonus": "1.00"}
    for marks, count, passed in product((0.0, 0.4, 0.6, 1.0), (1, 4), (True, False)):
        criteria = dict.fromkeys(names, marks)
        reasons = (*names,) if marks < 0.5 else ()
        own = [
            GradedAnswer(1, "w", n, 1, marks * (1 - n / 10), reasons, f"answer {n}", {"text": f"item {n}"}, criteria)
            for n in range(count)
        ]
        verdict = GateVerdict("w", marks, passed, passed, "", EVIDENCE)
        page = str(markdown(compose(template, verdict, own, criteria, extra)))
        blocks = [re.sub(r"<[^>]*>", "", block).strip() for block in re.findall(r"<li>(.*?)</li>", page, re.S)]
        assert [block for block in blocks if "\n" in block] == [], page
        # What stands out begins a paragraph or ends a label in a list; rows stand in tables.
        assert not re.search(r"(?<!<p>)(?<!\. )<strong>", page), page
        assert "|" not in page, page
        assert ("<li>" in page) == ("flagged" in template and marks < 0.5)


def test_the_trial_gives_one_score_for_difficulty_and_creativity_and_names_the_criterion() -> None:
    criteria = {"reading_1": 0.2, "reading_2": 0.6, "creative_1": 0.3, "creative_2": 0.9, "distracting_1": 1.0}
    criteria |= {"distracting_2": 0.0, "answerable_1": 0.0, "answerable_2": 0.5}
    own = [GradedAnswer(1, "w", 1, 1, 0.5, ("answerable_1",), "an answer", {"text": "an item"}, criteria)]
    rule = GateSettings(name="g", stage=("s",), top_share=0.6, criteria={"answerable": 0.5})
    [verdict] = decide_gate(rule, [Candidate("w", {"s": [0.9]}, (criteria,))])
    extra = {"study": "a study", "contact": "team@example.org", "bonus": ""}
    folder = template_folder("mcq-trial") / "messages"
    text = compose((folder / "round.md").read_text("utf-8"), verdict, own, dict.fromkeys(criteria, 0.5), extra)
    assert "| difficulty | 40 | 50 |" in text and "| creativity | 60 | 50 |" in text
    # In most rounds, only a sample is graded: the shares are of this sample.
    assert text.lstrip().startswith("Your questions, or a random sample of them, have been graded.")
    assert "50% of your graded questions have options that could mislead" in text
    assert "For 100% of the graded pairs of questions, most graders saw something to improve" in text
    # Graders saw one unclear question of two; the other lost points because a wrong option was marked.
    assert "For 50% of these questions, most graders did not find exactly one correct answer." in text
    text = compose((folder / "tutorial.md").read_text("utf-8"), verdict, own, criteria, extra)
    assert not verdict.passed and "because too many of your questions do not have exactly one correct answer" in text


def test_columns_of_numbers_are_aligned_without_styles_that_the_page_forbids() -> None:
    page = str(markdown("| points for | yours |\n|---|---:|\n| difficulty | 67 |\n"))
    assert "style=" not in page
    assert '<th class="num">yours</th>' in page and '<td class="num">67</td>' in page
