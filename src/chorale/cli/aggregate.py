"""`chorale aggregate`"""

from inspect import unwrap

from chorale.aggregate import score
from chorale.cli.scoring_commands import scoring_command

# Without what names keywords in its errors: here they are options.
aggregate = scoring_command(
    unwrap(score), "Combine what several people said about each task into one answer, with its probability."
)
