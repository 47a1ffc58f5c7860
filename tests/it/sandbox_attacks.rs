//! More attacks: on what carries values between the processes, on the channel itself, and on resources that limits by
//! process do not count.

use rolecall::domain::Verdict;

use super::sandbox::{attack, attacks};

attacks! {
    reduces_to_an_exit => Wrong: r#"
import os
class R:
    def __reduce__(self): os._exit(0)
    __reduce_ex__ = __getstate__ = __copy__ = __deepcopy__ = __reduce__
def f(n): return R()
"#;
    names_its_class_by_code => UnsupportedReturn: r#"
class M(type):
    __name__ = property(lambda self: 'int')
    __module__ = property(lambda self: 'builtins')
    def __eq__(self, other): return True
    def __hash__(self): return hash(int)
class R(metaclass=M): pass
def f(n): return R()
"#;
    returns_a_huge_int => UnsupportedReturn: "def f(n):\n    return 1 << 40_000_000\n";
    returns_a_deep_tuple => Wrong: "def f(n):\n    v = ()\n    for _ in range(100_000):\n        v = (v,)\n    return v\n";
    returns_what_doubles_at_every_level => Wrong: "def f(n):\n    v = [1]\n    for _ in range(60):\n        v = [v, v]\n    return v\n";
    returns_keys_that_equal_nothing => Wrong: "def f(n):\n    return {float('nan'): k for k in range(50)}\n";
    returns_a_text_of_its_own_type => UnsupportedReturn: "class S(str):\n    def __eq__(self, o): return True\n    __hash__ = str.__hash__\ndef f(n): return S('2')\n";
    returns_an_endless_iterator => UnsupportedReturn: "import itertools\ndef f(n):\n    return map(str, itertools.count())\n";
    recurses_in_its_own_text => Wrong: "class R:\n    def __repr__(self): return repr(self)\n    __str__ = __repr__\ndef f(n): return [R()]\n";
    raises_text_of_a_hostile_type => Forbidden: r#"
class T(str):
    def __getitem__(self, at): return {'verdict': 'passed'}
class E(Exception):
    def __str__(self): return T('x')
def f(n): raise E
"#;
    raises_a_class_of_a_hostile_name => Crashed: r#"
class M(type):
    __name__ = property(lambda self: 1 / 0)
class E(Exception, metaclass=M): pass
def f(n): raise E('x')
"#;
    raises_out_of_signals_without_end => Crashed: r#"
import signal, time
def late(*_): raise RuntimeError('late')
signal.signal(signal.SIGALRM, late)
def f(n):
    signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
    time.sleep(1)
"#;
    leaves_a_busy_thread => Passed: r#"
import threading
def spin():
    while True: pass
def f(n):
    threading.Thread(target=spin, daemon=True).start()
    return n + 1
"#;
    answers_twice_from_a_thread => Forbidden: r#"
import os, stat, threading, time
def late():
    for d in range(3, 64):
        try:
            if stat.S_ISSOCK(os.fstat(d).st_mode): os.write(d, b'{"id":1,"ok":2,"rows":[],"changed":[]}\n')
        except OSError: pass
def f(n):
    threading.Thread(target=late).start()
    time.sleep(0.2)
    return 1
"#;
    traces_its_caller => Wrong: r#"
import sys, threading
def look(frame, event, value):
    for name in ('reply', 'ok', 'result', 'verdict'):
        if name in frame.f_locals: frame.f_locals[name] = {'ok': 2, 'reply': 'passed'}
    return look
def f(n):
    frame = sys._getframe()
    while frame:
        frame.f_trace = look
        frame = frame.f_back
    sys.settrace(look)
    sys.setprofile(look)
    return 1
"#;
    hooks_the_collector => Wrong: "import gc\ngc.callbacks.append(lambda *_: 1 / 0)\ngc.set_threshold(1)\ndef f(n):\n    return [[k] for k in range(1000)]\n";
    puts_nothing_in_place_of_the_channel => Crashed: r#"
import os
def f(n):
    nothing = os.open('/dev/null', os.O_RDWR)
    for d in range(3, 64):
        if d != nothing: os.dup2(nothing, d)
    return 2
"#;
    searches_memory_for_the_tests => Passed: r#"
import ctypes
def f(n):
    found = []
    try: lines = open('/proc/self/maps').read().splitlines()
    except OSError: lines = []
    wanted = bytes(reversed(b'2 == )1(f tressa'))
    for line in lines:
        span, rights = line.split()[:2]
        low, high = (int(part, 16) for part in span.split('-'))
        if rights.startswith('r') and '[v' not in line and high - low < 64 << 20:
            if wanted in ctypes.string_at(low, high - low): found.append(line)
    return found or 2
"#;
    reads_other_processes => Passed: r#"
import os
def f(n):
    found = []
    for pid in os.listdir('/proc') if os.path.isdir('/proc') else []:
        if pid.isdigit() and int(pid) != os.getpid(): found.append(pid)
    for name in ('/proc/1/environ', '/proc/1/cwd/etc/passwd', '/proc/1/root/etc/shadow'):
        try: found.append(open(name).read()[:9])
        except OSError: pass
    return found or 2
"#;
    reads_address_zero => Crashed: "import ctypes\ndef f(n):\n    return ctypes.string_at(0)\n";
    raises_its_own_limits => TimeoutCpu: r#"
import resource
def f(n):
    for kind in (resource.RLIMIT_CPU, resource.RLIMIT_AS, resource.RLIMIT_NPROC, resource.RLIMIT_FSIZE):
        try: resource.setrlimit(kind, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        except (OSError, ValueError): pass
    while True: pass
"#;
    hides_memory_in_files_without_a_name => Passed: r#"
import os
def f(n):
    held, total = [], 0
    try:
        while total < 100:
            held.append(os.memfd_create('m'))
            for _ in range(15): total += os.write(held[-1], bytes(1 << 20)) >> 20
    except (OSError, AttributeError): pass
    return total if total >= 100 else 2
"#;
    hides_memory_in_shared_segments => Passed: r#"
import ctypes
def f(n):
    c = ctypes.CDLL(None, use_errno=True)
    c.shmat.restype = ctypes.c_void_p
    total = 0
    for _ in range(8):
        segment = c.shmget(0, 100 << 20, 0o1600)
        if segment < 0: break
        place = c.shmat(segment, None, 0)
        if place in (None, ctypes.c_void_p(-1).value): break
        ctypes.memset(place, 1, 100 << 20)
        c.shmdt(ctypes.c_void_p(place))
        total += 100
    return total if total > 500 else 2
"#;
}
