"""The lane by hand: `python -m vm.lane build` builds the guest where that is due, `shell` boots it and opens a shell in it."""

import subprocess
import sys

from vm.build import Unfit, prepare, reserved, state_directory
from vm.guest import Guest
from vm.machine import Machine, say


def main(arguments: list[str]) -> int:
    state = state_directory()
    machine = Machine(state)
    say(f"needs root, Debian or Ubuntu, 4 GB in {state}, and up to 25 minutes for all tests on two cores")
    say("this machine's disks are not touched")
    try:
        if arguments == ["build"]:
            if not machine.pid():
                with reserved(state):
                    prepare(state)
        elif arguments == ["shell"]:
            if machine.pid():
                return _shell(machine)
            with reserved(state):
                prepare(state)
                say("boots: 1 to 2 minutes. It ends with the shell; `make vm-test` uses it meanwhile")
                try:
                    machine.boot(fresh=True)
                    Guest(machine).install()
                    return _shell(machine)
                finally:
                    machine.cut_power()
        else:
            raise Unfit("usage: python -m vm.lane build | shell")
    except Unfit as error:
        say(str(error))
        return 2
    return 0


def _shell(machine: Machine) -> int:
    return subprocess.run(["ssh", "-t", "-F", str(machine.ssh_config), "guest"]).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
