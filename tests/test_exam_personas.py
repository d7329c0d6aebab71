"""The demo's figures come out of the referee, or the generator writes nothing."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import pytest
from conftest import MODELS, ROOT
from msgspec.structs import replace

from concordance.errors import UnusableInputError
from concordance.exam.golden import Golden, from_financebench, from_model
from concordance.exam.personas import (
    Figures,
    Persona,
    Script,
    authored,
    measure,
    quotation,
    require_figures,
    write_replies,
    write_transcripts,
)
from concordance.exam.referee import Item, Reply, judge
from concordance.exam.score import crossover, ranking
from concordance.workspace import Workspace

PLAYS = [(persona.name, place) for persona in authored().persona for place in range(authored().count)]


@pytest.fixture(scope="module")
def ours() -> Golden:
    return from_model(Workspace(ROOT), MODELS, "the seed of the demo", 30, numeric=True)


@pytest.fixture(scope="module")
def benchmark_set(shared_data: Path) -> Golden:
    return from_financebench((shared_data / "financebench" / "financebench_open_source.jsonl").read_bytes())


@pytest.fixture(params=["ours", "benchmark_set"])
def golden(request: pytest.FixtureRequest) -> Golden:
    """Our own thirty numeric questions, and the benchmark's."""
    found: Golden = request.getfixturevalue(request.param)
    return found


def played(script: Script, golden: Golden) -> Iterator[tuple[Item, str, Reply]]:
    for persona in script.persona:
        replies = write_replies(golden, persona, script)
        for item, play in zip(golden.items, persona.plays, strict=True):
            yield item, play, replies[item.id]


def with_play(script: Script, name: str, place: int, play: str) -> Script:
    def changed(persona: Persona) -> Persona:
        plays = [*persona.plays[:place], play, *persona.plays[place + 1 :]]
        return replace(persona, plays=tuple(plays)) if persona.name == name else persona

    return replace(script, persona=tuple(map(changed, script.persona)))


def test_the_fixed_figures_of_the_demo(golden: Golden) -> None:
    transcripts = write_transcripts(golden)
    found = {name: measure(golden, transcript.replies) for name, transcript in transcripts.items()}
    assert found["confident-guesser"] == Figures(30, 19, 11, 0, 0, 0)
    copilot = found["ungoverned-copilot"]
    assert (copilot.answered, copilot.rejected) == (28, 3)
    cautious = found["cite-or-abstain"]
    assert (cautious.answered, cautious.correct, cautious.wrong, cautious.abstained) == (11, 10, 1, 19)
    point = crossover(found["confident-guesser"].tally, cautious.tally)
    assert point is not None and (point.exact, point.whole) == (Fraction(14, 5), 3)


def test_the_order_turns_round_between_a_k_of_1_and_of_3(ours: Golden) -> None:
    tallies = {name: transcript.figures.tally for name, transcript in write_transcripts(ours).items()}
    assert ranking(tallies, 1) == ("confident-guesser", "ungoverned-copilot", "cite-or-abstain")
    assert ranking(tallies, 3) == ("cite-or-abstain", "ungoverned-copilot", "confident-guesser")


def test_every_transcript_says_that_it_is_scripted_and_answers_every_question(golden: Golden) -> None:
    transcripts = write_transcripts(golden)
    assert list(transcripts) == ["confident-guesser", "ungoverned-copilot", "cite-or-abstain"]
    for transcript in transcripts.values():
        assert transcript.scripted is True and transcript.title and transcript.about
        assert list(transcript.replies) == [item.id for item in golden.items]
    assert transcripts == write_transcripts(golden)


def test_each_play_comes_out_as_it_was_authored(golden: Golden) -> None:
    for item, play, reply in played(authored(), golden):
        verdict = judge(item, reply)
        what, _, cited = (*play.split(), "")[:3]
        assert verdict.outcome == {"right": "correct", "decline": "abstain"}.get(what, "wrong"), (item.id, play, reply)
        assert verdict.citation == {"": "none", "quote": "verified"}.get(cited, "rejected"), (item.id, play, reply)


def test_three_citations_are_invented_and_all_three_rejected(golden: Golden) -> None:
    replies = write_transcripts(golden)["ungoverned-copilot"].replies
    everything = " ".join(golden.documents.values())
    invented = [item for item in golden.items if replies[item.id].cite in authored().invented.values()]
    assert len(invented) == 3
    for item in invented:
        assert (replies[item.id].cite or "") not in everything
        assert judge(item, replies[item.id]).citation == "rejected"


def test_a_quotation_is_literal_but_for_white_space(golden: Golden) -> None:
    for item in golden.items:
        quote = quotation(item)
        assert 10 < len(quote) <= 200
        assert any(quote in " ".join(passage.text.split()) for passage in item.evidence)


