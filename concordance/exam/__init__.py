"""The acceptance exam for financial copilots: golden sets, a deterministic referee, a governed score, a ledger."""
