#!/bin/sh
# Makes a checkout ready: fio and ioping from the distribution, a virtual environment in .venv, diskprof in it.
#
#   scripts/setup.sh run            what `make run` needs
#   scripts/setup.sh test           that, and what the tests need
#   scripts/setup.sh run --again    try once more to install what could not be installed before
#
# PYTHON=/path/to/python3.12 chooses the interpreter; otherwise it is the newest on the PATH.
# It says what it does before it does it, on stderr, and does nothing when there is nothing to do.
set -eu

cd -P -- "$(dirname -- "$0")/.."
root=$PWD
venv=$root/.venv
oldest=11 # Python 3.11

say() { printf '%s\n' "$*" >&2; }
die() {
    say "diskprof set-up: $1"
    shift
    for line; do say "  $line"; done
    exit 1
}

mode=${1:-run}
again=${2:-}
case $mode in
run | test) ;;
*) die "there is no set-up called '$mode'" "scripts/setup.sh run | test [--again]" ;;
esac

# The environment must not reach into the virtual environment that is made here, nor be that environment: with .venv
# activated, its own python would be found first, and gone when .venv is made anew.
unset PYTHONHOME PYTHONPATH VIRTUAL_ENV
path=''
old_ifs=$IFS
IFS=:
for directory in $PATH; do
    [ "$directory" = "$venv/bin" ] || path=$path${path:+:}$directory
done
IFS=$old_ifs
# Without root, many distributions leave out the directories where losetup and sshd are. (DISKPROF_SBIN is for the tests.)
PATH=$path:${DISKPROF_SBIN-/usr/local/sbin:/usr/sbin:/sbin}
export PATH

# --- Python ---------------------------------------------------------------------------------------------------------

# What an interpreter is: "MINOR RELEASE CAN-MAKE-ENVIRONMENTS PATH", e.g. "11 3.11.2 yes /usr/bin/python3.11"; nothing for one that
# is no Python 3, does not start (a pyenv shim without its version) or is a prerelease, for which packages have no wheels yet.
about_python() {
    "$1" -I -c '
import sys
from importlib.util import find_spec
v = sys.version_info
if v[0] == 3 and v[3] == "final":
    # An empty directory that a removed package left behind is a spec without an origin.
    found = [find_spec(name) for name in ("ensurepip", "venv")]
    able = "yes" if all(spec and spec.origin for spec in found) else "no"
    print(v[1], "%d.%d.%d" % v[:3], able, sys.executable)
' 2>/dev/null || :
}

python='' release='' minor='' able=''
consider_python() {
    # shellcheck disable=SC2046 # four words
    set -- $(about_python "$1")
    [ $# -ge 4 ] || return 0
    if [ "$1" -lt "$oldest" ]; then
        too_old="${too_old:+$too_old, }$2"
        return 0
    fi
    # One that can make a virtual environment as it is comes before one that first needs a package, then the newer one.
    if [ -n "$python" ]; then
        [ "$able,$3" = yes,no ] && return 0
        if [ "$able" = "$3" ] && [ "$1" -le "$minor" ]; then return 0; fi
    fi
    minor=$1 release=$2 able=$3
    shift 3
    python=$*
}

find_python() {
    too_old=''
    if [ -n "${PYTHON:-}" ]; then
        command -v "$PYTHON" >/dev/null || die "there is no program '$PYTHON' (PYTHON was set to it)."
        consider_python "$PYTHON"
        [ -n "$python" ] || die "PYTHON=$PYTHON is not Python 3.$oldest or later${too_old:+ but $too_old}."
        return
    fi
    n=30
    while [ "$n" -ge "$oldest" ]; do
        if command -v "python3.$n" >/dev/null; then consider_python "python3.$n"; fi
        n=$((n - 1))
    done
    if command -v python3 >/dev/null; then consider_python python3; fi
    [ -n "$python" ] && return
    say "diskprof set-up: needs Python 3.$oldest or later; on the PATH there is ${too_old:-none}."
    case $(manager) in
    apt) say "  Debian 12 and Ubuntu 24.04 have one as python3. Ubuntu 22.04, as root: apt-get install python3.11 python3.11-venv" ;;
    dnf) say "  As root: dnf install python3.12" ;;
    zypper) say "  As root: zypper install python312" ;;
    pacman) say "  As root: pacman -S python" ;;
    apk) say "  As root: apk add python3" ;;
    esac
    say "  Or name one: make run PYTHON=/path/to/python3.12"
    exit 1
}

