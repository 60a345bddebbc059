"""A searcher in a process of its own: `python session_searcher.py LEDGER NUMBER`."""

import json
import sys
from itertools import combinations

import numpy as np

from noren.errors import BudgetRefused
from noren.ledger import Ledger
from noren.similarity import Records, Session

public = np.random.default_rng(11)
RECORDS = Records.of(public.integers(0, 2, (40, 12)), ids=[f"r{number}" for number in range(40)])
ALL = list(combinations(range(12), 4))
QUERIES = [ALL[place] for place in public.choice(len(ALL), 24, replace=False)]


def searched(place, number):
    """Ask all queries, each searcher in an order of its own; give what was answered."""
    got = {}
    with Ledger.open(place) as ledger:
        session = Session(RECORDS, ledger, "clinic")
        for step in range(len(QUERIES)):
            place_of = (step * 7 + number * 3) % len(QUERIES)
            try:
                found = session.search(QUERIES[place_of], epsilon="0.3", k=5)
            except BudgetRefused:
                continue
            got[place_of] = [[hit.id, hit.score, hit.rank] for hit in found.hits]
    return got


if __name__ == "__main__":
    print("ready", flush=True)
    sys.stdin.readline()
    print(json.dumps(searched(sys.argv[1], int(sys.argv[2]))))
