"""The grammar of QA-SRL questions: seven slots, one state machine per verb."""

from chorale.text.questions.completing import Completion, Context, complete, questions_alike, suggest
from chorale.text.questions.machine import Machine, machine, parse
from chorale.text.questions.slots import NotAQuestion, Parsed, Slots, render
from chorale.text.questions.table import BROWSER_MODULES, SLOTS, prepositions, table

__all__ = [
    "BROWSER_MODULES",
    "SLOTS",
    "Completion",
    "Context",
    "Machine",
    "NotAQuestion",
    "Parsed",
    "Slots",
    "complete",
    "machine",
    "parse",
    "prepositions",
    "questions_alike",
    "render",
    "suggest",
    "table",
]
