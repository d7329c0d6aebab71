"""Speed as ratios, measured in one run: `python -m benchmarks` prints the table that the README shows."""
