"""Limit this process as bubblewrap cannot, and become bubblewrap.

``python -I -S enter_sandbox.py bwrap …`` runs before the sandbox is made, without any package."""

from __future__ import annotations

import os
import platform
import struct
import sys

MOST = 32_000_000
"""Bytes of a file that the process writes, e.g. its answers and errors on the disk of the keeper;
the figure of a task has some 70,000."""
_X32 = 0x40000000  # of x86_64: the same calls under other numbers
_KEYS = {
    "x86_64": (0xC000003E, (248, 249, 250)),
    "aarch64": (0xC00000B7, (217, 218, 219)),
}
"""Machine -> its number in the kernel, and the numbers of add_key, request_key and keyctl."""
MACHINES = tuple(_KEYS)
_LOAD, _IF_EQUAL, _IF_AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_NUMBER, _MACHINE = 0, 4  # places of a call's number and machine, see seccomp(2)
_ALLOW, _NO_SUCH_CALL = 0x7FFF0000, 0x00050000 | 38


def without_keys(machine: str) -> bytes:
    """Return the filter of system calls without those that read keys of the kernel.

    A process of the same account can read the keys of the keeper's session: tokens of Kerberos,
    passwords of encrypted folders. A namespace does not hide them. To the process, the kernel
    has no such calls, and none of other machines, whose numbers differ.

    Args:
        machine: one of `MACHINES`.

    Returns:
        instructions of the kernel's packet filter, 8 bytes each.
    """
    own, calls = _KEYS[machine]
    rows = [
        (_LOAD, 0, 0, _MACHINE),
        (_IF_EQUAL, 1, 0, own),
        (_RETURN, 0, 0, _NO_SUCH_CALL),
        (_LOAD, 0, 0, _NUMBER),
    ]
    # A condition skips the next row if it does not hold.
    for test, number in ((_IF_AT_LEAST, _X32), *((_IF_EQUAL, number) for number in calls)):
        rows += [(test, 0, 1, number), (_RETURN, 0, 0, _NO_SUCH_CALL)]
    rows.append((_RETURN, 0, 0, _ALLOW))
    return b"".join(struct.pack("HBBI", *row) for row in rows)


def main(command: list[str]) -> None:
    """Become the command, a call of bubblewrap, with the limits."""
    import resource  # not on Windows, where `MACHINES` is still looked at

    resource.setrlimit(resource.RLIMIT_FSIZE, (MOST, MOST))
    source, target = os.pipe()
    os.write(target, without_keys(platform.machine()))
    os.close(target)
    os.set_inheritable(source, True)
    os.execvp(command[0], [command[0], "--seccomp", str(source), *command[1:]])


if __name__ == "__main__":
    main(sys.argv[1:])
