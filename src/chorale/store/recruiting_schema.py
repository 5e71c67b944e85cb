"""The tables behind finding and paying people: links, studies on a platform, submissions there, payouts."""

from sqlalchemy import BigInteger, Column, ForeignKey, Index, Integer, Table, Text, UniqueConstraint

from chorale.store.schema import Id, metadata

invitation = Table(
    "invitation",
    metadata,
    Column("id", Id, primary_key=True),
    # What a link carries, signed. Whoever has it is let in.
    Column("nonce", Text, nullable=False, unique=True),
    Column("kind", Text, nullable=False),
    Column("stage", Text),
    # How many people a reusable link lets in at most, and how many it has.
    Column("most", Integer),
    Column("uses", Integer, nullable=False),
    Column("made_at", BigInteger, nullable=False),
    Column("made_by", Text, nullable=False),
    Column("revoked_at", BigInteger),
)

# Kept apart from everything else, and never exported.
invitation_address = Table(
    "invitation_address",
    metadata,
    Column("address", Text, primary_key=True),
    Column("invitation_id", Id, ForeignKey("invitation.id"), nullable=False),
    Index("ix_invitation_address_invitation", "invitation_id"),
)

# Invitations to be sent by e-mail, and what came of it.
invitation_mail = Table(
    "invitation_mail",
    metadata,
    Column("invitation_id", Id, ForeignKey("invitation.id"), primary_key=True),
    Column("state", Text, nullable=False),
    Column("at", BigInteger, nullable=False),
)

# Who wants no more e-mail, by a digest: it holds after the address is erased.
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
    # What the study is called behind the scenes there: how one is found again that was made just before a crash.
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

# Holds the platform's ids: kept apart, and never exported.
submission = Table(
    "submission",
    metadata,
    Column("external_id", Text, primary_key=True),
    Column("panel_study", Text, ForeignKey("panel_study.name"), nullable=False),
    Column("participant", Text, nullable=False),
    # Nobody yet, if the platform reports somebody who has not arrived.
    Column("worker_id", Id, ForeignKey("worker.id")),
    Column("status", Text, nullable=False),
    Column("code", Text),
    # What the platform paid for it by itself.
    Column("rewarded", BigInteger, nullable=False),
    # When somebody came with it, and when the platform last reported it: it may do so before or after, or never.
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
    # What the platform calls it.
    Column("external_id", Text),
    Column("currency", Text, nullable=False),
    Column("amount", BigInteger, nullable=False),
    # Amount and fees together, as the platform says.
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
    # The newest entry of the worker's it covers: everything up to there is paid, once.
    Column("up_to_entry", Id, ForeignKey("entry.id"), nullable=False),
    Column("submission_id", Text, ForeignKey("submission.external_id")),
    # The bonuses the platform reported before, to recognise ours.
    Column("bonuses_before", Text, nullable=False),
    Column("reported_at", BigInteger),
    # The last guard of the promise that nothing is paid twice.
    UniqueConstraint("worker_id", "up_to_entry"),
    Index("ix_payment_payout", "payout_id"),
)

# A payment that did not arrive, by the payout that was to bring it.
payment_failure = Table(
    "payment_failure",
    metadata,
    Column("payment_id", Id, ForeignKey("payment.id"), primary_key=True),
    Column("payout_id", Id, ForeignKey("payout.id"), primary_key=True),
    Column("reason", Text, nullable=False),
    Column("at", BigInteger, nullable=False),
)

# A payment that had failed, and the later payout that it is part of.
payment_retry = Table(
    "payment_retry",
    metadata,
    Column("payment_id", Id, ForeignKey("payment.id"), primary_key=True),
    Column("payout_id", Id, ForeignKey("payout.id"), primary_key=True),
    Index("ix_payment_retry_payout", "payout_id"),
)

# Where people want to be paid: encrypted, kept apart, never exported, and erased once they are paid.
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
