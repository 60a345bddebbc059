"""A page: escaped, whole, and unable to fetch anything."""

import base64
import hashlib
import json
import re
from dataclasses import dataclass, field
from html.parser import HTMLParser
from types import SimpleNamespace

import altair as alt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from noren.errors import ParameterError
from noren.page import Answered, Chart, Page, Section, Table, Text, save_chart
from noren.page.charts import responsive
from noren.privacy import Guarantee

NASTY = '</script><img src="http://example.invalid/x" onerror="alert(1)"> & <b>'
DATA = alt.Data(values=[{"cell": NASTY, "people": 3}, {"cell": "b", "people": 5}])
BARS = alt.Chart(DATA).mark_bar().encode(x="cell:N", y="people:Q")


@dataclass
class Released:
    """Whatever looks like an answer can be shown."""

    headline: str = "12 people"
    secure: bool = True
    marks: tuple = ()
    guarantee: Guarantee | None = field(
        default_factory=lambda: Guarantee("add-remove", epsilon="0.5")
    )
    uncertainty: str = "95 % of counts are within 7"
    receipt: object = None
    question: object = field(default_factory=lambda: SimpleNamespace(assumed_public=("the cells",)))

    def chart(self):
        return BARS


class Tags(HTMLParser):
    """Gather the tags of a page, and the text outside scripts and styles."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.texts, self.inside = [], [], ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self.inside = tag

    def handle_endtag(self, tag):
        self.inside = ""

    def handle_data(self, data):
        if self.inside not in ("script", "style"):
            self.texts.append(data)

    @property
    def text(self):
        return "".join(self.texts)


@pytest.fixture(scope="module")
def everything() -> str:
    parts = [
        Section(NASTY), Text(NASTY), Table([NASTY], [[NASTY]], NASTY), Chart(BARS, NASTY),
        Answered(Released(headline=NASTY, marks=(NASTY,)), asked=NASTY),
    ]  # fmt: skip
    return Page(title=NASTY, lead=NASTY, banner=NASTY, parts=parts).html()


def test_nothing_on_the_page_names_an_address_to_fetch(everything):
    for tag, attributes in Tags(everything).tags:
        assert tag not in {"img", "link", "iframe", "object", "embed", "base", "audio", "video"}
        named = {key for key in attributes if key.rpartition(":")[2] in ("src", "href", "action")}
        assert all((attributes[key] or "").startswith("#") for key in named), (tag, attributes)


def test_the_page_s_own_policy_forbids_to_fetch_and_allows_its_own_scripts_only(everything):
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', everything)[1]
    rules = dict(rule.split(" ", 1) for rule in policy.split("; "))
    assert rules["default-src"] == "'none'"
    assert set(rules) == {"default-src", "script-src", "style-src", "img-src"}
    scripts = re.findall(r"<script>(.*?)</script>", everything, re.S)
    digests = [hashlib.sha256(script.encode()).digest() for script in scripts]
    expected = {f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests}
    assert set(rules["script-src"].split()) == expected
    assert len(scripts) == 2


def test_text_from_anywhere_stays_text(everything):
    page = Tags(everything)
    assert not [tag for tag, _ in page.tags if tag in ("img", "b")]
    assert page.text.count(NASTY) >= 8
    assert not [attrs for _, attrs in page.tags if any(key.startswith("on") for key in attrs)]


@given(text=st.text())
def test_no_text_can_become_a_tag(text):
    for part in (Section(text), Text(text), Table([text], [[text]], text)):
        plain = Tags(
            type(part)(*(["x", [["x"]], "x"] if isinstance(part, Table) else ["x"])).html()
        )
        assert [tag for tag, _ in Tags(part.html()).tags] == [
            tag for tag, _ in plain.tags if tag != "caption" or text
        ]


def test_a_chart_s_data_cannot_end_its_script():
    html = Chart(BARS).html()
    inside = re.search(r'<script type="application/json">(.*?)</script>', html, re.S)[1]
    assert json.loads(inside)["mark"]["type"] == "bar"
    assert NASTY in json.dumps(json.loads(inside)["data"]["values"], ensure_ascii=False).replace(
        '\\"', '"'
    )


def test_an_answer_stands_beside_its_price_and_all_that_travels_with_it():
    receipt = SimpleNamespace(account="survey", request_id="r-1", head="ab12")
    shown = Tags(
        Answered(Released(receipt=receipt, marks=("idealized",)), asked="How many?").html()
    )
    for words in (
        "How many?", "12 people", "epsilon 0.5 (one record is added or removed)", "idealized",
        "95 % of counts are within 7", "the cells", "survey, request r-1", "ab12",
    ):  # fmt: skip
        assert words in shown.text


def test_a_page_with_a_seeded_answer_says_not_private_before_its_title():
    seeded = Released(secure=False, guarantee=None, marks=("NOT PRIVATE (seeded)",))
    html = Page(title="Report", parts=[Answered(seeded, asked="How many?")]).html()
    assert html.index("NOT PRIVATE: noise on this page") < html.index("<h1>Report")
    assert "no guarantee" in html
    assert "mark alarm" in html
    private = Page(title="Report", parts=[Answered(Released(), asked="How many?")]).html()
    assert "NOT PRIVATE" not in private


def test_numbers_stand_to_the_right_and_truth_is_a_word():
    html = Table(["n", "ok", "what"], [[1, True, "x"], [2.5, False, None]]).html()
    assert '<th class="number">n</th><th>ok</th><th>what</th>' in html
    assert '<td class="number">2.5</td><td class="no">no</td><td>-</td>' in html


def test_a_single_chart_fills_its_width_and_one_with_a_width_keeps_it():
    assert responsive(BARS)["width"] == "container"
    assert responsive(BARS.properties(width=123))["width"] == 123
    assert "width" not in responsive(BARS | BARS)


@pytest.mark.parametrize(("ending", "start"), [(".svg", b"<svg"), (".png", b"\x89PNG")])
def test_a_chart_can_be_saved_as_a_picture(tmp_path, ending, start):
    path = save_chart(BARS, tmp_path / f"chart{ending}")
    assert path.read_bytes().startswith(start)


def test_a_picture_of_another_kind_is_refused(tmp_path):
    with pytest.raises(ParameterError, match=r"\.svg or \.png"):
        save_chart(BARS, tmp_path / "chart.gif")


def test_a_page_is_written_where_it_is_told(tmp_path):
    path = Page(title="a", parts=[Text("é 簾")]).write(tmp_path / "page.html")
    assert "é 簾" in path.read_text(encoding="utf-8")
