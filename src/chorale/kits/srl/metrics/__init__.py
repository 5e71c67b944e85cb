"""Scorers for semantic role labelling, one per module, on a common data model."""

from chorale.kits.srl.metrics.conll05 import conll05
from chorale.kits.srl.metrics.conll09 import conll08, conll09
from chorale.kits.srl.metrics.errors import ERROR_COUNTS, Finding, findings
from chorale.kits.srl.metrics.names import Names
from chorale.kits.srl.metrics.outcome import MetricOutcome, only_common
from chorale.kits.srl.metrics.primesrl import primesrl
from chorale.kits.srl.metrics.program import primesrl_program
from chorale.kits.srl.metrics.semeval07 import semeval07
from chorale.kits.srl.metrics.senseval import senseval3
from chorale.kits.srl.metrics.wholes import CoreRoles, core_roles

__all__ = [
    "ERROR_COUNTS",
    "CoreRoles",
    "Finding",
    "MetricOutcome",
    "Names",
    "conll05",
    "conll08",
    "conll09",
    "core_roles",
    "findings",
    "only_common",
    "primesrl",
    "primesrl_program",
    "semeval07",
    "senseval3",
]