# --- Programs from the distribution ---------------------------------------------------------------------------------

manager() {
    if command -v apt-get >/dev/null; then
        echo apt
    elif command -v dnf >/dev/null; then
        echo dnf
    elif command -v zypper >/dev/null; then
        echo zypper
    elif command -v pacman >/dev/null; then
        echo pacman
    elif command -v apk >/dev/null; then
        echo apk
    fi
}

# How a command is run as root: "" by root itself, sudo, doas, or "nobody" where a script has no way to.
if [ "$(id -u)" = 0 ]; then
    become=''
elif command -v sudo >/dev/null; then
    # Without a terminal nobody can type a password.
    if (: </dev/tty) 2>/dev/null; then become='sudo'; else become='sudo -n'; fi
elif command -v doas >/dev/null; then
    become='doas'
else
    become='nobody'
fi

# The package that has a program, by the distribution's name for it.
package_of() {
    case $1,$2 in
    *,venv) # Debian and Ubuntu split it off, one for each Python
        [ "$1" = apt ] && echo "python3.$minor-venv" ;;
    apt,ssh) echo openssh-client ;;
    dnf,ssh) echo openssh-clients ;;
    zypper,ssh) echo openssh-clients ;;
    apk,ssh) echo openssh-client ;;
    pacman,ssh | pacman,sshd) echo openssh ;;
    *,sshd) echo openssh-server ;;
    apt,losetup) echo mount ;;
    apk,losetup) echo losetup ;;
    *,losetup) echo util-linux ;;
    dnf,sshfs) echo fuse-sshfs ;;
    *,mkfs.ext4) echo e2fsprogs ;;
    *,mkfs.xfs) echo xfsprogs ;;
    zypper,mkfs.btrfs) echo btrfsprogs ;;
    *,mkfs.btrfs) echo btrfs-progs ;;
    *,mkfs.vfat) echo dosfstools ;;
    apt,dmsetup) echo dmsetup ;;
    *,dmsetup) echo device-mapper ;;
    *) echo "$2" ;;
    esac
}

# Another program is called fio too (F14), so the name alone proves nothing; any directory of the PATH may have the real one.
have_fio() {
    IFS=:
    for directory in $PATH; do
        if [ -x "$directory/fio" ]; then
            case $("$directory/fio" --version 2>/dev/null </dev/null || :) in
            fio-[3-9]* | fio-[1-9][0-9]*)
                IFS=$old_ifs
                return 0
                ;;
            esac
        fi
    done
    IFS=$old_ifs
    return 1
}

have() {
    case $1 in
    fio) have_fio ;;
    venv) [ "$able" = yes ] || [ -z "$python" ] ;;
    fio-examples) [ -d /usr/share/doc/fio/examples ] ;;
    *) command -v "$1" >/dev/null ;;
    esac
}

missing_of() {
    found=''
    for program; do
        have "$program" || found="$found${found:+ }$program"
    done
    printf '%s' "$found"
}

# The words of the command that installs packages, without sudo.
install_words() {
    case $1 in
    # A machine that was just started may be upgrading itself: wait for that.
    apt) echo "env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends -o DPkg::Lock::Timeout=120" ;;
    dnf) echo "dnf install -y" ;;
    zypper) echo "zypper --non-interactive install --no-recommends" ;;
    pacman) echo "pacman -S --needed --noconfirm" ;;
    apk) echo "apk add --update-cache" ;;
    esac
}

