"""Feeds readers with bytes that no file should hold: whatever they are given, they may raise UserError only.

    python tests/fuzz/readers.py judgments -max_total_time=60

A reader is a function of bytes; add yours to READERS.
"""

import contextlib
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["chorale.files"]):
    from chorale.kits.frames.files.scores import read_frame_scores
    from chorale.kits.qasrl.files import read_bank, read_qasrl, read_sentences
    from chorale.kits.questions.files.questions import read_mcq
    from chorale.kits.rules.files.rules import read_judged, read_rules
    from chorale.kits.srl.files import read_srl
    from chorale.metrics.reading.judgment_files import read_judgments
    from chorale.metrics.reading.responses import read_responses
    from chorale.metrics.reading.truth_files import read_truth
    from chorale.model import UserError

_FOLDER = Path(tempfile.mkdtemp(prefix="chorale-fuzz-"))
_NAMES = ("a.csv", "a.tsv", "a.jsonl", "a.parquet", "a.csv.gz")
_SEPARATORS = (None, "|", "json")


def _file(data: bytes, name: str) -> Path:
    path = _FOLDER / name
    path.write_bytes(data)
    return path


def _judgments(data: bytes) -> None:
    """The first byte chooses the format and how labels are separated."""
    if not data:
        return
    path = _file(data[1:], _NAMES[data[0] % len(_NAMES)])
    with contextlib.suppress(UserError):
        read_judgments(path, sep=_SEPARATORS[data[0] // len(_NAMES) % len(_SEPARATORS)])


def _judgment_rows(data: bytes) -> None:
    """Below a sound header."""
    with contextlib.suppress(UserError):
        read_judgments(_file(b"task,worker,label,trust\nt,w,a,1\n" + data, "a.csv"), trust="trust")


def _judgment_objects(data: bytes) -> None:
    with contextlib.suppress(UserError):
        read_judgments(_file(b'{"task":1,"worker":2,"label":"a"}\n{"task":2,"worker":1,"label":' + data, "a.jsonl"))


def _truth(data: bytes) -> None:
    with contextlib.suppress(UserError):
        read_truth(_file(b"task,label\n" + data, "t.csv"), sep="json")


def _frames(data: bytes) -> None:
    """The first byte chooses between a table, objects and what CrowdTruth printed."""
    if not data:
        return
    name, head = (
        ("f.csv", b"sent_id,frame,score,sqs\n"),
        ("f.jsonl", b'{"sent_id":"s","frame":"A","score":'),
        ("f.json", b'{"units":{"s":{"uqs":1,"uas":'),
    )[data[0] % 3]
    with contextlib.suppress(UserError):
        read_frame_scores([_file(head + data[1:], name)], need_scores=bool(data[0] & 64))


def _mcq(data: bytes) -> None:
    with contextlib.suppress(UserError):
        read_mcq(_file(data, "m.json"))


def _mcq_records(data: bytes) -> None:
    with contextlib.suppress(UserError):
        read_mcq(_file(b'{"question_id":"q","options":["a","b"],"gold_answer":"option1",' + data, "m.jsonl"))


_QASRL_HEADER = (
    b"qasrl_id,verb_idx,verb,question,answer_range,answer,wh,aux,subj,obj,is_negated,is_passive,worker_id,sentence\n"
    b"s,1,ran,Who ran?,0:1,She,who,_,_,_,False,False,w,She ran\n"
)


def _qasrl(data: bytes) -> None:
    with contextlib.suppress(UserError):
        read_qasrl(_file(data, "q.csv"))


def _qasrl_rows(data: bytes) -> None:
    with contextlib.suppress(UserError):
        read_qasrl(_file(_QASRL_HEADER + data, "q.csv"), {"s": ("She", "ran")}, by="worker_id")


def _qasrl_bank(data: bytes) -> None:
    """What is inside a verb of a sound sentence."""
    head = b'{"sentenceId":"s","sentenceTokens":["She","ran"],"verbEntries":{"1":{"verbIndex":1,"questionLabels":'
    with contextlib.suppress(UserError):
        read_bank(_file(head + data, "b.jsonl")).answers(people_only=False)


def _qasrl_judgments(data: bytes) -> None:
    head = (
        b'{"sentenceId":"s","sentenceTokens":["She","ran"],"verbEntries":{"1":{"verbIndex":1,"questionLabels":{"Who?":'
        b'{"questionString":"Who ran?","questionSlots":{"wh":"who"},"isNegated":false,"isPassive":false,'
        b'"questionSources":["turk-1"],"answerJudgments":[{"sourceId":"turk-1","isValid":true,"spans":'
    )
    with contextlib.suppress(UserError):
        read_bank(_file(head + data + b"}]}}}}}", "b.jsonl")).answers(by_judge=True)


def _responses(data: bytes) -> None:
    with contextlib.suppress(UserError):
        read_responses([_file(data, "i.csv")])


def _rules(data: bytes) -> None:
    """The first byte chooses the format, and whether it is rules or judged applications."""
    if not data:
        return
    path = _file(data[1:], ("r.tsv", "r.csv", "r.jsonl", "r.txt")[data[0] % 4])
    with contextlib.suppress(UserError):
        _ = read_judged(path) if data[0] & 64 else read_rules(path)


def _sentences(data: bytes) -> None:
    with contextlib.suppress(UserError):
        read_sentences(_file(b"qasrl_id,tokens\n" + data, "s.csv"))


def _srl(data: bytes) -> None:
    """The first byte chooses the format."""
    if not data:
        return
    with contextlib.suppress(UserError):
        read_srl(_file(data[1:], "s.txt"), ("auto", "conll05", "conll09", "conllu")[data[0] % 4])


READERS: dict[str, Callable[[bytes], None]] = {
    "frames": _frames,
    "judgment-objects": _judgment_objects,
    "judgment-rows": _judgment_rows,
    "judgments": _judgments,
    "mcq": _mcq,
    "mcq-records": _mcq_records,
    "qasrl": _qasrl,
    "qasrl-bank": _qasrl_bank,
    "qasrl-judgments": _qasrl_judgments,
    "qasrl-rows": _qasrl_rows,
    "responses": _responses,
    "rules": _rules,
    "sentences": _sentences,
    "srl": _srl,
    "truth": _truth,
}


def main() -> None:
    name, *options = sys.argv[1:]
    atheris.Setup([sys.argv[0], *options], READERS[name])
    atheris.Fuzz()


if __name__ == "__main__":
    main()
