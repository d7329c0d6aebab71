"""The report is one page that stands alone, leaves nothing out, and can be read by everyone."""

from __future__ import annotations

import itertools
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser
from pathlib import Path

import pytest
from conftest import MODELS, ROOT
from miniatures import ENGINE, REFERENCE, SPEC, WRONG, write_workspace

from concordance.cases import generate
from concordance.check import ModelCheck, check_model
from concordance.columns import MISSING
from concordance.numbers import json_text
from concordance.report import harmless, render_report
from concordance.workspace import Workspace

MADE = "30 November 2025"
VOID = {"meta", "link", "br", "rect", "line", "path"}


class Page(HTMLParser):
    """What a page holds, as assistive technology would meet it. Unbalanced tags are an error."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str]]] = []
        self.words: dict[str, list[str]] = {}
        self._open: list[str] = []
        self.feed(text)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, {name: value or "" for name, value in attrs}))
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        for tag in self._open[-1:]:
            self.words.setdefault(tag, []).append(data.strip())

    def attributes(self, *tags: str) -> list[dict[str, str]]:
        return [attributes for tag, attributes in self.tags if tag in tags]


def report(
    workspace: Workspace, others: Mapping[str, str] | None = None, made: str = MADE
) -> tuple[str, list[ModelCheck]]:
    specs = {model: workspace.spec(model) for model in workspace.models}
    cases = {model: generate(spec) for model, spec in specs.items()}
    checks = [
        result for spec in specs.values() for result in check_model(workspace, spec, cases[spec.model], others=others)
    ]
    return render_report(workspace, checks, specs, cases, made), checks


def parking(
    root: Path, engine: str = ENGINE, reference: str = REFERENCE, spec: str = SPEC
) -> tuple[str, list[ModelCheck]]:
    return report(Workspace(write_workspace(root, engine, reference, spec)))


def plain(page: str) -> str:
    """The text of a page, as a reader sees it."""
    body = re.sub(r"<style>.*?</style>", "", page, flags=re.S)
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", " ", body)))


def squeezed(text: str) -> str:
    return re.sub(r"\s", "", text)


@pytest.fixture(scope="module")
def agreeing() -> str:
    """The report on this repository."""
    return report(Workspace(ROOT))[0]


@pytest.fixture(scope="module")
def disagreeing(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A report with failed and errored cases, and a finding's simplest inputs."""
    engine = WRONG["crashes on one case"].replace("np.where(member, 1, 2)", "np.where(member, 1, 3)")
    return parking(tmp_path_factory.mktemp("disagreeing"), engine)[0]


@pytest.fixture(params=["agreeing", "disagreeing"])
def page(request: pytest.FixtureRequest) -> str:
    """Either report."""
    text: str = request.getfixturevalue(request.param)
    return text


def test_agreement_is_said_first_with_its_numbers(agreeing: str) -> None:
    said = plain(agreeing)
    assert "Agree Both implementations agree on all 750 cases" in said
    assert "cases compared 750 agreed 750 failed 0 errored 0" in said
    assert "printed values confirmed 30 printed values refuted 0" in said
    assert "None. On every case, every output of the implementations agrees." in said


def test_every_model_is_named_with_its_version_and_both_digests(agreeing: str) -> None:
    workspace = Workspace(ROOT)
    manifest = (ROOT / "vectors" / "manifest.json").read_text()
    for model in MODELS:
        spec = workspace.spec(model)
        listed = re.search(rf'"{model}/{spec.version}.jsonl": {{\s*"sha256": "(\w+)"', manifest)
        assert listed
        for digest in (spec.digest, listed[1]):
            assert f"<code>{digest}</code>" in agreeing
            assert f"<code>{digest[:12]}…</code>" in agreeing
        assert f"{spec.title} {model} {spec.version} agrees 250 of 250 0 0" in plain(agreeing)


def test_the_caller_gives_the_date(agreeing: str) -> None:
    assert f"Report of a check, {MADE}" in plain(agreeing)


