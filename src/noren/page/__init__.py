"""Charts and answers in one HTML file that opens anywhere, offline, in ten years too.

A `Page` is a title and parts from top to bottom: text, tables, charts, answers. Everything is
inside the file: the charts' declarative specifications, the scripts that draw them, a still
picture of each for readers that run no scripts. The page's own security policy forbids it to fetch
anything. It follows the reader's light or dark setting and the width of the screen. All text is
escaped. An answer is shown with its price beside it, and one that is NOT PRIVATE says so first.

Whoever makes a page hands it anything that looks like an answer; this room knows no question.
"""

from noren.page.charts import save_chart as save_chart
from noren.page.document import Page as Page
from noren.page.parts import Answered as Answered
from noren.page.parts import Card as Card
from noren.page.parts import Chart as Chart
from noren.page.parts import Code as Code
from noren.page.parts import Part as Part
from noren.page.parts import Section as Section
from noren.page.parts import Table as Table
from noren.page.parts import Text as Text
