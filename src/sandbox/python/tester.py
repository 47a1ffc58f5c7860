# The tests' process: runs test code against a proxy of the candidate. It is given only decoded literals.
import builtins
import gc
import json
import reprlib
import sys

MAX_TEXT = 2_000
MAX_SHOWN_ITEMS = 200_000
MAX_REQUEST = 8 << 20


class Stop(BaseException):
    """Ends the run of the tests: what was not reached is not run."""


class Gone(BaseException):
    """The candidate's process ended instead of answering."""


def spreads(value):
    """Whether the text of a value is far longer than the value: parts that are shared are written out each time."""
    waiting, seen = [value], 0
    while waiting:
        item = waiting.pop()
        if isinstance(item, (list, tuple, set, frozenset)):
            seen += len(item)
        elif isinstance(item, dict):
            seen += 2 * len(item)
            waiting.extend(item)
            item = item.values()
        else:
            continue
        if seen > MAX_SHOWN_ITEMS:
            return True
        waiting.extend(item)
    return False


def short(value):
    try:
        text = reprlib.repr(value) if spreads(value) else repr(value)
    except BaseException as error:
        text = f"<{type(value).__name__} whose text failed: {type(error).__name__}>"
    return text if len(text) <= MAX_TEXT else text[:MAX_TEXT] + "..."


# The candidate as the tests see it.

class Remote:
    """A function, class or object that lives in the candidate's process."""

    __slots__ = ("_run", "_on", "__name__", "_true")

    def __init__(self, run, on, name, true=False):
        object.__setattr__(self, "_true", true)
        object.__setattr__(self, "_run", run)
        object.__setattr__(self, "_on", on)
        object.__setattr__(self, "__name__", name)

    def __call__(self, *arguments, **named):
        return self._run.ask("call", self._on, arguments, named)

    def __getattr__(self, name):
        if name.startswith("__") or type(self._on) is str:
            raise AttributeError(name)
        return self._run.ask("attr", self._on, (name,), {})

    def __setattr__(self, name, value):
        self._run.ask("set", self._on, (name, value), {})

    def __eq__(self, other):
        return self is other or (type(other) is Remote and type(self._on) is int and self._on == other._on)

    def __hash__(self):
        return hash(self._on)

    def __repr__(self):
        return f"<{self.__name__} object>"

    def _opaque(self, *_):
        raise Unsupported(f"an object of the program's own type {self.__name__} cannot be compared with the tests' values")

    def __bool__(self):
        return True if self._true else self._opaque()

    __len__ = __iter__ = __next__ = __getitem__ = __setitem__ = __contains__ = __lt__ = __le__ = _opaque
    __gt__ = __ge__ = __ne__ = __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __int__ = __float__ = _opaque


