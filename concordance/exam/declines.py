"""Honest declines: whether a reply says that it has no answer, and gives none.

The published rule, over the reply's sentences:

1. A sentence is a *refusal* when it says that the writer cannot tell (`INABILITY`), or that the source lacks what is
   needed (`LACKS`): a negated verb of ability or of telling, not a list of phrases. A sentence *commits* when it states
   something all the same: a figure as the conclusion, as a guess, alone, or after "but", "so" and the like; the result
   of a calculation; an outright yes or no.
2. A reply without a refusal is no decline, nor is one that opens with yes or no, or commits after its last refusal.
3. A reply that opens by saying that it cannot is a decline, but where it goes on to infer or to work out an answer.
   One that opens with what the source lacks, or with a method, is a decline when no conclusion comes after its last
   refusal, and it does not say instead that what was asked for makes no sense here. One that opens with anything else
   is a decline when it ends in refusals, and they are half of it.

Figures in a refusal (years, what else would be needed, partial data) do not make it an answer. It judges no answer,
sees no question and looks at no reference.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final, Literal, NamedTuple, TypeAlias

from concordance.exam.figures import operand, plain, read_plain

_SOURCE: Final = (
    r"(?:information|context|text|documents?|documentation|filings?|evidence|excerpts?|passages?|data|dataset|statements?|reports?"
    r"|sections?|sources?|tables?|notes?|sheets?|extracts?|pages?|materials?|snippets?|contents?|details?|figures?|10-?k|10-?q|8-?k"
    r"|forms?|disclosures?|files?|releases?|search|prompt|transcripts?|attachments?)"
)
_FACTS: Final = (
    r"(?:information|data|mention|evidence|details?|figures?|access|basis|reference|line\sitems?|context|record|way|numbers?|values?"
    r"|disclosure|breakdown|indication|answer|amounts?)"
)
_NOT: Final = r"(?:\s?not|n't)"
_ADVERBS: Final = r"(?:\w+ly\s|also\s|yet\s|itself\s|always\s|(?:seem|appear)\sto\s|have\sthe\s|been\s|be\s|a\s|any\s)*"
_GIVE: Final = (
    r"(?!(?:mean|impl|suggest|change|affect|indicate|require|have|own|use|pay|sell|hold\s(?:any|a)|need)[a-z]*\b)"
    r"[a-z]{2,}"
)
"""Whatever a source can fail to do, but for what says something of the matter itself."""
_TELL: Final = (
    r"(?:provide|include|contain|specify|mention|disclose|state|give|list|say|tell|detail|show|present|break|confirm"
    r"|establish)\b"
)
_GIVEN: Final = (
    r"(?:(?:provid|includ|contain|specif|mention|disclos|stat|list|report|offer|outlin|detail|present|identif|indicat|describ|address"
    r"|discuss|itemi[sz]|publish|suppli|display|quantif|segregat|enumerat|captur|cover|referenc|stipulat|defin)(?:ed|ied)"
    r"|given|shown|present|available|found|sufficient|enough|accessible|visible|known|broken|determinable|clear|set\sout)"
)
_FIND_OUT: Final = (
    r"(?:determin|calculat|comput|provid|answer|find|found|verif|locat|confirm|conclu|giv|access|assess|identif|tell|told|brows"
    r"|deriv|retriev|stat|ascertain|establish|estimat|say|said|infer|quantif|extract|specif|analy[sz]|judg|know|see|deduc|pinpoint"
    r"|evaluat|compar|reach|draw|discern|gaug|read|made|mak|work|fulfil|complet|offer|help|respond|perform|generat|report|look)\w*"
)
_CANNOT: Final = r"(?:can\s?not|can't|could\snot|couldn't)"
_WELL: Final = r"(?:\w+ly\s){0,2}(?:be\s)?(?:\w+ly\s){0,2}"

INABILITY: Final = (
    r"\b(?:i|one|you)\s(?:\w+ly\s)?" + _CANNOT + r"\s(?!rule\sout)\w+",
    r"\b" + _CANNOT + r"\s" + _WELL + _FIND_OUT,
    r"(?:\bnot|n't|\bun|\bin)\s?(?:be\s)?(?:able|ability|in\sa\sposition)\s(?:\w+\s)?to\s" + _WELL + _FIND_OUT,
    r"(?:(?:\bnot|n't)\s(?:be\s)?(?:possible|feasible)|\bimpossible)\s(?:for\s\w+\s)?to\s",
    r"\b(?:difficult|hard|challenging)\s(?:for\s\w+\s)?to\s" + _WELL + _FIND_OUT,
    r"\bno\s(?:\w+\s){1,6}?(?:is|are)\spossible\b",
    r"\b(?:i|we|this\smodel)\s(?:\w+ly\s)?(?:do|did)" + _NOT + r"\s(?:\w+ly\s)*(?:have|know|recall|possess)\b",
    r"\b(?:do|does|did)"
    + _NOT
    + r"\s(?:\w+ly\s)*(?:have|see|find|possess)\s(?:enough|sufficient|adequate|access|real-time|the\sability"
    r"|(?:(?:the|this|that|a|any)\s)?(?:\w+\s){0,2}?(?:information|data|access|details|figures?))\b",
    r"\b(?:insufficient|inadequate|not\senough)\s(?:information|data|details?|evidence|context)\b",
    r"\b(?:sorry|apologi[sz]e|apologies|as\san\sai|unfortunately)\b(?=,?\s(?:but|however)\b|[^.;]*(?:n't|\b(?:no|not|cannot|unable|without|only|lacks?)\b))",
    r"\b(?:not|beyond|outside)\s(?:within\s)?my\s(?:\w+\s)?(?:capabilit|abilit|scope|knowledge|reach)|(?:\bnot|n't)\ssomething\s(?:i|we)\scan\b",
    r"\bno\s(?:idea|clue)\b|(?:\bnot|n't)\s(?:\w+ly\s)?(?:sure|certain)\b|\b(?:rather|prefer)\s(?:not|to\snot)\s(?:to\s)?\w+",
    r"\b(?:i|we)\s(?:must\s|will\s|have\sto\s)?(?:decline|refuse|abstain|pass)\b",
    r"\bmy\s(?:knowledge|training)\b[^.;]{0,80}\b(?:cut-?off|up\sto|as\sof|until|only|ends?|does)\b|\bknowledge\scut-?off\b",
    r"\b(?:is|are|remains?|was|were)\s(?:currently\s|simply\s)?(?:unknown|undetermined|indeterminate|unanswerable|unclear)\b",
)
"""The writer says that the question cannot be answered."""

LACKS: Final = (
    r"\b" + _SOURCE + r"\b[^.;:,]{0,110}?\b(?:do|does|did)" + _NOT + r"\s" + _ADVERBS + _GIVE,
    r"\b(?:it|they|but)\s(?:also\s)?(?:do|does|did)" + _NOT + r"\s" + _ADVERBS + _TELL,
    r"\b(?:do|does|did)" + _NOT + r"\s" + _ADVERBS + _TELL + r"\s(?:how|what|which|whether|when|where|who)\b",
    r"\b(?:is|are|was|were|has\sbeen|have\sbeen|had\sbeen|be)" + _NOT + r"\s" + _ADVERBS + _GIVEN + r"\b",
    r"\bha(?:s|ve|d)" + _NOT + r"\sbeen\s" + _ADVERBS + _GIVEN + r"\b",
    r"\b(?:do|does|did|has|have|had)"
    + _NOT
    + r"\s(?:explicitly|directly|specifically|clearly|expressly|separately)\s"
    + _GIVE,
    r"^\W*no\s(?:[a-z-]+\s){0,3}?" + _FACTS + r"\b|\b" + _FACTS + r"\snot\s" + _ADVERBS + _GIVEN + r"\b",
    r"\bneither\b(?=[^.;]{0,200}\bnor\b)[^.;]{0,200}\b" + _GIVEN + r"\b",
    r"\b(?:there\s(?:is|are|was|were)|contains?|provides?|gives?|with|find|found|see|includes?|offers?|have|has)\s(?:no|not\sany)"
    r"\s(?:[a-z-]+\s){0,3}?" + _FACTS + r"\b",
    r"\b(?:i|we|you|one|it)\s?(?:would|'d|will|'ll)\s(?:still\s|also\s|first\s)?(?:need|require)\b",
    r"\b(?:would\sbe|is|are)\s(?:needed|required|necessary)\sto\s",
    r"\bif\s(?:you|we|i)\s(?:can\s|could\s|would\s|were\s(?:able\s)?to\s|had\s|have\s)?(?:provide|share|supply|give|upload|access|the\b|that\b)",
    r"\b(?:is|are|remains?|was|were)\s(?:currently\s|simply\s)?(?:unavailable|undisclosed|missing|absent)\b",
    r"(?:\bnot|n't)\s(?:a\spart\sof|part\sof|in|within|among)\s(?:the|this|that|these|those|my)\s(?:\w+\s){0,2}?"
    + _SOURCE
    + r"\b",
    r"\b(?:nothing|nowhere|none\sof)\s(?:\w+\s){0,4}?(?:it|them|" + _SOURCE + r")\b|\bsilent\s(?:on|about|as\sto)\b",
    r"\b(?:lacks?|omits?|fails?\sto\s" + _GIVE + r")\b",
    r"\bwithout\s(?!regard)[^.;]{0,200}?\b(?:cannot|can't|unable|not\spossible|impossible|difficult)\b",
    r"\b(?:recommend|suggest|advise|best\sto|please|should|would\shave\sto)\s?(?:to\s)?(?:check(?:ing)?|consult(?:ing)?|refer(?:ring)?|"
    r"review(?:ing)?|provide|visit(?:ing)?|access(?:ing)?)\b[^.;]{0,120}?\b(?:report|filings?|10-?k|10-?q|statements?|database|website|sources?|document|edgar"
    r"|advisor|more|additional|missing|information|details)\b",
)
"""The source is said to lack what the answer needs."""

_INABILITY: Final = re.compile("|".join(f"(?:{pattern})" for pattern in INABILITY), re.IGNORECASE)
_REFUSAL: Final = re.compile("|".join(f"(?:{pattern})" for pattern in INABILITY + LACKS), re.IGNORECASE)
_BARE: Final = re.compile(
    r"^\W*(?:the\sanswer\sis\s|answer\W+)?(?:unknown|n\.?/?a\.?|not\s(?:available|applicable|disclosed|provided|stated|found|known|sure|enough\s(?:information|data)|answerable)"
    r"|no\s(?:answer|data|information|idea)|unanswerable|unavailable|i?\s?do(?:n't|\snot)\sknow|cannot\s(?:answer|say|determine)|can't\ssay|abstain(?:ed)?|decline[ds]?|refuse[ds]?"
    r"|insufficient\s(?:information|data|evidence)|undetermined|tbd|pass|null|undisclosed)\W*$",
    re.IGNORECASE,
)
_CONCLUDING: Final = re.compile(
    r"^\W*(?:(?:and|but)\s)?(?:therefore|thus|hence|consequently|accordingly|so\b|in\sconclusion|in\ssummary|to\ssummari[sz]e|overall|as\sa\sresult|this\smeans"
    r"|given\sth(?:is|ese|at|e)\b|(?:final\s)?answer\b|the\sanswer\b|rounded|rounding|in\sshort|based\son\sth(?:is|ese|at))",
    re.IGNORECASE,
)
_LINKED: Final = re.compile(
    r",?\s(?:but|however|although|though|yet|nevertheless|nonetheless)\b|,\s(?:so|therefore|thus|hence)\b",
    re.IGNORECASE,
)
_CONCEDES: Final = re.compile(r"^\W*(?:while|although|though|even\sthough|despite)\b", re.IGNORECASE)
_PARTIAL: Final = re.compile(
    r"\W*(?:only\b|(?:it|they)\s(?:\w+ly\s|also\s|do\s|does\s)?(?:give|show|provide|mention|state|report|list|include|contain|disclose)s?\b)",
    re.IGNORECASE,
)
"""What goes on to say which other figures the source has."""
_WHY: Final = re.compile(r"\s(?:exactly\s)?why\b", re.IGNORECASE)
"""Not to know why is not to decline the figure."""
_LONGEST_FIGURE: Final = 60
_GUESS: Final = re.compile(
    r"\b(?:best\s(?:guess|estimate)|my\s(?:guess|estimate)|i(?:'d|\swould)?\s(?:guess|estimate|say)|(?:rough|reasonable|approximate)(?:ly)?\s(?:guess|estimate)"
    r"|(?:is|was|are|were)\s(?:likely|probably|roughly|about|around|approximately|estimated)|(?:can|could|may|might)\s(?:reasonably\s)?(?:be\s)?(?:infer|inferred|estimate[d]?|assume[d]?|approximate[d]?)"
    r"|maybe|perhaps|possibly|i\sbelieve|if\si\shad\sto|assuming|estimated\sat|likely\s(?:to\sbe\s)?(?:around|about))",
    re.IGNORECASE,
)
_RECALLS: Final = re.compile(
    r"\bas\sof\s(?:my|the)\s(?:last|latest|most\srecent|information|knowledge|training)\b|\b(?:from|to|based\son)\smy\s(?:own\s)?(?:knowledge|training|memory)",
    re.IGNORECASE,
)
_TURN: Final = re.compile(
    r"^\W*(?:however|but|nevertheless|that\ssaid|nonetheless)\b(?!.{0,40}\b(?:does|mentions|mentioned|only)\b)",
    re.IGNORECASE,
)
_INFERS: Final = re.compile(
    r"^\W*(?:however|but|nevertheless|that\ssaid|nonetheless|still)\b.{0,60}?\b(?:we|i|one)\s(?:can|could|may)\s(?:\w+ly\s|still\s)?"
    r"(?:infer|conclude|estimate|deduce)\b",
    re.IGNORECASE,
)
"""What it goes on to work out by itself after saying that the source does not tell."""
_OPINION: Final = re.compile(
    r"\b(?:suggests?\sthat|it\s(?:appears|seems)\sthat|i\sbelieve|(?:can|could|may)\s(?:reasonably\s)?(?:be\sinferred|infer)|(?:is|was|are|were)\s(?:likely|probably))",
    re.IGNORECASE,
)
_STATES: Final = re.compile(
    r"(?:\b(?:is|was|were|are|be|equals?|totall?ed|amounts?(?:ed)?\sto|stood\sat|came\sto|comes\sto|reported|generated|of|to|by|at|paid|had|recorded)|[=≈:])\s"
    r"(?:\W|approximately\s|about\s|around\s|roughly\s|only\s|an?\s|the\s|estimated\s|likely\s|to\sbe\s|negative\s|now\s){0,8}$",
    re.IGNORECASE,
)
_RESULT: Final = re.compile(r"[=≈]\s?(?:\W|approximately\s|about\s|around\s|roughly\s){0,8}$", re.IGNORECASE)
_GERUND: Final = re.compile(r"^\W*(?:by\s)?[a-z]+ing\b", re.IGNORECASE)
_GIVES: Final = re.compile(
    r"\b(?:gives?(?:\sus)?|yields?|results?\sin|get|obtain|arrive\sat|shows|lists|reports|come[s]?\s(?:out\s)?(?:to|at))\s(?:\W|about\s|a\s){0,4}$",
    re.IGNORECASE,
)
_POINTS: Final = re.compile(
    r"\W*(?:it|they|this)\s(?:\w+ly\s)?(?:points?\sto|suggests?|impl(?:y|ies)|says?\sthat)\b", re.IGNORECASE
)
_HEDGE: Final = re.compile(
    r"\b(?:cannot|can't|unable\sto|could\snot|couldn't)\s(?:\w+ly\s)?(?:verify|confirm|guarantee|vouch\sfor)\s(?:this|it|that|its|the\s(?:accuracy|figure))\b",
    re.IGNORECASE,
)
"""A doubt about an answer that stands before it."""
_ASIDE: Final = re.compile(r"\([^()]{0,400}\)")
_COURTESY: Final = re.compile(
    r"\b(?:please|let\sme\sknow|(?:happy|glad)\sto\s(?:help|assist)|do\smy\sbest\sto|thank\syou)\b", re.IGNORECASE
)
_WORDS: Final = re.compile(r"[A-Za-z]{2}")
_INAPPLICABLE: Final = re.compile(
    r"^(?!\W*(?:if|when|unless)\b).*?\b(?:is|are|may|might|would|does|do)(?:\s?not|n't)\s(?:\w+ly\s)?(?:be\s)?(?:an?\s|the\s)?(?:most\s|very\s)?"
    r"(?:useful|relevant|meaningful|applicable|appropriate|suitable)\b(?!\sto\s)",
    re.IGNORECASE,
)
"""To say that what was asked for makes no sense here is an answer, unless the reply began by saying that it cannot."""
_OUTRIGHT: Final = re.compile(
    r"^\W*(?:yes|no|none|nil|zero)\b(?!\s(?:information|data|mention|specific|details?|answer|such|access|figure|evidence))",
    re.IGNORECASE,
)
_METHOD: Final = re.compile(
    r"^\W*(?:sure\b|certainly\b|of\scourse\b|to\s(?:calculate|determine|find|compute|answer|assess|evaluate|compare|identify|provide|get|derive|express|understand|analy[sz]e|estimate)"
    r"|in\sorder\sto|as\san?\s|let'?s|here\b|first\b|step|assuming|the\s(?:question|formula)|we\s(?:need|can|will|would)|i\s(?:will|can|would|understand))"
    r"|\b(?:is|are|can\sbe|would\sbe|be)\s(?:typically\s|usually\s|generally\s|commonly\s|often\s)?(?:calculated|computed|defined|measured|determined|found|derived|obtained|a\s(?:measure|metric|financial|ratio|liquidity|profitability)|used\sto)\b"
    r"|\b(?:we|you|one)\s(?:would\s|will\s|first\s|'d\s)*need\b|\bmeasures\b|\bshould\s(?:be\s)?(?:look|found)",
    re.IGNORECASE,
)
_BREAK: Final = re.compile(r"\n+|(?<=[.!?])[\"')\]]{0,2}\s+(?=[\"'(\[]?[A-Z0-9*$-])")
_ABBREVIATED: Final = re.compile(
    r"(?:\b(?:inc|corp|co|ltd|vs|approx|no|nos|u\.s|e\.g|i\.e|(?-i:[A-Z])|mr|ms|mrs|dr|st|fig|pp?|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec|u\.k|plc|cf|ca|est|n\.v|s\.a)\.|(?:^|\n)\s*[0-9a-z]{1,2}[.)])[\"')]?$",
    re.IGNORECASE,
)


_PLAIN: Final = frozenset({"statement", "concludes", "method"})
_Kind: TypeAlias = Literal["unable", "lacking", "answer", "figure", "result", "concludes", "method", "statement"]


class Sentence(NamedTuple):
    """A sentence or a line of a plain text, and where it begins there."""

    text: str
    start: int

    @property
    def concludes(self) -> bool:
        return _CONCLUDING.match(self.text) is not None

    def holds(self, place: int) -> bool:
        return self.start <= place < self.start + len(self.text)


def sentences(text: str) -> list[Sentence]:
    """The sentences and lines of a text that `figures.plain` has been through, empty ones left out."""
    found, start = [], 0
    for gap in _BREAK.finditer(text):
        if "\n" not in gap[0] and _ABBREVIATED.search(text[max(start, gap.start() - 12) : gap.start()]):
            continue
        if text[start : gap.start() + 1].strip():
            found.append(Sentence(text[start : gap.start()], start))
        start = gap.end()
    if text[start:].strip():
        found.append(Sentence(text[start:], start))
    return found


def declines(text: str) -> bool:
    """Whether the reply is an honest decline: it says that it has no answer, and gives none."""
    return declines_plain(plain(text).text)


def refuses_plain(text: str) -> bool:
    """Whether any sentence of it is a refusal, whatever else the text does."""
    return _BARE.match(text[:200]) is not None or _REFUSAL.search(text) is not None


def declines_plain(text: str) -> bool:
    """The same of a text that `figures.plain` has been through."""
    if _BARE.match(text[:200]) and len(text) < 200:
        return True
    parts = [part for part in sentences(text) if _WORDS.search(part.text)]
    kinds = [_kind(part) for part in parts]
    kinds[1:] = [
        "statement" if _HEDGE.search(part.text) else kind for kind, part in zip(kinds[1:], parts[1:], strict=True)
    ]
    if "unable" not in kinds and "lacking" not in kinds:
        return False
    return _last_word(kinds, parts)


def only_declines(text: str) -> bool:
    """Whether every sentence of it says that something cannot be told or is not given, or is a courtesy."""
    parts = [part for part in sentences(plain(text).text) if _WORDS.search(part.text)]
    refusing = [_kind(part) in ("unable", "lacking") for part in parts]
    return any(refusing) and all(
        refuses or _COURTESY.search(part.text) for refuses, part in zip(refusing, parts, strict=True)
    )


def _last_word(kinds: Sequence[_Kind], parts: Sequence[Sentence]) -> bool:
    """Whether refusals have the last word over commitments; both weigh by where they stand."""
    opening = kinds[0]
    last, unable = _last(kinds, "unable", "lacking"), _last(kinds, "unable")
    figure, result = _last(kinds, "figure"), _last(kinds, "result")
    concluded = max(result, _last(kinds, "concludes"))
    if opening == "answer" or max(figure, result, _last(kinds, "answer")) > last:
        return False
    plainly = [(place, part) for place, (kind, part) in enumerate(zip(kinds, parts, strict=True)) if kind in _PLAIN]
    closing = unable >= max(last - 2, 0) and last >= len(kinds) - 2
    if opening == "unable":
        inferred = any(place > unable and _INFERS.match(part.text) for place, part in plainly)
        return not inferred and (closing or max(figure, result) < 0)
    if figure >= 0 or any(_INAPPLICABLE.match(part.text) for _, part in plainly):
        return False
    settled = concluded < last or any(k == "unable" and part.concludes for k, part in zip(kinds, parts, strict=True))
    if opening == "lacking":
        turned = unable < 0 and any(place > last and _TURN.match(part.text) for place, part in plainly)
        return not turned and settled
    if opening == "method":
        return unable >= 0 and settled
    return closing and concluded < 0 and kinds.count("unable") * 2 >= len(kinds)


def _last(kinds: Sequence[_Kind], *wanted: _Kind) -> int:
    return max((place for place, kind in enumerate(kinds) if kind in wanted), default=-1)


def _kind(part: Sentence) -> _Kind:
    """What one sentence does."""
    if _OUTRIGHT.match(part.text):
        return "answer"
    if _alone(part.text):
        return "figure"
    refusal = _REFUSAL.search(_ASIDE.sub(lambda aside: " " * len(aside[0]), part.text))
    if refusal and not _WHY.match(part.text[refusal.end() :]):
        if _commits_after(part.text, refusal.end()):
            return "figure"
        return "unable" if _INABILITY.search(part.text) else "lacking"
    if ((part.concludes or _RECALLS.search(part.text)) and _stated(part.text, _STATES)) or _guesses(part.text):
        return "figure"
    if _has_result(part.text):
        return "result"
    if part.concludes or _OPINION.search(part.text):
        return "concludes"
    return "method" if _METHOD.search(part.text) else "statement"


def _commits_after(text: str, place: int) -> bool:
    """Whether a refusal takes itself back in the same sentence: "I cannot verify this, but my guess is $390"."""
    if _guesses(text[place:]) and not _REFUSAL.search(text[place:]):
        return True
    links = [link.end() for link in _LINKED.finditer(text)]
    if _CONCEDES.match(text):
        links += [place + comma.end() for comma in re.finditer(r",\s", text[place : place + 200])][:8]
    for start in links:
        tail = text[start:]
        if (
            not _PARTIAL.match(tail)
            and not _REFUSAL.search(tail)
            and (_stated(tail, _STATES) or _stated(tail, _GIVES) or _guesses(tail) or _POINTS.match(tail))
        ):
            return True
    return False


def _alone(text: str) -> bool:
    """Whether the sentence is a figure and nothing else."""
    figures = read_plain(text) if len(text) < _LONGEST_FIGURE else ()
    return (
        len(figures) == 1
        and figures[0].role == "amount"
        and not re.search(r"[A-Za-z0-9]", text[: figures[0].start] + text[figures[0].end :])
    )


def _guesses(text: str) -> bool:
    """Whether the sentence ventures a figure."""
    guess = _GUESS.search(text)
    return guess is not None and any(start >= guess.end() - 1 for start in _amounts(text[: guess.end() + 60]))


def _has_result(text: str) -> bool:
    """Whether the sentence is a calculation carried out to a value."""
    if _GERUND.match(text) and _stated(text, _GIVES):
        return True
    return _stated(text, _RESULT) and not _METHOD.match(text)


def _stated(text: str, leading: re.Pattern[str]) -> bool:
    return any(leading.search(text[max(0, start - 60) : start]) for start in _amounts(text))


def _amounts(text: str) -> Iterator[int]:
    return (figure.start for figure in read_plain(text) if figure.role == "amount" and not operand(text, figure))
