"""QA-SRL: arguments found (UA), found with the right question (LA), and roles; agreement; comparison with PropBank."""

from chorale.evaluate.qasrl.agreement import (
    Agreement,
    PairAgreement,
    agreement,
    agreement_metric,
    consolidated_agreement,
)
from chorale.evaluate.qasrl.alignment import AlignedArgument, align_verb, aligned_arguments
from chorale.evaluate.qasrl.assignment import Edge, best_matching
from chorale.evaluate.qasrl.dense import DenseRules, dense_metric, dense_statistics
from chorale.evaluate.qasrl.matching import iou
from chorale.evaluate.qasrl.measures import MEASURES, Alignment, Rules, align, counts, metric, statistics
from chorale.evaluate.qasrl.propbank import (
    Part,
    PropBankArgument,
    arguments_of,
    propbank_metric,
    propbank_statistics,
)
from chorale.evaluate.qasrl.questions import MODALS, is_modal, label_of, strict_match

__all__ = [
    "MEASURES",
    "MODALS",
    "Agreement",
    "AlignedArgument",
    "Alignment",
    "DenseRules",
    "Edge",
    "PairAgreement",
    "Part",
    "PropBankArgument",
    "Rules",
    "agreement",
    "agreement_metric",
    "align",
    "align_verb",
    "aligned_arguments",
    "arguments_of",
    "best_matching",
    "consolidated_agreement",
    "counts",
    "dense_metric",
    "dense_statistics",
    "iou",
    "is_modal",
    "label_of",
    "metric",
    "propbank_metric",
    "propbank_statistics",
    "statistics",
    "strict_match",
]
