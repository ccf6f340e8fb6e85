"""Cases and judgements of compaction-conformance-kit and compactbench, for `npm run test:compaction-kits`.

Usage: kits.py cases SEED           JSON: what is said, and what is asked for
       kits.py judge SEED < TEXTS   JSON: the share of each text that each type of item keeps

TEXTS is a list of {"case": name, "texts": {name: text}}. Neither kit calls a model here.
"""

import json
import pathlib
import sys

from compactbench.dsl import DifficultyLevel
from compactbench.dsl.parser import parse_template_file
from compactbench.engine.generation import generate_case
from compactbench.scoring.checks import run_check
from compaction_kit.canaries import seeded_canaries
from compaction_kit.corpus import build_random_session
from compaction_kit.generated import build_generated_session
from compaction_kit.probes import BehaviorProbe
from compaction_kit.session import build_seeded_session

TEMPLATE = pathlib.Path(__file__).parent / "template.yaml"
COMMAND, SEED = sys.argv[1], int(sys.argv[2])


def conformance(name, session, canaries):
    """Turns and items, each with its type, question and judge."""
    turns = [{"role": turn.role, "text": turn.text} for turn in session.turns]
    judge = lambda canary: lambda text: float(BehaviorProbe().probe(canary, text).survived)
    items = [(canary.type.value, canary.direct_question, judge(canary)) for canary in canaries]
    return f"conformance kit, {name}", turns, items


def bench(seed):
    case = generate_case(parse_template_file(TEMPLATE), seed, DifficultyLevel.ELITE)
    turns = [{"role": turn.role.value, "text": turn.content} for turn in case.transcript.turns]
    judge = lambda expected: lambda text: run_check(expected, text)
    items = [(item.item_type.value, item.prompt, judge(item.expected)) for item in case.evaluation_items]
    return "compactbench", turns, items


CASES = [
    conformance("seeded", build_seeded_session(), seeded_canaries()),
    conformance("random", *build_random_session(SEED)),
    conformance("generated", *build_generated_session(SEED)),
    bench(SEED),
]


def judged(items, text):
    types = dict.fromkeys(kind for kind, _, _ in items)
    return {kind: [judge(text) for other, _, judge in items if other == kind] for kind in types}


if COMMAND == "cases":
    print(json.dumps([{"name": name, "turns": turns, "questions": [asked for _, asked, _ in items]} for name, turns, items in CASES]))
else:
    items_of = {name: items for name, _, items in CASES}
    given = json.load(sys.stdin)
    print(json.dumps([{name: judged(items_of[each["case"]], text) for name, text in each["texts"].items()} for each in given]))
