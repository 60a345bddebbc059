"""Let tests import the searcher that also runs as a process of its own."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
