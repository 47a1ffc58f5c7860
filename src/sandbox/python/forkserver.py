# A warm interpreter that forks one child per request. Nothing of a request is read before the fork, so that every
# child starts from the same memory.
import os
import _socket


def descriptors(control, size):
    """The next request: its first bytes and the descriptors that came with it."""
    data, ancillary, _, _ = control.recvmsg(size, _socket.CMSG_LEN(8 * 4))
    found = []
    for level, kind, content in ancillary:
        if level == _socket.SOL_SOCKET and kind == _socket.SCM_RIGHTS:
            found += [int.from_bytes(content[at:at + 4], "little") for at in range(0, len(content) - 3, 4)]
    return data, found


def wait(child):
    """Status, CPU time in us and largest resident set in KiB of a child that has ended."""
    _, status, usage = os.wait4(child, 0)
    return status, int((usage.ru_utime + usage.ru_stime) * 1_000_000), usage.ru_maxrss


def finish(control, child, owned, wait=wait):
    """In the parent: closes the child's descriptors, says its id, waits for its end and says how it was.

    The texts have a fixed width, so that the parent's memory is the same before every fork.
    """
    for descriptor in owned:
        os.close(descriptor)
    control.sendall(b"%10d\n" % child)
    control.sendall(b"%10d %16d %16d\n" % wait(child))