# The same as a person would type it.
install_hint() {
    case $1 in
    apt) echo "apt-get update; apt-get install $2" ;;
    *) echo "$(install_words "$1") $2" ;;
    esac
}

run_shown() {
    say "  $*"
    "$@" >&2 </dev/null
}

# Installs the packages that have the given programs. What came of it, the caller sees by looking for the programs.
install() {
    with=$(manager)
    if [ -z "$with" ]; then
        say "Missing: $*. There is no apt-get, dnf, zypper, pacman or apk here: please install that by hand."
        return 0
    fi
    packages=''
    for program; do
        package=$(package_of "$with" "$program")
        case " $packages " in
        *" $package "*) ;;
        *) packages="$packages${packages:+ }$package" ;;
        esac
    done
    by_hand=$(install_hint "$with" "$packages")
    if [ "$become" = nobody ]; then
        say "Missing: $*. To install that takes root, and there is no sudo here. As root:"
        say "  $by_hand"
        return 0
    fi
    say "Missing: $*. Installing from the distribution${become:+, as root through ${become%% *}}:"
    # shellcheck disable=SC2086 # words
    if [ -n "$become" ] && ! $become true >&2 </dev/null; then
        say "diskprof set-up: ${become%% *} did not let us. As root:"
        say "  $by_hand"
        return 0
    fi
    # shellcheck disable=SC2046,SC2086 # words
    {
        if [ "$with" = apt ]; then
            # Old lists name files that are gone from the mirrors, and a fresh container has none. One broken
            # third-party source fails the update, and need not be in the way of these packages.
            run_shown $become env DEBIAN_FRONTEND=noninteractive apt-get update -q ||
                say "  (that failed; going on with the package lists that are there)"
        fi
        if ! run_shown $become $(install_words "$with") $packages; then
            if [ "$with" = pacman ]; then run_shown $become pacman -Sy --noconfirm || :; fi
            # One package that a distribution does not have keeps the others from being installed.
            for package in $packages; do
                [ "$with,$package" = "apt,$packages" ] || run_shown $become $(install_words "$with") "$package" || :
            done
        fi
    }
    hash -r
}

# --- What there is, what is missing ---------------------------------------------------------------------------------

fingerprint() {
    # The version is asked of the interpreter: an upgrade of the distribution can take it from under .venv.
    now=$("$venv/bin/python" -I -S -c 'import sys; print("%d.%d.%d" % sys.version_info[:3])' 2>/dev/null) || return 1
    printf '%s\n' "$root" "$now" "$(cksum <pyproject.toml)"
}

is_ready() {
    [ -f "$venv/.ready-$1" ] && [ -x "$venv/bin/diskprof" ] &&
        print=$(fingerprint) && [ "$(cat "$venv/.ready-$1")" = "$print" ]
}