def test_wrong_answers_are_slips_and_not_nonsense(golden: Golden) -> None:
    """Within a factor of twelve of the truth in its own digits, or the right digits under a wrong scale word."""
    for item, play, reply in played(authored(), golden):
        if play.split()[0] in ("right", "decline"):
            continue
        assert item.reference is not None
        verdict = judge(item, reply)
        assert verdict.parsed is not None and verdict.allowed is not None
        got, wanted = abs(float(verdict.parsed)), abs(item.reference.value)
        assert wanted == 0 or 1 / 12.5 <= got / wanted <= 12.5 or got / wanted > 900, (item.id, play, reply)


def test_the_replies_are_written_in_many_styles(golden: Golden) -> None:
    replies = [reply for _, _, reply in played(authored(), golden)]
    assert any(isinstance(reply.answer, float) for reply in replies) and any(reply.answer is None for reply in replies)
    texts = [reply.answer for reply in replies if isinstance(reply.answer, str)]
    for mark in ("**", "\\boxed", "Final answer:", "\n", "$", "decline", "don't know"):
        assert any(mark in text for text in texts), mark
    assert len(set(texts)) > 60


@pytest.mark.parametrize("seed", range(12))
def test_the_figures_hold_for_any_golden_set_of_ours(seed: int) -> None:
    golden = from_model(Workspace(ROOT), MODELS, f"seed {seed}", 30, numeric=True)
    assert len(write_transcripts(golden)) == 3


def test_the_figures_hold_for_a_teams_own_model() -> None:
    debts = Workspace(ROOT / "tests" / "workspaces" / "debts")
    assert len(write_transcripts(from_model(debts, ["debt-payoff"], "seed", 30, numeric=True))) == 3


# The generator refuses


@pytest.mark.parametrize(("name", "place"), PLAYS)
def test_change_one_authored_play_and_the_generator_refuses(ours: Golden, name: str, place: int) -> None:
    script = authored()
    what, style, *cited = next(persona for persona in script.persona if persona.name == name).plays[place].split()
    words = {"right": "digits", "decline": "right"}.get(what, "right")
    play = " ".join([words, "bare" if what == "decline" else style, *cited])
    with pytest.raises(UnusableInputError, match=rf"{name}: \d+ (answered|correct|wrong), and the demo is about \d+"):
        write_transcripts(ours, with_play(script, name, place, play))


@pytest.mark.parametrize(("name", "place"), PLAYS[::7])
def test_change_one_written_answer_and_the_figures_are_refused(golden: Golden, name: str, place: int) -> None:
    replies = {key: dict(transcript.replies) for key, transcript in write_transcripts(golden).items()}
    require_figures(golden, replies)
    item = golden.items[place]
    was = judge(item, replies[name][item.id]).outcome
    assert item.reference is not None
    better = Reply(answer=item.reference.value if was != "correct" else item.reference.value * 3 + 7)
    replies[name][item.id] = replace(better, cite=replies[name][item.id].cite)
    with pytest.raises(UnusableInputError, match=rf"{name}: \d+ \w+, and the demo is about \d+"):
        require_figures(golden, replies)


def test_rekey_one_question_and_the_written_answers_are_refused(golden: Golden) -> None:
    replies = {key: transcript.replies for key, transcript in write_transcripts(golden).items()}
    item = golden.items[0]
    assert item.reference is not None
    moved = replace(item, reference=replace(item.reference, value=item.reference.value * 2 + 5))
    rekeyed = Golden(golden.title, (moved, *golden.items[1:]), golden.documents, golden.given, "", "")
    with pytest.raises(UnusableInputError, match="confident-guesser: 18 correct, and the demo is about 19"):
        require_figures(rekeyed, replies)


def test_an_invented_citation_that_is_a_real_quote_is_refused(ours: Golden) -> None:
    script = with_play(authored(), "ungoverned-copilot", 4, "scale copilot quote")
    with pytest.raises(UnusableInputError, match="ungoverned-copilot: 13 verified, and the demo is about 12"):
        write_transcripts(ours, script)


def test_figures_that_do_not_cross_at_3_are_refused(ours: Golden) -> None:
    with pytest.raises(UnusableInputError, match="crossover of confident-guesser and cite-or-abstain: 14/5"):
        write_transcripts(ours, replace(authored(), crossover_exact="3"))


@pytest.mark.parametrize(
    "play", ["right", "right shouting", "guess bare", "right bare hearsay", "decline bare", "right bare quote 1", ""]
)
def test_a_play_that_says_nothing_known_is_named(ours: Golden, play: str) -> None:
    with pytest.raises(UnusableInputError, match=r"confident-guesser, play 3: no (play|citation) is called"):
        write_transcripts(ours, with_play(authored(), "confident-guesser", 2, play))


def test_the_personas_sit_thirty_numeric_questions_only(ours: Golden) -> None:
    mixed = from_model(Workspace(ROOT), MODELS, "mixed", 30)
    with pytest.raises(UnusableInputError, match="has no number for an answer"):
        write_transcripts(mixed)
    fewer = Golden("few", ours.items[:29], ours.documents, ours.given, "", "")
    with pytest.raises(UnusableInputError, match="for 30 questions, not 29"):
        write_transcripts(fewer)