def test_it_says_what_agreement_does_not_mean(agreeing: str) -> None:
    assert "It does not show that the spec is right about the world" in plain(agreeing)
    assert "Not financial advice." in plain(agreeing)


def test_disagreement_is_said_first_with_its_numbers(tmp_path: Path) -> None:
    page, checks = parking(tmp_path, WRONG["crashes on one case"])
    errored = checks[0].errored
    assert "Blocked BLOCKED: parking" in plain(page)
    assert f"agreed {250 - errored} failed 0 errored {errored}" in plain(page)


@pytest.mark.parametrize("name", WRONG)
def test_every_finding_is_shown_with_all_that_it_holds(tmp_path: Path, name: str) -> None:
    page, (check,) = parking(tmp_path, WRONG[name])
    said = squeezed(plain(page))
    assert len(check.findings) == page.count('<article class="finding"')
    for finding in check.findings:
        wanted = [finding.case.id, finding.case.rationale, finding.outcome, finding.replay, *finding.errors]
        for difference in finding.differences:
            values = [v for v in (difference.expected, difference.got) if v is not MISSING]
            wanted += [difference.path, difference.note, *map(json_text, values)]
        wanted += map(json_text, finding.case.inputs.values())
        if finding.simplest:
            wanted += [finding.simplest.replay]
        for text in wanted:
            assert squeezed(text) in said, text


def test_expected_and_got_stand_side_by_side_with_the_inputs(disagreeing: str) -> None:
    said = plain(disagreeing)
    assert "Differences of parking-0002 path expected got note cost 0.1 0.15 value-mismatch off by 0.05" in said
    assert (
        "Inputs of parking-0002 input value unit hours 1 hours rate 0.1 USD an hour budget 1 USD member false" in said
    )


def test_the_clause_that_decides_is_quoted_with_its_place(disagreeing: str) -> None:
    said = plain(disagreeing)
    assert "PK-1 Cost. cost = hours · rate , and half of that for a member." in said
    assert re.search(r"The clause that decides: specs/parking/1\.0\.0\.md, line \d+", said)


def test_a_sentinel_is_shown_with_its_meaning(tmp_path: Path) -> None:
    page, _ = parking(tmp_path, WRONG["Infinity as 1e308"])
    assert 'visits "Infinity" A visit costs nothing. 1e+308 value-mismatch' in plain(page)


def test_what_is_not_there_is_said_to_be_nothing(tmp_path: Path) -> None:
    assert 'advice "park" (nothing) missing' in plain(parking(tmp_path, WRONG["drops a key"])[0])


def test_a_refuted_printed_value_is_shown_with_its_source(tmp_path: Path) -> None:
    page, _ = parking(tmp_path, spec=SPEC.replace('cost = "0.00"', 'cost = "0.01"'))
    said = plain(page)
    assert "printed values confirmed 0 printed values refuted 1" in said
    assert "printed by the sign at the gate" in said
    assert "path printed computed note cost 0.01 0 value-mismatch" in said


def test_what_cannot_run_is_said_and_is_no_agreement(tmp_path: Path) -> None:
    page, _ = parking(tmp_path, "def compute(:\n")
    said = plain(page)
    assert "BLOCKED: parking" in said
    assert "0 findings, and 1 that cannot run" in said
    assert "Cannot run; no case was computed. engine/parking.py:1: SyntaxError" in said


def test_nothing_checked_is_no_agreement(tmp_path: Path) -> None:
    page = render_report(Workspace(write_workspace(tmp_path)), [], {}, {}, MADE)
    assert "Blocked Nothing was checked" in plain(page)
    Page(page)


