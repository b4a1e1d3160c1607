"""The `diskprof` program, also as `python -m diskprof`."""

import signal

from diskprof.without_tls import without_tls


def start() -> None:
    """Loads the program and runs it. Ctrl+C meanwhile ends it at once, without an account of where it was."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    without_tls()
    from diskprof.cli.entry import run

    run()


if __name__ == "__main__":
    start()
