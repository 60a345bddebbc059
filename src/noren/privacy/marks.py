"""Words that must be read together with an answer's value."""

NOT_PRIVATE = "NOT PRIVATE (seeded)"
NO_LEDGER = "charged to no ledger"
