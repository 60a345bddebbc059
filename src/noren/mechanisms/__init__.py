"""Generic questions: counts, sums and means, selection, randomized response.

Each module is one complete example of the pattern: a statistic that is counted and merged, a
question with its price and its proof, a forecast before anything is spent, an answer.
"""

from noren.mechanisms.counts import CellCounts as CellCounts
from noren.mechanisms.counts import Counts as Counts
from noren.mechanisms.means import BoundedMean as BoundedMean
from noren.mechanisms.response import RandomizedResponse as RandomizedResponse
from noren.mechanisms.response import Responses as Responses
from noren.mechanisms.selection import BestCandidate as BestCandidate
from noren.mechanisms.selection import Scores as Scores
from noren.mechanisms.sums import BoundedSum as BoundedSum
from noren.mechanisms.sums import Sum as Sum
from noren.mechanisms.sums import fine_grid as fine_grid
from noren.mechanisms.tuning import Alternatives as Alternatives
from noren.mechanisms.tuning import BestOfPrivate as BestOfPrivate
