"""Matches judged applications with the rules of a resource: exactly or, failing that, by lemmas."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from chorale.kits.rules.files.rules import JudgedApplication, Rule, RuleSet
from chorale.text.lemmas import all_spellings, spellings_of

Match = Literal["lemma", "exact"]
"""Whether predicates that differ only in inflection match."""


def with_lemmas(resource: RuleSet, applications: Sequence[JudgedApplication]) -> tuple[RuleSet, int]:
    """Adds scores for applications that match a rule only by lemmas, and counts these applications.

    Exact matches take precedence. If several rules match by lemmas, the highest score counts. The order of arguments
    must match in either case.
    """
    lacking = {one.rule for one in applications} - resource.scores.keys()
    spelled = _by_lemma(resource, all_spellings(rule.lhs for rule in lacking))
    added: dict[Rule, float] = {}
    for rule in lacking:
        fitting = [spelled[each] for each in _spelled(rule) if each in spelled]
        if fitting:
            added[rule] = max(fitting)
    count = sum(application.rule in added for application in applications)
    return replace(resource, scores={**resource.scores, **added}, size=resource.rules), count


def _by_lemma(resource: RuleSet, lefts: frozenset[str]) -> dict[Rule, float]:
    """All spellings of the rules whose left side has one of these spellings."""
    scores: dict[Rule, float] = {}
    for rule, score in resource.scores.items():
        if not lefts.isdisjoint(spellings_of(rule.lhs)):
            for spelling in _spelled(rule):
                scores[spelling] = max(score, scores.get(spelling, score))
    return scores


def _spelled(rule: Rule) -> list[Rule]:
    return [Rule(lhs, rhs, rule.turned) for lhs in spellings_of(rule.lhs) for rhs in spellings_of(rule.rhs)]
