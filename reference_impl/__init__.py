"""Reference implementations of the published models: what each spec defines, with a proof of the last digit."""
