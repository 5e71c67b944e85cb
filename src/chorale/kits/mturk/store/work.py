"""HITs beside a study's items: their tables, what they can still cost, and who has submitted one."""

from sqlalchemy import and_, select

from chorale.engine.parts import WorkPart
from chorale.kits.mturk.market.stage import TASK
from chorale.kits.mturk.store.hits import promised
from chorale.kits.mturk.store.schema import assignment, metadata
from chorale.store.kit_tables import KitTables
from chorale.store.schema import participation, stage

# HITs are no items of the stage they stand beside, and answers to them no responses.
_DID_HITS = and_(
    participation.c.stage_id.in_(select(stage.c.id).where(stage.c.task == TASK)),
    participation.c.worker_id.in_(select(assignment.c.worker_id).where(assignment.c.submitted_at.is_not(None))),
)

WORK = WorkPart(KitTables(metadata), promised, (_DID_HITS,))