class Run:
    """One execution of a suite: what the rewritten code calls."""

    def __init__(self, suite, channel):
        self.suite, self.channel = suite, channel
        self.scope = {}
        self.current = None
        self.passed, self.failed = set(), {}
        self.asked = self.asked_before = self.asked_halfway = 0
        self.stopped = False
        self.poisoned = {}
        self.gone = None
        self.last = None
        self.handles = {}
        self.given = []

    # What assertions call.

    def begin(self, number):
        if self.stopped:
            raise Stop
        if number in self.failed:
            return False
        self.current, self.gone, self.last = number, None, None
        self.asked_before = self.asked_halfway = self.asked
        return True

    def half(self):
        """Between the two sides of a comparison: the side that asks the candidate is the actual one."""
        self.asked_halfway = self.asked

    def end(self, number, outcome, wants, *shown):
        right = bool(outcome)
        self.current = None
        if number in self.failed:
            return
        if self.gone:
            self.fail(number, *self.gone)
        elif right:
            if number not in self.passed:
                self.passed.add(number)
                self.channel.send({"passed": number})
        else:
            expected = actual = None
            if shown:
                kind, _, swapped = wants.partition(":")
                left, right = self.asked_halfway - self.asked_before, self.asked - self.asked_halfway
                if left != right and not (left and right):
                    swapped = right > 0
                actual, expected = reversed(shown) if swapped else shown
                actual, expected = short(actual), short(expected)
                if kind not in ("Eq", "Is"):
                    sign = SIGNS[kind] if not swapped else MIRRORED.get(kind, SIGNS[kind])
                    expected = f"{sign} {expected}"
            elif wants:
                actual, expected = short(self.last), wants
            elif self.last is not None:
                actual = short(self.last)
            self.fail(number, "wrong", None, expected, actual)

    def crash(self, number, error):
        self.current = None
        if isinstance(error, Stop):
            raise error
        verdict, message = self.word(error)
        self.fail(number, verdict, message)
        if self.stopped:
            raise Stop

    def fail(self, number, verdict, message, expected=None, actual=None):
        if number not in self.failed:
            self.failed[number] = verdict
            self.passed.discard(number)
            self.channel.send(
                {"failed": number, "verdict": verdict, "message": message, "expected": expected, "actual": actual})

    def fail_at_once(self, verdict, message):
        """For what tests may catch, and must not: they would take it for an exception of the program."""
        for number in self.at():
            self.fail(number, verdict, message)

    def word(self, error):
        if self.gone:
            return self.gone
        if isinstance(error, Unsupported):
            return "unsupported_return", str(error)
        if isinstance(error, NameError):
            name = str(error).partition("'")[2].partition("'")[0]
            if name in self.poisoned:
                return self.poisoned[name]
        verdict = getattr(error, "_rolecall_verdict", "crashed")
        text = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        line = getattr(error, "_rolecall_line", None)
        text = text[:MAX_TEXT]
        return verdict, f"{text} (line {line} of the program)" if line else text

    # What proxies call.

    def ask(self, action, on, arguments, named):
        if self.stopped:
            raise Stop
        table = Table(self)
        try:
            references = [table.put(value) for value in arguments]
            options = {name: table.put(value) for name, value in named.items()}
            rows = table.rows()
        except Unsupported as error:
            raise Invalid(f"the tests pass what cannot be carried: {error}") from None
        request = {"id": self.asked, "do": action, "on": on, "args": references, "rows": rows, "named": options}
        number, self.asked = self.asked, self.asked + 1
        verdict = self.exchange(number, request)
        while verdict["reply"] == "back":
            verdict = self.exchange(number, self.called_back(number, self.channel.receive()))
        if verdict["reply"] == "gone":
            self.gone = verdict["verdict"], verdict["message"]
            self.stopped = verdict["stop"]
            self.fail_at_once(*self.gone)
            raise Gone
        if verdict["reply"] == "unsupported":
            self.fail_at_once("unsupported_return", verdict["message"])
            raise Unsupported(verdict["message"])
        if verdict["reply"] == "raised":
            raise exception(verdict["raised"])
        reply = self.channel.receive()
        reader = Reader(self, table.objects)
        try:
            reader.add(len(table.objects), reply["rows"], reply["changed"])
            result = reader.get(reply["ok"])
        except Exception as error:
            malformed = error if isinstance(error, Unsupported) else Unsupported(f"a malformed value: {type(error).__name__}")
            self.fail_at_once("unsupported_return", str(malformed))
            raise malformed from None
        self.last = result
        return result

    def exchange(self, number, request):
        """Sends a request and gives the judge's reply."""
        header = {"call": number, "at": self.at(), "passed": len(self.passed), "failed": len(self.failed)}
        text = _write(request)
        if len(text) > MAX_REQUEST:
            raise Unsupported("the values are too large to be given back to the program")
        # The header is for the judge alone; the second line goes to the candidate as it is.
        self.channel.send_text(_write(header) + "\n" + text)
        verdict = self.channel.receive()
        if verdict is None:
            os._exit(0)
        return verdict

    def called_back(self, number, request):
        """Calls a function of the tests for the candidate; what goes over is copied."""
        resume = {"id": number, "resume": True}
        try:
            reader = Reader(self)
            reader.add(0, request["rows"])
            result = self.given[request["back"]](*[reader.get(ref) for ref in request["args"]])
            table = Table(self)
            resume["ok"] = table.put(result)
            resume["rows"] = table.rows()
        except Exception as error:
            resume["raised"] = [type(error).__name__, str(error)]
        return resume

    def name(self, name):
        return self.ask("get", name, (), {})

    def foreign(self, value, table):
        kind = type(value)
        if kind is Remote:
            return ["h", value._on]
        if kind.__name__ in self.support and self.class_named(kind.__name__) is kind:
            flat = [part for field, item in fields(value).items() for part in (field, table.put(item))]
            return ["n", kind.__name__, *flat]
        if callable(value) and not isinstance(value, type):
            self.given.append(value)
            return ["cb", len(self.given) - 1]
        return None

    def class_named(self, name):
        return self.scope.get(name, self.support.get(name))

    def foreign_value(self, tag, parts):
        if tag == "h":
            number = parts[0]
            if number not in self.handles:
                self.handles[number] = Remote(self, number, str(parts[1]), parts[2] is True)
            return self.handles[number]
        if tag == "mod" and parts[0] in STANDARD_MODULES:
            return _module(parts[0])
        raise Unsupported("a value that cannot be compared with the tests' values")

    def instance(self, name):
        if name not in self.support:
            raise Unsupported(f"a {name} that the tests do not know")
        kind = self.class_named(name)
        return kind.__new__(kind)

    def set_fields(self, value, held):
        fill_fields(value, held)

    # The run.

    def play(self):
        scope = self.scope
        scope.update({"__name__": "tests", "__builtins__": builtins, "__rolecall": self, "__rolecall_name": self.name})
        sys.modules["random"].seed(0)
        exec(self.suite.support, scope)
        self.support = {
            name: kind for name, kind in scope.items() if isinstance(kind, type) and kind.__module__ == "tests"
        }
        exec(self.suite.prompt, scope)
        if self.suite.entry:
            scope[self.suite.entry] = Remote(self, self.suite.entry, self.suite.entry)
        for code, names, first, last in self.suite.statements:
            self.gone = None
            try:
                exec(code, scope)
            except Stop:
                return
            except Invalid:
                raise
            except BaseException as error:
                self.charge(error, names, first)
                if self.stopped:
                    return

    def charge(self, error, names, line):
        """An exception outside of any assertion: the assertions that it kept from running have its verdict."""
        verdict, message = self.word(error)
        for name in names:
            self.scope.pop(name, None)
            self.poisoned[name] = verdict, message
        lines, trace = [], error.__traceback__
        while trace is not None:
            if trace.tb_frame.f_code.co_filename == "tests.py":
                lines.append(trace.tb_lineno)
            trace = trace.tb_next
        kept = self.kept_from_running(lines[::-1] or [line])
        for number in kept:
            self.fail(number, verdict, message)
        if kept:
            return
        left = [number for number in range(len(self.suite.places)) if number not in self.failed]
        behind = [number for number in left if self.suite.places[number][0] > line]
        for number in (behind or left[::-1])[:1]:
            self.fail(number, verdict, message)

    def kept_from_running(self, lines):
        """The assertions that follow in the innermost of the places: all of a function, the next one of the module."""
        for at in lines:
            around = self.function_around(at)
            after = [
                number for number, (first, _, function) in enumerate(self.suite.places)
                if function == around and first > at and number not in self.failed
            ]
            if after:
                return after if around else after[:1]
        return []

    def at(self):
        """The assertions that a call is made for: the one at work, or those that follow the calling line."""
        if self.current is not None:
            return [self.current]
        lines, frame = [], sys._getframe(1)
        while frame is not None:
            if frame.f_code.co_filename == "tests.py":
                lines.append(frame.f_lineno)
            frame = frame.f_back
        return self.kept_from_running(lines)

    def function_around(self, line):
        return max((span for span in self.suite.functions if span[0] <= line <= span[1]), default=None)


