"""Sentences about how long personal data are kept."""

from chorale.model.settings import RetentionSettings

NOT_SET = (
    "No retention period is set: personal data are kept until you erase them. Set `retention.identities_days` in "
    "study.toml to the period in your consent form."
)

KEPT = (
    "Answers of people who withdraw are kept without their identity. Say so in the consent form: the consent "
    "forms of the templates promise to erase them."
)


def retention_sentences(rule: RetentionSettings) -> list[str]:
    """Which personal data are erased, and when."""
    kept = [KEPT] if rule.withdrawn_answers == "keep" else []
    if not rule.acts:
        return [NOT_SET, *kept]
    after = "days after a person's last visit"
    sentences = []
    if rule.identities_days is not None:
        sentences.append(
            f"Platform IDs, e-mail addresses and messages are erased {rule.identities_days:,} {after}, once "
            "this person has been paid."
        )
    if rule.answers_days is not None:
        sentences.append(f"Answers are erased {rule.answers_days:,} {after}.")
    return sentences + kept
