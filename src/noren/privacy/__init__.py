"""Adjacency, guarantee, composition, conversion, filters: what privacy costs."""

from noren.privacy.adjacency import ADD_REMOVE as ADD_REMOVE
from noren.privacy.adjacency import BIT as BIT
from noren.privacy.adjacency import LOCAL as LOCAL
from noren.privacy.adjacency import RECORD as RECORD
from noren.privacy.adjacency import SUBSTITUTE as SUBSTITUTE
from noren.privacy.adjacency import USER as USER
from noren.privacy.adjacency import ZERO_OUT as ZERO_OUT
from noren.privacy.adjacency import Adjacency as Adjacency
from noren.privacy.adjacency import Relation as Relation
from noren.privacy.adjacency import Unit as Unit
from noren.privacy.guarantee import Guarantee as Guarantee