def test_other_implementations_are_told_apart(tmp_path: Path) -> None:
    root = write_workspace(tmp_path)
    shutil.copy(root / "reference_impl" / "parking.py", root / "outside.py")
    (root / "run.py").write_text(
        "import json, sys\nimport outside\n"
        "for line in sys.stdin:\n"
        "    answer = outside.compute(json.loads(line))\n"
        "    print(json.dumps({'outputs': answer | {'cost': answer['cost'] + 1}}), flush=True)\n"
    )
    page, (engine, outside) = report(Workspace(root), {"outside": f"{sys.executable} {root / 'run.py'}"})
    assert engine.ok
    assert not outside.ok
    said = plain(page)
    assert "Parking parking 1.0.0 engine agrees 250 of 250 0 0" in said
    assert "Parking parking 1.0.0 outside blocked 0 of 250 250 0" in said
    assert "outside against the reference" in said
    assert "failed (outside)" in said


def test_cases_are_counted_by_kind_and_by_state(agreeing: str) -> None:
    said = plain(agreeing)
    assert "model corner edge random all emergency-fund 2 40 208 250 refinance 2 40 208 250" in said
    assert re.search(r"runwayMonths Infinity The savings last [^0-9]*1,200 months or more[^0-9]* 15 6 ", said)
    assert "recommendation refinance 147 131 recommendation keep 61 48" in said


def test_every_edge_is_listed_with_its_reason_and_what_it_is_aimed_at(agreeing: str) -> None:
    said = squeezed(plain(agreeing))
    for model in MODELS:
        spec = Workspace(ROOT).spec(model)
        for edge in spec.edges:
            assert (squeezed(f"{edge.rationale}{edge.source}") in said) == (not edge.withdrawn)
        for name, flag in spec.flags.items():
            assert squeezed(f"{name}{flag.mistake}{flag.effect}") in said


def test_an_edge_that_fails_leads_to_its_finding(disagreeing: str) -> None:
    number = re.search(r'href="#finding-(\d+)">failed</a>', disagreeing)
    assert number
    assert f'<h4 id="finding-{number[1]}-id">parking-0002</h4>' in disagreeing


def test_vectors_that_are_not_as_published_are_remarked_on(workspace_copy: Path) -> None:
    current = {model: Workspace(workspace_copy).versions(model)[-1] for model in MODELS}
    with (workspace_copy / f"vectors/refinance/{current['refinance']}.jsonl").open("ab") as file:
        file.write(b" ")
    (workspace_copy / f"vectors/relocation/{current['relocation']}.jsonl").unlink()
    with (workspace_copy / f"specs/emergency-fund/{current['emergency-fund']}.md").open("a") as file:
        file.write("\nA note.\n")
    said = plain(report(Workspace(workspace_copy))[0])
    assert "the file is another than the manifest names" in said
    assert "the file is missing" in said
    assert "made from another text of the spec" in said


def test_unpublished_models_are_reported_all_the_same(tmp_path: Path) -> None:
    page, _ = parking(tmp_path)
    assert "Both implementations agree on all 250 cases" in plain(page)
    assert "not published" in plain(page)


def test_the_chart_says_in_words_what_it_shows(agreeing: str, disagreeing: str) -> None:
    said = " ".join(Page(agreeing).words["desc"])
    assert re.search(r"netWealthGain 0\.\d+ %; yearlyData 0\.\d+ %", said)
    assert re.search(
        r"cost [^;]* times, cases that differ: \d+; visits must match exactly, cases that differ: \d+",
        " ".join(Page(disagreeing).words["desc"]),
    )


def test_a_bar_never_leaves_the_chart(tmp_path: Path) -> None:
    page, _ = parking(tmp_path, ENGINE.replace("cost = halfcents / 200", "cost = halfcents * 1e300"))
    widths = [float(bar["width"].rstrip("%")) for bar in Page(page).attributes("rect") if "bar" in bar["class"]]
    assert widths
    assert all(0 < width <= 100 for width in widths)


