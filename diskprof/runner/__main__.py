"""The detached runner, `python -m diskprof.runner`."""

import sys

from diskprof.without_tls import without_tls

if __name__ == "__main__":
    without_tls()
    from diskprof.runner.detached.child import main

    sys.exit(main())
