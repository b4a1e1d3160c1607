"""The `diskprof` program, also as `python -m diskprof`."""

import signal
import sys

from diskprof.own_program import HiddenEntry
from diskprof.without_tls import without_tls


def start() -> None:
    """Loads the program and runs it. Ctrl+C meanwhile ends it at once, without an account of where it was."""
    without_tls()
    match sys.argv[1:]:
        case [HiddenEntry.RUNNER]:
            from diskprof.runner.detached.child import main

            sys.exit(main())
        case [HiddenEntry.AGENT]:
            from diskprof.fleet.follow.agent import main as agent

            sys.exit(agent())
        case [HiddenEntry.COORDINATOR]:
            from diskprof.fleet.detached import main as coordinator

            sys.exit(coordinator())
        case [HiddenEntry.FIO_SERVER, *words]:
            from diskprof.fleet.served.on_host import main as fio_server

            sys.exit(fio_server(words))
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from diskprof.cli.entry import run

    run()


if __name__ == "__main__":
    start()
