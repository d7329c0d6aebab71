"""A team marks one test, and its own function is run on the 250 cases, in a pytest of their own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from conftest import ROOT

MODEL = """
import pytest
import concordance

KEY = concordance.load_workspace({root!r})


def my_model(**inputs):
    return KEY.compute("relocation", inputs)


@pytest.mark.answer_key("relocation", workspace={root!r}{options})
def test_relocation(inputs):
    {body}
"""


def run(folder: Path, body: str, options: str = "", *arguments: str) -> subprocess.CompletedProcess[str]:
    (folder / "test_mine.py").write_text(MODEL.format(root=str(ROOT), body=body, options=options))
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=120)


def test_a_right_function_passes_250_named_cases(tmp_path: Path) -> None:
    done = run(tmp_path, "return my_model(**inputs)")
    assert "250 passed" in done.stdout, done.stdout
    listed = run(tmp_path, "return my_model(**inputs)", "", "--collect-only")
    assert "test_mine.py::test_relocation[relocation-0249]" in listed.stdout


def test_a_wrong_answer_reads_as_a_diff_with_the_reason_for_the_case(tmp_path: Path) -> None:
    done = run(tmp_path, "answer = my_model(**inputs); answer['breakEvenMonths'] = 16; return answer")
    assert done.returncode == 1
    assert "relocation-0005 (edge): the answer is wrong" in done.stdout
    assert "value-mismatch" in done.stdout
    assert "Traceback" not in done.stdout
    assert "site-packages" not in done.stdout.replace(sys.prefix, "")


def test_only_the_outputs_that_are_asked_for_count(tmp_path: Path) -> None:
    body = "answer = my_model(**inputs); del answer['yearlyData']; return answer"
    assert run(tmp_path, body).returncode == 1
    done = run(tmp_path, body, ", outputs=['breakEvenMonths', 'netWealthGain']")
    assert "250 passed" in done.stdout


def test_numbers_of_other_libraries_are_numbers(tmp_path: Path) -> None:
    body = (
        "import numpy, decimal; answer = my_model(**inputs); "
        "answer['netWealthGain'] = numpy.float64(answer['netWealthGain']); "
        "answer['breakEvenMonths'] = numpy.int64(answer['breakEvenMonths']); "
        "answer['annualNetDelta'] = decimal.Decimal(repr(answer['annualNetDelta'])); return answer"
    )
    assert "250 passed" in run(tmp_path, body).stdout


def test_what_a_test_does_with_its_inputs_changes_nothing(tmp_path: Path) -> None:
    assert "250 passed" in run(tmp_path, "answer = my_model(**inputs); inputs.clear(); return answer").stdout


def test_a_function_that_answers_nothing_fails(tmp_path: Path) -> None:
    done = run(tmp_path, "pass")
    assert "250 failed" in done.stdout


def test_a_mark_that_cannot_be_used_is_said_at_once(tmp_path: Path) -> None:
    for options, says in [
        (", outputs=['happiness']", "relocation has no output happiness"),
        (", colour='red'", "does not take colour"),
    ]:
        done = run(tmp_path, "pass", options)
        assert done.returncode != 0
        assert says in done.stdout + done.stderr
    (tmp_path / "test_mine.py").write_text(
        "import pytest\n\n\n@pytest.mark.answer_key('nope')\ndef test_it(inputs):\n    pass\n"
    )
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert 'no model "nope"' in done.stdout + done.stderr


def test_it_does_nothing_unless_it_is_asked(tmp_path: Path) -> None:
    (tmp_path / "test_plain.py").write_text(
        "import sys\n\n\ndef test_plain():\n"
        "    assert 'numpy' not in sys.modules and 'concordance.grading' not in sys.modules\n"
    )
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-p", "no:hypothesis"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "1 passed" in done.stdout, done.stdout