def test_differences_that_are_left_out_are_not_counted_as_agreement(tmp_path: Path) -> None:
    first, hourly = SPEC.index("[[output]]"), SPEC.index('[[output]]\nname = "hourly"')
    end = SPEC.index("```", hourly)
    table_first = SPEC[:first] + SPEC[hourly:end] + SPEC[first:hourly] + SPEC[end:]
    page, (check,) = parking(tmp_path, WRONG["wrong sign"], spec=table_first)
    longest = max(check.findings, key=lambda finding: finding.left_out)
    assert f"And {longest.left_out} more differences in this case." in plain(page)
    said = " ".join(Page(page).words["desc"])
    assert re.search(r"hourly [^;]*, cases that differ: \d+; cost [^;]*, cases that differ: \d+ or more$", said)


def test_the_page_stands_alone(page: str) -> None:
    found = Page(page)
    assert {tag for tag, _ in found.tags}.isdisjoint({"script", "iframe", "img", "object", "embed", "form", "base"})
    for _, attributes in found.tags:
        assert "src" not in attributes
        assert attributes.get("href", "#").startswith(("#", "data:,"))
        assert not [name for name in attributes if name.startswith("on")]
    assert not re.search(r"url\(|@import|@font-face|https?:", page[page.index("<style>") : page.index("</style>")])


HOSTILE = "</td></code><script>alert('1')</script><img src=x onerror=alert(2)> \"quoted\" & {{ 7 * 7 }}"


def test_hostile_text_is_shown_and_does_nothing(tmp_path: Path) -> None:
    quoted = HOSTILE.replace('"', '\\"')
    spec = SPEC
    for harmless_text in ("Ten visits of 0.1 spend the budget of 1 to the cent.", "the sign at the gate", "Parking"):
        spec = spec.replace(f'"{harmless_text}"', f'"{quoted}"')
    for harmless_text in ("Dividing in floats.", "USD an hour", "A visit costs nothing."):
        spec = spec.replace(f'"{harmless_text}"', f'"{quoted}"')
    spec = spec.replace(
        "and half of that for a member.", f"{HOSTILE} ![x](https://x.test/x.png) [y](javascript:alert(3))"
    )
    engine = ENGINE.replace('"park", "walk")', f'{HOSTILE!r}, "walk")').replace(
        "    rows = hours + 1",
        f"    if (hours == 24).any():\n        raise ValueError({HOSTILE!r})\n    rows = hours + 1",
    )
    workspace = Workspace(write_workspace(tmp_path, engine.replace("(member, 1, 2)", "(member, 1, 3)"), spec=spec))
    page, checks = report(workspace, made=HOSTILE)
    assert checks[0].failed and checks[0].errored
    test_the_page_stands_alone(page)
    test_its_structure_is_sound(page)
    assert plain(page).count(HOSTILE) > 10


def test_a_long_text_is_shown_in_full_in_a_box_of_its_own(tmp_path: Path) -> None:
    page, _ = parking(tmp_path, ENGINE.replace('"park", "walk")', '"y" * 10_000, "walk")'))
    assert "y" * 10_000 in page
    assert '<div class="long" tabindex="0" role="group" aria-label="got advice, 10,002 characters">' in page


def test_characters_that_hide_or_turn_text_are_shown_as_escapes(tmp_path: Path) -> None:
    page, _ = parking(tmp_path, ENGINE.replace('"park", "walk")', '"a\\u202eb\\x9bc\\ud800d", "walk")'))
    assert "a\\u202eb\\x9bc\\ud800d" in page
    page.encode("utf-8")
    assert harmless("a\x1b[31m\r\n\tb") == "a\\x1b[31m\\x0d\n\tb"


def test_answers_that_json_cannot_carry_are_shown(tmp_path: Path) -> None:
    odd = ENGINE.replace(
        '"cost": cost,', '"cost": np.array([[{1: float("nan")}, {2}]] * len(cost) + [0], object)[:-1],'
    )
    page, _ = parking(tmp_path, odd)
    assert "[{1: nan}, {2}]" in plain(page)


