"""Let the tests here import their harness and their targets."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
