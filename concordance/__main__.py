"""`python -m concordance`: the command line."""

from concordance.cli import main

main(prog_name="concordance")