# Whether .venv is a virtual environment that works, in this place.
venv_works() {
    [ -f "$venv/pyvenv.cfg" ] || return 1
    found=$(about_python "$venv/bin/python")
    # shellcheck disable=SC2086 # words
    set -- $found
    [ $# -ge 4 ] && [ "$1" -ge "$oldest" ] && [ -d "$venv/lib/python3.$1" ] && grep -qF "$venv" "$venv/bin/activate" || return 1
    [ -z "${PYTHON:-}" ] || [ "$2" = "$release" ]
}

programs='fio ioping'
if [ "$mode" = test ]; then
    programs="$programs git tmux ssh losetup mkfs.ext4 dmsetup"
    # Debian starts an ssh server the moment it is installed, which on somebody's own machine opens a port that nobody asked
    # for, and tools for file systems that the machine does not use change how it boots. Where neither matters, have them all.
    if [ ! -d /run/systemd/system ] || [ -n "${CI:-}" ]; then programs="$programs sshd mkfs.xfs mkfs.btrfs mkfs.vfat sshfs zsh fish"; fi
    # fio's own job files, which the import of job files is tested on: a package of its own in Debian only.
    if [ "$(manager)" = apt ]; then programs="$programs fio-examples"; fi
fi

ready=no
if is_ready "$mode" || { [ "$mode" = run ] && is_ready test; }; then ready=yes; fi
if [ "$ready" = no ] || [ -n "${PYTHON:-}" ]; then
    if [ -n "${PYTHON:-}" ] || ! venv_works; then find_python; fi
    if ! venv_works; then
        ready=no
        programs="$programs venv"
    else
        able=yes
    fi
fi

record=$venv/.could-not-install-$mode
# shellcheck disable=SC2086 # words
missing=$(missing_of $programs)
if [ -n "$missing" ]; then
    # What failed once is not tried at every start.
    if [ -n "$again" ] || [ ! -f "$record" ] || [ "$(cat "$record")" != "$missing" ]; then
        # shellcheck disable=SC2086 # words
        install $missing
    fi
    # What is there now decides, not what the package manager said.
    if [ -n "$python" ]; then
        # shellcheck disable=SC2046 # words
        set -- $(about_python "$python")
        able=${3:-no}
    fi
    # shellcheck disable=SC2086 # words
    missing=$(missing_of $programs)
fi
case " $missing " in
*" venv "*)
    die "$python (Python $release) cannot make a virtual environment: its modules venv and ensurepip are missing." \
        "Debian and Ubuntu have them in: apt-get install python3.$minor-venv" \
        "Or name another interpreter: make run PYTHON=/path/to/python3.12"
    ;;
*" fio ioping "*)
    die "neither fio nor ioping is here, and diskprof measures with them. Install them, then try again." \
        "The command for it stands above; both are in the distribution's own packages, fio also at https://github.com/axboe/fio"
    ;;
esac

# --- The virtual environment ----------------------------------------------------------------------------------------

if [ "$ready" = no ]; then
    if ! venv_works; then
        if [ -e "$venv" ] || [ -L "$venv" ]; then
            if [ -L "$venv" ] || { [ ! -f "$venv/pyvenv.cfg" ] && [ -n "$(ls -A "$venv")" ]; }; then
                die "$venv is there, but is no virtual environment." "Move it out of the way, then try again."
            fi
            say "The virtual environment in .venv does not work here (moved, made by another Python, or unfinished): making it anew."
            rm -rf "$venv" || die "$venv cannot be removed." "Was it made by root? Then: sudo rm -rf $venv"
        fi
        say "Making a virtual environment in .venv with $python (Python $release)."
        "$python" -m venv "$venv" >&2 || die "the virtual environment could not be made (see above)."
    fi
    [ -w "$venv/bin" ] || die "$venv belongs to somebody else." "Was it made by root? Then: sudo rm -rf $venv"
    rm -f "$venv"/.ready-*
    # An environment made by uv has no pip.
    "$venv/bin/python" -m pip --version >/dev/null 2>&1 || "$venv/bin/python" -m ensurepip >&2
    if [ "$mode" = test ]; then what='.[dev]'; else what='.'; fi
    say "Installing diskprof and what it needs into .venv (pip install -e $what)."
    PIP_USER=0 "$venv/bin/python" -m pip install --quiet --disable-pip-version-check -e "$what" >&2 ||
        die "pip could not install diskprof (see above)." \
            "It takes the packages from the Python package index; behind a proxy, set https_proxy or PIP_INDEX_URL."
    fingerprint >"$venv/.ready.new"
    mv "$venv/.ready.new" "$venv/.ready-$mode"
    say "Ready."
fi

if [ -n "$missing" ]; then
    printf '%s\n' "$missing" >"$record"
    case " $missing " in
    *" fio "*) say "Going on without fio: only the presets of ioping will work (\`make setup\` tries again)." ;;
    *" ioping "*) say "Going on without ioping: only the presets of fio will work (\`make setup\` tries again)." ;;
    *) say "Going on without: $missing. The tests that need it are skipped and say so (\`make setup-test\` tries again)." ;;
    esac
else
    rm -f "$record"
fi
