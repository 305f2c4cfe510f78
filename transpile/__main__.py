"""``python -m transpile``."""

import sys

from transpile.cli import main

sys.exit(main())
