"""The beginning of the zipapp: unpacks diskprof into the cache, once, and starts it.

Any Python must be able to read it, if only to be told that it is too old; `scripts/pyz.py` fills in the capitals.
"""

import os
import sys

DIGEST = "@DIGEST@"
MACHINE = "@MACHINE@"
PYTHONS = "@PYTHONS@".split()
UNFIT = 3


def unfit():
    """Why this Python or machine cannot run diskprof; empty if it can."""
    if os.uname()[4] != MACHINE:
        return "This file is for %s, and this is %s. Take the one for it." % (MACHINE, os.uname()[4])
    try:
        if not os.confstr("CS_GNU_LIBC_VERSION"):
            raise ValueError
    except (ValueError, AttributeError):
        return "This file is for Linux with glibc. Take the bundle, which has a C library of its own."
    if "%d.%d" % sys.version_info[:2] not in PYTHONS:
        return "It takes Python %s, and this is %d.%d. Take the bundle, which has a Python of its own." % (
            (", ".join(PYTHONS),) + sys.version_info[:2]
        )
    try:
        import lzma  # noqa: F401
        import sqlite3  # noqa: F401
    except ImportError as error:
        return "This Python was built without %s. Take the bundle, which has a Python of its own." % error.name
    return ""


def another_python():
    """A Python of a fitting version on the PATH, the newest."""
    for version in PYTHONS[::-1]:
        for directory in os.environ.get("PATH", os.defpath).split(os.pathsep):
            program = os.path.join(directory, "python" + version)
            if program != sys.executable and os.access(program, os.X_OK):
                return program
    return None


def cache():
    """Where the unpacked files go: a directory of their own for each zipapp and Python."""
    given = os.environ.get("DISKPROF_UNPACKED")
    if given:
        return given
    base = os.environ.get("XDG_CACHE_HOME", "")
    base = base if os.path.isabs(base) else os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(base, "diskprof", "%s-%d.%d" % ((DIGEST[:16],) + sys.version_info[:2]))


def unpack(directory):
    """Unpacks what this Python needs: all at once or not at all, whoever else does so at the same time."""
    import shutil
    import tarfile
    import tempfile
    import zipfile

    os.makedirs(os.path.dirname(directory), 0o700, exist_ok=True)
    part = tempfile.mkdtemp(prefix=os.path.basename(directory) + ".", dir=os.path.dirname(directory))
    own = ".cpython-%d%d-" % sys.version_info[:2]
    try:
        with zipfile.ZipFile(sys.argv[0]) as archive, archive.open("diskprof.tar.xz") as packed:
            with tarfile.open(fileobj=packed, mode="r|xz") as tar:
                for entry in tar:
                    if ".cpython-" not in entry.name or own in entry.name:
                        tar.extract(entry, part, **({"filter": "data"} if hasattr(tarfile, "data_filter") else {}))
        try:
            os.rename(part, directory)
        except OSError:
            if not os.path.isdir(directory):
                raise
    finally:
        shutil.rmtree(part, ignore_errors=True)


def main():
    """Starts diskprof in this process."""
    why = unfit()
    if why:
        program = another_python() if os.uname()[4] == MACHINE else None
        if program and not os.environ.pop("_DISKPROF_PYTHON", None):
            os.environ["_DISKPROF_PYTHON"] = program
            os.execv(program, [program, os.path.abspath(sys.argv[0])] + sys.argv[1:])
        sys.stderr.write("diskprof: %s\n" % why)
        sys.exit(UNFIT)
    os.environ.pop("_DISKPROF_PYTHON", None)
    directory = cache()
    if not os.path.isdir(directory):
        try:
            unpack(directory)
        except OSError as error:
            sys.stderr.write("diskprof: It cannot be unpacked into %s: %s.\n" % (directory, error.strerror or error))
            sys.stderr.write("Name another directory that does not exist yet: DISKPROF_UNPACKED=DIRECTORY\n")
            sys.exit(1)
    sys.path[0] = directory
    from diskprof.__main__ import start

    start()


main()
