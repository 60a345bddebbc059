"""Our speed beside that of named peers, and beside what the machine can do at all.

Each module here prints one table or a few: `python -m benchmarks.NAME`. `make bench` runs them
all, after it has made an environment under `.peers` for each peer that cannot share ours
(`benchmarks/peers/*.txt`). Ratios are taken between things that ran in turns in the same run, so
that a busy machine slows both; the losses stay in the table.
"""