def test_the_same_input_gives_the_same_bytes(tmp_path: Path) -> None:
    root = write_workspace(tmp_path, WRONG["wrong sign"])
    script = (
        "import sys, pathlib, test_report as t; sys.stdout.write(t.report(t.Workspace(pathlib.Path(sys.argv[1])))[0])"
    )
    pages = [
        subprocess.run(
            [sys.executable, "-c", script, str(root)],
            env=os.environ | {"PYTHONHASHSEED": seed, "PYTHONUTF8": "1"},
            cwd=ROOT / "tests",
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    ]
    assert pages[0] == pages[1]
    assert pages[0].startswith(b"<!doctype html>")


def test_its_structure_is_sound(page: str) -> None:
    found = Page(page)
    levels = [int(tag[1]) for tag, _ in found.tags if re.fullmatch(r"h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))
    tags = [tag for tag, _ in found.tags]
    assert tags.count("table") == tags.count("caption") == tags.count("thead") > 0
    assert {"header", "nav", "main", "footer"} <= set(tags)
    assert all(attributes.get("scope") in ("row", "col") for attributes in found.attributes("th"))
    assert ("html", {"lang": "en"}) in found.tags


def test_every_picture_has_a_text_alternative(page: str) -> None:
    found = Page(page)
    for svg in found.attributes("svg"):
        assert svg.get("aria-hidden") == "true" or (svg["role"] == "img" and len(svg["aria-labelledby"].split()) == 2)
    assert all(found.words["title"]) and all(found.words["desc"])


def test_every_reference_inside_the_page_leads_somewhere(page: str) -> None:
    found = Page(page)
    named = [attributes["id"] for _, attributes in found.tags if "id" in attributes]
    assert len(named) == len(set(named))
    links = [attributes["href"] for attributes in found.attributes("a")]
    labels = " ".join(attributes.get("aria-labelledby", "") for _, attributes in found.tags).split()
    assert {*labels, *(link.removeprefix("#") for link in links)} <= set(named)
    assert links[0] == "#main"


def test_wide_tables_scroll_in_a_box_that_the_keyboard_reaches(page: str) -> None:
    found = Page(page)
    boxes = [attributes for attributes in found.attributes("div") if attributes.get("class") == "scroll"]
    assert len(boxes) == len(found.attributes("table"))
    assert all(box["tabindex"] == "0" and box["role"] and box["aria-label"] for box in boxes)


def colours(css: str) -> dict[str, str]:
    return dict(re.findall(r"--([a-z-]+): (#[0-9a-f]{6})", css))


def luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(one: str, other: str) -> float:
    low, high = sorted([luminance(one), luminance(other)])
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_has_the_contrast_that_wcag_aa_asks_for(agreeing: str, scheme: str) -> None:
    light, dark = re.findall(r":root \{(.*?)\}", agreeing, re.S)
    palette = colours(light) | (colours(dark) if scheme == "dark" else {})
    for ink in ("ink", "quiet", "accent", "good", "bad"):
        for ground in ("paper", "panel"):
            assert contrast(palette[ink], palette[ground]) >= 4.5, (ink, ground)
    assert contrast(palette["good"], palette["good-panel"]) >= 4.5
    assert contrast(palette["bad"], palette["bad-panel"]) >= 4.5
    for bar in ("bar", "bad"):
        assert contrast(palette[bar], palette["panel"]) >= 3


def test_it_suits_paper_and_dark_screens(agreeing: str) -> None:
    assert "@media print" in agreeing
    assert "@media screen and (prefers-color-scheme: dark)" in agreeing
    assert ":focus-visible" in agreeing


def test_findings_of_a_case_that_is_no_longer_in_the_spec_are_still_shown(tmp_path: Path) -> None:
    workspace = Workspace(write_workspace(tmp_path, WRONG["wrong sign"]))
    spec = workspace.spec("parking")
    (check,) = check_model(workspace, spec)
    check.findings[:] = [replace(check.findings[0], clause="PK-99 Gone")]
    page = render_report(workspace, [check], {"parking": spec}, {}, MADE)
    assert check.findings[0].case.id in page
