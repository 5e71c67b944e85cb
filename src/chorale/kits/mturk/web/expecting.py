"""The expected time and pay of HITs."""

from collections.abc import Sequence

from chorale.engine.expected_time import ExpectedTime, rounded_up
from chorale.engine.running import Study
from chorale.kits.mturk.api.names import NOT_ACCEPTED
from chorale.kits.mturk.api.questions import External, Page, Question, read_question
from chorale.kits.mturk.layouts import seconds_of
from chorale.kits.mturk.store.hits import Offered
from chorale.kits.mturk.web.frames import form_html
from chorale.web.pay_words import offers_facts


def expected_time(question: Question) -> ExpectedTime:
    """Estimate from the content of a HIT; unknown for pages on another site."""
    if isinstance(question, External):
        return ExpectedTime(None)
    html = question.html if isinstance(question, Page) else form_html(question, NOT_ACCEPTED)
    return ExpectedTime(rounded_up(seconds_of(html)))


def pay_facts(study: Study, offers: Sequence[Offered]) -> list[str]:
    """Expected pay of several HIT types, based on the oldest HIT of each."""
    return offers_facts([(offer.type.reward, expected_time(read_question(offer.question))) for offer in offers], study)
