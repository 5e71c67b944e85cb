"""Times the parsing, completion and suggestion of questions, in Python and in Chromium.

    PYTHONPATH=tests python -m bench.questions

Questions are sampled from the grammar and cut off at random positions. Each call has a sentence and two earlier
questions. Each call is made three times without caches, and the shortest time counts, because other work on the machine
can only make it longer. The output is the median, the 99th percentile and the longest time.
"""

import argparse
import json
import os
import platform
import random
import time
from collections.abc import Callable
from functools import partial

from browsing import open_chromium
from chorale.kits.qasrl.grammar import (
    BROWSER_MODULES,
    Context,
    complete,
    completing,
    machine,
    parse,
    render,
    suggest,
)
from chorale.text.inflections import VerbForms, inflect
from chorale.web.pages import STATIC

STEMS = ("cut", "give", "undergo", "sell", "put", "take", "paint", "do", "have", "carry")
SENTENCE = (
    "Nobody",
    "had",
    "sold",
    "her",
    "a",
    "ticket",
    "for",
    "the",
    "boat",
    "to",
    "the",
    "island",
    "at",
    "noon",
    ".",
)
PLACE = 2
LIMIT_MS = 5
TIMES = 3

IN_BROWSER = """async (cases) => {
  const { Grammar } = await import("/question_grammar.js");
  const times = { parse: [], complete: [], suggest: [] };
  const once = (work) => { const from = performance.now(); work(); return performance.now() - from; };
  const noted = (name, work) => times[name].push(Math.min(once(work), once(work), once(work)));
  for (const [forms, tokens, place, earlier, prefix] of JSON.parse(cases)) {
    const grammar = new Grammar(forms, tokens, place);
    noted("parse", () => grammar.parse(prefix));
    noted("complete", () => grammar.complete(prefix, earlier));
    noted("suggest", () => grammar.suggest(earlier));
  }
  return times;
}"""
Case = tuple[VerbForms, tuple[str, ...], str]


def question(forms: VerbForms, rng: random.Random) -> str:
    built = machine(forms)
    paths = built.start()
    while True:
        pieces = built.following(paths)
        if not pieces or (built.ended(paths) and rng.random() < 0.3):
            return render(built.ended(paths)[0], forms)
        for word in rng.choice(pieces).text.split():
            paths = built.step(paths, word)


def drawn(count: int, seed: int) -> list[Case]:
    rng = random.Random(seed)
    cases: list[Case] = []
    for _ in range(count):
        forms = inflect(rng.choice(STEMS))
        text = question(forms, rng)
        cases.append((forms, (question(forms, rng), question(forms, rng)), text[: rng.randrange(len(text) + 1)]))
    return cases


def in_python(cases: list[Case]) -> dict[str, list[float]]:
    times: dict[str, list[float]] = {"parse": [], "complete": [], "suggest": []}

    def noted(name: str, work: Callable[[], object]) -> None:
        shortest = float("inf")
        for _ in range(TIMES):
            completing._suggested.cache_clear()
            completing._likely.cache_clear()
            start = time.perf_counter()
            work()
            shortest = min(shortest, time.perf_counter() - start)
        times[name].append(shortest * 1000)

    for forms, earlier, prefix in cases:
        context = Context(SENTENCE, PLACE, earlier)
        noted("parse", partial(parse, prefix, forms))
        noted("complete", partial(complete, prefix, forms, context))
        noted("suggest", partial(suggest, forms, context))
    return times


def in_chromium(cases: list[Case]) -> dict[str, list[float]]:
    modules = {path.name: path.read_text("utf-8") for path in (*BROWSER_MODULES, STATIC / "say.js")}
    sent = json.dumps([[forms.as_bank(), SENTENCE, PLACE, earlier, prefix] for forms, earlier, prefix in cases])
    with open_chromium() as browser:
        page = browser.new_page()
        page.route(
            "http://grammar.test/**",
            lambda route: route.fulfill(
                content_type="text/javascript" if route.request.url.endswith(".js") else "text/html",
                body=modules.get(route.request.url.rpartition("/")[2], "<!doctype html>"),
            ),
        )
        page.goto("http://grammar.test/")
        times: dict[str, list[float]] = page.evaluate(IN_BROWSER, sent)
    return times


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=3000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    print(f"{platform.processor() or platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}\n")
    cases = drawn(options.calls, options.seed)
    print("| where | call | calls | p50 ms | p99 ms | longest ms | limit ms |")
    print("| --- | --- | ---: | ---: | ---: | ---: | ---: |")
    for where, measure in (("Python", in_python), ("Chromium", in_chromium)):
        for call, times in measure(cases).items():
            ordered = sorted(times)
            middle, late = ordered[len(ordered) // 2], ordered[len(ordered) * 99 // 100]
            print(f"| {where} | {call} | {len(times):,} | {middle:.2f} | {late:.2f} | {ordered[-1]:.1f} | {LIMIT_MS} |")


if __name__ == "__main__":
    main()
