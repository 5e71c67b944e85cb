"""What results show of themselves in a notebook: one line, however much is in them."""

from pathlib import Path

import numpy as np

from chorale.kits.frames.files.scores import FrameScores
from chorale.kits.frames.metrics.agreement import frame_agreement
from chorale.kits.qasrl.files import Qa, QuestionAnswers, VerbQuestion
from chorale.kits.qasrl.metrics import align, statistics
from chorale.kits.rules.files.rules import RuleSet, rule_of
from chorale.kits.rules.metrics.curves import evaluate_rules
from chorale.kits.srl.files import read_srl
from chorale.kits.srl.metrics import conll05
from chorale.metrics.aggregation import DawidSkene, aggregate
from chorale.metrics.aggregation.crowdtruth import crowdtruth
from chorale.metrics.agreement import krippendorff_alpha
from chorale.metrics.irt import fit_irt
from chorale.metrics.judgments import Judgments
from chorale.metrics.reading.responses import read_responses

CROWD = Judgments.from_columns(["t1", "t1", "t2", "t2"], ["ann", "bob"] * 2, ["x", "x", "y", "x"])
FRAMES = FrameScores.from_columns(["s", "s"], ["giving", "selling"], [0.9, 0.1])


def questions() -> QuestionAnswers:
    who = VerbQuestion("Who sat?", "who")
    return QuestionAnswers.of({("s1", 2): [Qa(who, ((0, 2),))]}, name="gold.csv")


def shown_of_files(folder: Path) -> dict[str, object]:
    answers = folder / "answers.csv"
    answers.write_text("userid,a,b\nx,1,0\ny,0,1\n", "utf-8")
    props = folder / "gold.props"
    props.write_text("- (A0*)\ngive *\n", "utf-8")
    corpus = read_srl(props)
    return {
        "<ResponseTable: 2 responders, 2 items, 1 test>": read_responses([answers]),
        f"<Corpus: {props}, conll05, 1 sentence>": corpus,
        "<MetricOutcome: conll05, 1 sentence, f1 1.0000>": conll05(corpus.sentences, corpus.sentences),
    }


def test_every_result_is_one_line(tmp_path: Path) -> None:
    alignment = align(questions(), questions())
    expected = {
        "<Judgments: 4 judgments, 2 tasks, 2 workers, 2 labels>": CROWD,
        "<Aggregation: 2 tasks, 2 labels, 2 workers with agreement>": aggregate(CROWD, "majority"),
        "<Agreement: alpha 0.0000, 2 items, 2 workers, 4 judgments>": krippendorff_alpha(CROWD),
        "<QuestionAnswers: gold.csv, 1 verb, 1 row, 1 answer>": questions(),
        "<Alignment: 1 verb, 1 pair>": alignment,
        "<Statistics: 1 item, 9 numbers each>": statistics(alignment),
        "<RuleSet: berant, 1 rule>": RuleSet("berant", {rule_of("buy", "own"): 1.0}, "", scored=True),
        "<RuleCurve: 1 point>": evaluate_rules(np.ones(1), np.array([True])).curve,
        "<FrameAgreement: 1 sentence, tau_auc 1.0000, tau_mean 1.0000, cosine_auc 1.0000, cosine_mean 1.0000>": (
            frame_agreement(FRAMES, FRAMES)
        ),
        **shown_of_files(tmp_path),
    }
    assert {line: repr(one) for line, one in expected.items()} == {line: line for line in expected}


def test_numbers_that_matter_are_in_the_line() -> None:
    assert repr(crowdtruth(CROWD)).startswith("<CrowdTruth: 2 units of mean quality 0.")
    fit = fit_irt(np.array([[1.0, 0.0], [0.0, 1.0]]), model="1pl")
    assert repr(fit) == "<MarginalFit: 1pl, 2 responders, 2 items>"
    alone = krippendorff_alpha(Judgments.from_columns(["t"], ["ann"], ["x"]))
    assert "alpha undefined: no item has two judgments" in repr(alone)


def test_estimators_show_how_they_were_made() -> None:
    made = DawidSkene(n_iter=7)
    made.fit({"task": ["t", "t"], "worker": ["a", "b"], "label": ["x", "x"]})
    assert "n_iter=7, " in repr(made)
    assert "labels_" not in repr(made)
