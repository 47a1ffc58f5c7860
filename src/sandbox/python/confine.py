# What a freshly cloned candidate process gives up before it reads a line of the program.
import ctypes
import os
import resource
import signal

_library = ctypes.PyDLL(None, use_errno=True)
_PR_SET_PDEATHSIG, _PR_SET_SECCOMP, _FILTER = 1, 22, 2
_MS_NOSUID, _MS_NODEV = 2, 4


def _checked(result, what):
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


class _Filter(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p)]


def fork_apart(numbers):
    """As os.fork, but the child is the first process of name spaces of its own."""
    python = ctypes.pythonapi
    python.PyOS_BeforeFork()
    child = _library.syscall(ctypes.c_long(numbers["clone"]), ctypes.c_long(numbers["flags"] | signal.SIGCHLD), 0, 0, 0, 0)
    error = ctypes.get_errno()
    if child == 0:
        python.PyOS_AfterFork_Child()
    else:
        python.PyOS_AfterFork_Parent()
    if child < 0:
        raise OSError(error, f"clone: {os.strerror(error)}")
    return child


_status = (ctypes.c_int * 1)()
_usage = (ctypes.c_long * 36)()  # Two times of seconds and microseconds, then the largest resident set, then others.


def wait_apart(child):
    """As `wait`, without the object that os.wait4 loses at every call in Python 3.12: forks must start from equal memory."""
    while _library.wait4(child, _status, 0, _usage) != child:
        pass
    seconds, microseconds = _usage[0] + _usage[2], _usage[1] + _usage[3]
    return _status[0], seconds * 1_000_000 + microseconds, _usage[4]


class _Ruleset(ctypes.Structure):
    _fields_ = [("files", ctypes.c_uint64), ("network", ctypes.c_uint64), ("scoped", ctypes.c_uint64)]


class _Beneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = [("access", ctypes.c_uint64), ("parent", ctypes.c_int32)]


def restrict(rights):
    """Landlock: all of the view may be read, the private directory and devices written, nobody outside be signalled."""
    # Older kernels take only what they know: a structure that ends where the last of it that is used does.
    size = 24 if rights["scoped"] else 8
    attributes = _Ruleset(rights["handled"], 0, rights["scoped"])
    ruleset = _library.syscall(ctypes.c_long(444), ctypes.byref(attributes), ctypes.c_size_t(size), ctypes.c_uint32(0))
    _checked(0 if ruleset >= 0 else ruleset, "landlock_create_ruleset")
    os.set_inheritable(ruleset, False)
    for place, access in [("/", rights["read"])] + [(place, rights["handled"]) for place in rights["writable"]]:
        parent = os.open(place, os.O_PATH | os.O_CLOEXEC)
        rule = _Beneath(access, parent)
        added = _library.syscall(ctypes.c_long(445), ctypes.c_int(ruleset), ctypes.c_int(1), ctypes.byref(rule), ctypes.c_uint32(0))
        _checked(added, "landlock_add_rule")
        os.close(parent)
    _checked(_library.syscall(ctypes.c_long(446), ctypes.c_int(ruleset), ctypes.c_uint32(0)), "landlock_restrict_self")
    os.close(ruleset)


def confine(numbers, limits):
    """Private /tmp, no identity, no capability, limits. Whatever fails here is our fault, before the program is read."""
    options = f"size={limits['tmp_bytes']},nr_inodes=4096,mode=1777".encode()
    _checked(_library.mount(b"tmpfs", b"/tmp", b"tmpfs", ctypes.c_ulong(_MS_NOSUID | _MS_NODEV), options), "mount /tmp")
    os.chdir("/tmp")
    os.setsid()
    for name, value in limits["resources"].items():
        kind = getattr(resource, "RLIMIT_" + name, None)
        if kind is not None:
            hard = resource.getrlimit(kind)[1]
            most = value[1] if hard == resource.RLIM_INFINITY else min(value[1], hard)
            resource.setrlimit(kind, (min(value[0], most), most))
    if numbers["uid"] is not None:
        os.setgroups([])
        os.setresgid(numbers["uid"], numbers["uid"], numbers["uid"])
        os.setresuid(numbers["uid"], numbers["uid"], numbers["uid"])
    if numbers["landlock"] is not None:
        restrict(numbers["landlock"])
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    _checked(_library.capset(header, (ctypes.c_uint32 * 6)()), "capset")
    _checked(_library.prctl(_PR_SET_PDEATHSIG, ctypes.c_ulong(signal.SIGKILL), 0, 0, 0), "prctl")
    for text in numbers["filters"]:
        program = bytes.fromhex(text)
        installed = _library.prctl(_PR_SET_SECCOMP, ctypes.c_ulong(_FILTER), ctypes.byref(_Filter(len(program) // 8, program)), 0, 0)
        _checked(installed, "seccomp")