# Modules that the tests may read under a name of the candidate's: importing them does nothing else.
STANDARD_MODULES = {
    "bisect", "cmath", "collections", "copy", "datetime", "decimal", "fractions", "functools", "heapq", "itertools", "json",
    "math", "operator", "random", "re", "statistics", "string", "sys", "time", "typing",
}


class Invalid(BaseException):
    """The tests themselves cannot be run."""


SIGNS = {"NotEq": "!=", "Lt": "<", "LtE": "<=", "Gt": ">", "GtE": ">=", "In": "in", "NotIn": "not in", "IsNot": "is not"}
MIRRORED = {"Lt": ">", "LtE": ">=", "Gt": "<", "GtE": "<=", "In": "contains", "NotIn": "does not contain"}


def exception(raised):
    """An exception of the candidate as one of the same name and nearest built-in type."""
    base = getattr(builtins, raised["base"], Exception)
    if not (isinstance(base, type) and issubclass(base, Exception)):
        base = Exception
    name, text = str(raised["name"]), raised["text"]
    try:
        plain = base.__name__ == name and base is not KeyError
        error = base(text) if plain else type(name, (base,), {"__str__": lambda self: text})(text)
    except Exception:
        error = type(name, (Exception,), {})(text)
    error._rolecall_line = raised["line"]
    error._rolecall_verdict = raised["verdict"]
    return error


# The server.

def serve_tests():
    for name in ("collections", "copy", "datetime", "decimal", "fractions", "itertools", "math", "random", "re", "string", "resource"):
        __import__(name)
    sys.path[:] = [place for place in sys.path if place]
    control = _socket.socket(fileno=0)
    suites = {}
    gc.collect()
    gc.freeze()
    while True:
        data, owned = descriptors(control, 1 << 16)
        if not data:
            os._exit(0)
        while not data.endswith(b"\n"):
            data += control.recv(1 << 16)
        request = json.loads(data)
        key, failure = request["key"], None
        if key not in suites:
            if len(suites) >= 64:
                suites.pop(next(iter(suites)))
            try:
                suites[key] = Checker(request) if "checker" in request else Suite(request)
            except Exception as error:
                failure = f"{type(error).__name__}: {error}"
        child = os.fork()
        if child:
            finish(control, child, owned)
            continue
        control.detach()
        import resource
        resource.setrlimit(resource.RLIMIT_CPU, (request["cpu_secs"], request["cpu_secs"] + 1))
        work = ask if "checker" in request else play
        work(suites.get(key), failure, Channel(owned[0]))


def play(suite, failure, channel):
    try:
        if failure is None:
            Run(suite, channel).play()
            channel.send({"end": True})
        else:
            channel.send({"invalid": f"the test text cannot be compiled: {failure}"})
    except Invalid as error:
        channel.send({"invalid": str(error)})
    except BaseException as error:
        channel.send({"invalid": f"{type(error).__name__}: {error}"})
    finally:
        os._exit(0)
