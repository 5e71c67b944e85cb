"""Tables for recruiting and paying people: links, studies on a platform, submissions and payouts."""

from sqlalchemy import BigInteger, Column, ForeignKey, Index, Integer, Table, Text, UniqueConstraint

from chorale.store.schema import Id, metadata

invitation = Table(
    "invitation",
    metadata,
    Column("id", Id, primary_key=True),
    # The content of a link, which is signed. Anyone who has it can join.
    Column("nonce", Text, nullable=False, unique=True),
    Column("kind", Text, nullable=False),
    Column("stage", Text),
    # The maximum number of people for a reusable link, and the number so far.
    Column("most", Integer),
    Column("uses", Integer, nullable=False),
    Column("made_at", BigInteger, nullable=False),
    Column("made_by", Text, nullable=False),
    Column("revoked_at", BigInteger),
)

# Stored separately, and never exported.
invitation_address = Table(
    "invitation_address",
    metadata,
    Column("address", Text, primary_key=True),
    Column("invitation_id", Id, ForeignKey("invitation.id"), nullable=False),
    Index("ix_invitation_address_invitation", "invitation_id"),
)

# Invitations by e-mail, and their results.
invitation_mail = Table(
    "invitation_mail",
    metadata,
    Column("invitation_id", Id, ForeignKey("invitation.id"), primary_key=True),
    Column("state", Text, nullable=False),
    Column("at", BigInteger, nullable=False),
)

# Opt-outs from e-mail, by a digest that remains after the address is erased.
mail_optout = Table(
    "mail_optout",
    metadata,
    Column("digest", Text, primary_key=True),
    Column("at", BigInteger, nullable=False),
)

panel_study = Table(
    "panel_study",
    metadata,
    # The name in the study file.
    Column("name", Text, primary_key=True),
    # The study's internal name on the platform, to find a study that was created just before a crash.
    Column("marker", Text, nullable=False, unique=True),
    Column("external_id", Text, unique=True),
    Column("group_id", Text),
    Column("state", Text, nullable=False),
    Column("reward", BigInteger, nullable=False),
    Column("places", Integer, nullable=False),
    Column("asked", Text, nullable=False),
    Column("completion_code", Text, nullable=False),
    Column("screenout_code", Text, nullable=False),
    Column("made_at", BigInteger, nullable=False),
    Column("published_at", BigInteger),
)

# Platform IDs: stored separately, and never exported.
submission = Table(
    "submission",
    metadata,
    Column("external_id", Text, primary_key=True),
    Column("panel_study", Text, ForeignKey("panel_study.name"), nullable=False),
    Column("participant", Text, nullable=False),
    # Null if the platform reports somebody who has not arrived yet.
    Column("worker_id", Id, ForeignKey("worker.id")),
    Column("status", Text, nullable=False),
    Column("code", Text),
    # The platform's own payment for it.
    Column("rewarded", BigInteger, nullable=False),
    # Times of arrival with it and of the platform's last report, which may come before or after, or never.
    Column("arrived_at", BigInteger),
    Column("reported_at", BigInteger),
    Index("ix_submission_worker", "worker_id"),
    Index("ix_submission_participant", "participant"),
)

payout = Table(
    "payout",
    metadata,
    Column("id", Id, primary_key=True),
    Column("platform", Text, nullable=False),
    Column("panel_study", Text, ForeignKey("panel_study.name")),
    Column("state", Text, nullable=False),
    # The platform's ID.
    Column("external_id", Text),
    Column("currency", Text, nullable=False),
    Column("amount", BigInteger, nullable=False),
    # Amount with fees, as reported by the platform.
    Column("charged", BigInteger),
    Column("made_at", BigInteger, nullable=False),
    Column("sent_at", BigInteger),
    Column("settled_at", BigInteger),
)

payment = Table(
    "payment",
    metadata,
    Column("id", Id, primary_key=True),
    Column("payout_id", Id, ForeignKey("payout.id"), nullable=False),
    Column("worker_id", Id, ForeignKey("worker.id"), nullable=False),
    Column("amount", BigInteger, nullable=False),
    # The worker's newest ledger entry that it covers: all entries up to it are paid once.
    Column("up_to_entry", Id, ForeignKey("entry.id"), nullable=False),
    Column("submission_id", Text, ForeignKey("submission.external_id")),
    # Bonuses reported before it, to recognise new ones.
    Column("bonuses_before", Text, nullable=False),
    Column("reported_at", BigInteger),
    # The final guarantee that nothing is paid twice.
    UniqueConstraint("worker_id", "up_to_entry"),
    Index("ix_payment_payout", "payout_id"),
)

# A failed payment, with its payout.
payment_failure = Table(
    "payment_failure",
    metadata,
    Column("payment_id", Id, ForeignKey("payment.id"), primary_key=True),
    Column("payout_id", Id, ForeignKey("payout.id"), primary_key=True),
    Column("reason", Text, nullable=False),
    Column("at", BigInteger, nullable=False),
)

# A retried payment, with the later payout.
payment_retry = Table(
    "payment_retry",
    metadata,
    Column("payment_id", Id, ForeignKey("payment.id"), primary_key=True),
    Column("payout_id", Id, ForeignKey("payout.id"), primary_key=True),
    Index("ix_payment_retry_payout", "payout_id"),
)

# Payout addresses: encrypted, stored separately, never exported, and erased once people are paid.
payout_address = Table(
    "payout_address",
    metadata,
    Column("worker_id", Id, ForeignKey("worker.id"), primary_key=True),
    Column("method", Text, nullable=False),
    Column("sealed", Text, nullable=False),
    Column("left_at", BigInteger, nullable=False),
)

delivery = Table(
    "delivery",
    metadata,
    Column("message_id", Id, ForeignKey("message.id"), primary_key=True),
    Column("state", Text, nullable=False),
    Column("at", BigInteger, nullable=False),
)
