"""Limit this process as bubblewrap cannot, and become bubblewrap.

``python -I -S enter_sandbox.py BWRAP …`` runs before the sandbox is made, without any package."""

from __future__ import annotations

import os
import platform
import struct
import sys

MOST = 32_000_000
"""Bytes of a file that the process writes, e.g. its answers and errors on the disk of the keeper;
the figure of a task has some 70,000."""
_X32 = 0x40000000  # of x86_64: the same calls under other numbers
_RINGS = (425, 426, 427)  # io_uring_setup, _enter, _register: other ways to make a socket
_CLONE3 = 435  # a program uses clone then, whose flags a filter can read
_CALLS = {
    "x86_64": (0xC000003E, (248, 249, 250, 272, 308, 319, _CLONE3, *_RINGS), 56, 41),
    "aarch64": (0xC00000B7, (217, 218, 219, 97, 268, 279, _CLONE3, *_RINGS), 220, 198),
}
"""Machine -> its number in the kernel, the numbers of add_key, request_key, keyctl, unshare, setns,
memfd_create, clone3 and the rings, that of clone, and that of socket."""
_NAMESPACES = 0x7E020000
"""Flags of clone that make a namespace. In a further one, a process could mount files in memory,
without the limits of `sandbox.MEMORY`, as it could make files of memfd_create."""
_FAMILIES = (1, 2, 10, 16)
"""Sockets that a namespace of the network hides: of files, IPv4, IPv6 and of routes. Those between
a virtual machine and its host (vsock) have no namespace."""
MACHINES = tuple(_CALLS)
_LOAD, _IF_EQUAL, _IF_AT_LEAST, _IF_ANY, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NUMBER, _MACHINE, _FIRST = 0, 4, 16  # places of number, machine, first argument, see seccomp(2)
_ALLOW, _NO_SUCH_CALL, _NO_SUCH_FAMILY = 0x7FFF0000, 0x00050000 | 38, 0x00050000 | 97


def without_keys(machine: str) -> bytes:
    """Return the filter of system calls without those that no namespace hides: keys, and vsock.
    There are no further namespaces, either.

    A process of the same account can read the keys of the keeper's session: tokens of Kerberos,
    passwords of encrypted folders. A namespace does not hide them. To the process, the kernel
    has no such calls, and none of other machines, whose numbers differ.

    Args:
        machine: one of `MACHINES`.

    Returns:
        instructions of the kernel's packet filter, 8 bytes each.
    """
    own, calls, clone, socket = _CALLS[machine]
    rows = [
        (_LOAD, 0, 0, _MACHINE),
        (_IF_EQUAL, 1, 0, own),
        (_RETURN, 0, 0, _NO_SUCH_CALL),
        (_LOAD, 0, 0, _NUMBER),
    ]
    # A condition skips the next row if it does not hold.
    for test, number in ((_IF_AT_LEAST, _X32), *((_IF_EQUAL, number) for number in calls)):
        rows += [(test, 0, 1, number), (_RETURN, 0, 0, _NO_SUCH_CALL)]
    rows += [
        (_IF_EQUAL, 0, 4, clone),
        (_LOAD, 0, 0, _FIRST),
        (_IF_ANY, 0, 1, _NAMESPACES),
        (_RETURN, 0, 0, _NO_SUCH_CALL),
        (_RETURN, 0, 0, _ALLOW),
    ]
    last = len(_FAMILIES)
    rows += [(_IF_EQUAL, 0, last + 2, socket), (_LOAD, 0, 0, _FIRST)]  # any other call: to the end
    rows += [(_IF_EQUAL, last - at, 0, family) for at, family in enumerate(_FAMILIES)]
    rows += [(_RETURN, 0, 0, _NO_SUCH_FAMILY), (_RETURN, 0, 0, _ALLOW)]
    return b"".join(struct.pack("HBBI", *row) for row in rows)


def main(command: list[str]) -> None:
    """Become the command, a call of bubblewrap, with the limits."""
    import resource  # not on Windows, where `MACHINES` is still looked at

    resource.setrlimit(resource.RLIMIT_FSIZE, (MOST, MOST))
    source, target = os.pipe()
    os.write(target, without_keys(platform.machine()))
    os.close(target)
    os.set_inheritable(source, True)
    # Without the variables of the keeper: the sandbox can read those of its first process.
    os.execve(command[0], [command[0], "--seccomp", str(source), *command[1:]], {})


if __name__ == "__main__":
    main(sys.argv[1:])
