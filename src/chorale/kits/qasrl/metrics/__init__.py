"""QA-SRL: unlabelled arguments (UA), labelled arguments (LA), roles, agreement, and comparison with PropBank."""

from chorale.kits.qasrl.metrics.agreement import QasrlAgreement, agreement, agreement_metric, consolidated_agreement
from chorale.kits.qasrl.metrics.alignment import AlignedArgument, align_verb, aligned_arguments
from chorale.kits.qasrl.metrics.dense import DENSE_METRIC, DenseRules, dense_statistics
from chorale.kits.qasrl.metrics.matching import iou
from chorale.kits.qasrl.metrics.measures import MEASURES, Alignment, Rules, align, counts, metric, statistics
from chorale.kits.qasrl.metrics.propbank import (
    PROPBANK_METRIC,
    PropBankArgument,
    PropBankPart,
    arguments_of,
    propbank_statistics,
)
from chorale.kits.qasrl.metrics.question_sets import QuestionRule
from chorale.kits.qasrl.metrics.questions import is_modal, label_of

__all__ = [
    "DENSE_METRIC",
    "MEASURES",
    "PROPBANK_METRIC",
    "AlignedArgument",
    "Alignment",
    "DenseRules",
    "PropBankArgument",
    "PropBankPart",
    "QasrlAgreement",
    "QuestionRule",
    "Rules",
    "agreement",
    "agreement_metric",
    "align",
    "align_verb",
    "aligned_arguments",
    "arguments_of",
    "consolidated_agreement",
    "counts",
    "dense_statistics",
    "iou",
    "is_modal",
    "label_of",
    "metric",
    "propbank_statistics",
    "statistics",
]
