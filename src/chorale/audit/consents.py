"""Check that nobody was assigned an item before they agreed to the current consent form."""

from collections.abc import Iterator

from chorale.store import Tx, consents, erasing, events


def consent_differences(tx: Tx) -> Iterator[str]:
    """Check the consent forms, the versions people agreed to, and the version required when each item was assigned."""
    history = consents.ConsentHistory(tx)
    if not history.forms:
        # The study was started by an earlier version of Chorale. Forms get version numbers when it is next opened.
        return
    for form in history.forms:
        if consents.hash_of(form.text) != form.sha256:
            yield f"version {form.version} of the consent form: its text does not match its hash"
    stored = consents.versions_agreed_to(tx)
    # Erased workers have no stored consent.
    gone = {one.worker for one in erasing.erasures(tx)}
    for worker in sorted((stored.keys() | history.given.keys()) - gone):
        given = history.given.get(worker, ())
        last = given[-1][1] if given else None
        if stored.get(worker) != last:
            yield f"worker {worker}: consent to version {stored.get(worker)} is stored, but the log has version {last}"
    if events.recent(tx, 1, kinds=("imported",)):
        return
    for answer in consents.taken_up(tx):
        if answer.version == 0:
            continue
        agreed, asked = history.agreed_at(answer.worker, answer.leased_at), history.in_force_at(answer.leased_at)
        if agreed is None or agreed < asked:
            had = "no consent form" if agreed is None else f"version {agreed} of the consent form"
            yield (
                f"worker {answer.worker}: response {answer.response} is to an item that was assigned when they had "
                f"agreed to {had}, but version {asked} was in force"
            )
