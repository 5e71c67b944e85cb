"""QA-SRL: arguments found (UA), found with the right question (LA), and roles; agreement; comparison with PropBank."""

from chorale.kits.qasrl.metrics.agreement import (
    PairAgreement,
    QasrlAgreement,
    agreement,
    agreement_metric,
    consolidated_agreement,
)
from chorale.kits.qasrl.metrics.alignment import AlignedArgument, align_verb, aligned_arguments
from chorale.kits.qasrl.metrics.assignment import SpanEdge, best_matching
from chorale.kits.qasrl.metrics.dense import DenseRules, dense_metric, dense_statistics
from chorale.kits.qasrl.metrics.matching import iou
from chorale.kits.qasrl.metrics.measures import MEASURES, Alignment, Rules, align, counts, metric, statistics
from chorale.kits.qasrl.metrics.propbank import (
    PropBankArgument,
    PropBankPart,
    arguments_of,
    propbank_metric,
    propbank_statistics,
)
from chorale.kits.qasrl.metrics.questions import MODALS, is_modal, label_of, strict_match

__all__ = [
    "MEASURES",
    "MODALS",
    "AlignedArgument",
    "Alignment",
    "DenseRules",
    "PairAgreement",
    "PropBankArgument",
    "PropBankPart",
    "QasrlAgreement",
    "Rules",
    "SpanEdge",
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
