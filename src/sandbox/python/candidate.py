# The candidate's process: given the program's text and the inputs of its calls, never a test or an expected value.
import builtins
import sys


_GENERATOR = type(_ for _ in ())


class Untraced:
    """What a tracer is when nothing is traced."""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return False


class Candidate:
    """The program as a module, and what the tests hold of it."""

    def __init__(self, job, channel, traced):
        import os
        self.me, self.process_id, self.leave = os.getpid(), os.getpid, os._exit
        self.streams = sys.stdout, sys.stderr
        self.asked = None
        self.channel = channel
        self.job = job
        self.traced = traced
        self.handles = []
        self.handle_numbers = {}
        self.support = {}
        self.module = type(sys)(job["module"])
        self.module.__file__ = "program.py"
        sys.modules[job["module"]] = self.module

    # Loading.

    def load(self):
        scope = vars(self.module)
        scope["__builtins__"] = builtins
        if self.job.get("support"):
            try:
                exec(compile(self.job["support"], "support.py", "exec"), scope)
            except Exception as error:
                return {"fault": f"the support text fails: {type(error).__name__}: {error}"}
            home = self.module.__name__
            self.support = {
                name: kind for name, kind in scope.items() if isinstance(kind, type) and kind.__module__ == home
            }
        self.channel.send({"confined": True})  # From here on a fault is the program's.
        try:
            code = compile(self.job["source"], "program.py", "exec", dont_inherit=True)
        except (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError) as error:
            return {"compile": syntax_text(error)}
        try:
            with self.traced:
                exec(code, scope)
        except EOFError:
            pass  # A read at module level: there is no input here, and what is defined already may be called.
        except BaseException as error:
            return {"raised": raised(error)}
        return {"ready": True}

    # Values.

    def foreign(self, value, table):
        kind = type(value)
        name = kind.__name__
        if self.support.get(name) is kind or (name in self.support and kind.__module__ == self.module.__name__):
            if not is_data(value):
                flat = [part for field, item in fields(value).items() for part in (field, table.put(item))]
                return ["n", name, *flat]
        if is_data(value):
            return None
        if kind.__module__ == self.module.__name__ or callable(value) or is_match(kind):
            number = self.handle_numbers.get(id(value))
            if number is None:
                number = self.handle_numbers[id(value)] = len(self.handles)
                self.handles.append(value)
            return ["h", number, name, is_match(kind)]
        return None

    def foreign_value(self, tag, parts):
        if tag == "h":
            return self.handles[parts[0]]
        if tag == "cb":
            return Callback(self, parts[0])
        raise Unsupported("an argument that cannot be carried")

    def instance(self, name):
        kind = self.support[name]
        return kind.__new__(kind)

    def set_fields(self, value, held):
        fill_fields(value, held)

    # Requests.

    def serve(self, request):
        """Performs one request and answers it."""
        outer, self.asked = self.asked, request["id"]
        try:
            reply = self.perform(request)
        except Unsupported as error:
            reply = {"unsupported": str(error)}
        except BaseException as error:
            reply = {"raised": raised(error)}
        self.asked = outer
        if self.process_id() != self.me:
            self.leave(0)  # A child that the program forked came back here: only the parent answers.
        self.reply(request["id"], reply)

    def reply(self, number, reply):
        for stream in self.streams:
            try:
                stream.flush()
            except Exception:
                pass
        reply["id"] = number
        text = _write(reply)
        if len(text) > MAX_BYTES:
            text = _write({"id": number, "unsupported": "the value is too large"})
        self.channel.send_text(text)

    def call_back(self, function, arguments):
        """Asks the tests to call one of their functions; answers what they ask meanwhile."""
        number, table = self.asked, Table(self)
        references = [table.put(value) for value in arguments]
        self.reply(number, {"back": function, "args": references, "rows": table.rows()})
        while True:
            request = self.channel.receive()
            if request is None:
                self.leave(0)
            if "resume" not in request:
                self.serve(request)
            elif "raised" in request:
                name, text = request["raised"]
                kind = getattr(builtins, name, Exception)
                raise (kind if isinstance(kind, type) and issubclass(kind, Exception) else Exception)(text)
            else:
                reader = Reader(self)
                reader.add(0, request["rows"])
                return reader.get(request["ok"])

    def perform(self, request):
        reader = Reader(self)
        reader.add(0, request["rows"])
        arguments = [reader.get(ref) for ref in request["args"]]
        options = {name: reader.get(ref) for name, ref in request["named"].items()}
        action, on = request["do"], request["on"]
        if action == "get":
            result = self.named(on)
        elif action == "attr":
            result = getattr(self.handles[on], *arguments)
        elif action == "set":
            result = setattr(self.handles[on], *arguments)
        else:
            target = self.named(on) if type(on) is str else self.handles[on]
            with self.traced:
                result = target(*arguments, **options)
                if type(result) is _GENERATOR:
                    result = iter(drain(result))
        return self.answer(request, reader.objects, result)

    def named(self, name):
        try:
            return vars(self.module)[name]
        except KeyError:
            raise NameError(f"name '{name}' is not defined") from None

    def answer(self, request, objects, result):
        table = Table(self, objects)
        ok = table.put(result)
        changed = []
        for number, row in enumerate(request["rows"]):
            if row[0] in _MUTABLE:
                now = table.describe(objects[number])
                if _write(now) != _write(row):
                    changed.append([number, now])
        return {"ok": ok, "rows": table.rows(table.known), "changed": changed}


def is_match(kind):
    """Whether it is what a search of the standard library finds: an object that counts as true, and travels as a handle."""
    return kind.__module__ == "re" and kind.__name__ == "Match"


class Callback:
    """A function of the tests that was given to the candidate. What it is given and gives back are copies."""

    def __init__(self, candidate, number):
        self.candidate, self.number = candidate, number

    def __call__(self, *arguments):
        return self.candidate.call_back(self.number, arguments)


def syntax_text(error):
    line = getattr(error, "lineno", None)
    where = f" (line {line})" if line else ""
    return f"{type(error).__name__}: {getattr(error, 'msg', None) or error}{where}"[:2000]


def raised(error):
    """An exception as plain text: its name, the nearest built-in exception type, its message, the program's line."""
    kind = type(error)
    base = next((item.__name__ for item in kind.__mro__ if item.__module__ == "builtins"), "Exception")
    try:
        text = str(error)
    except BaseException:
        text = ""
    line, trace = None, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == "program.py":
            line = trace.tb_lineno
        trace = trace.tb_next
    number = getattr(error, "errno", None)
    return {"name": str(kind.__name__)[:200], "base": base, "text": text[:2000], "line": line,
            "errno": number if type(number) is int else None}


def answer_calls(job, channel, traced):
    """Loads the program, then answers the calls one by one until the channel ends."""
    candidate = Candidate(job, channel, traced)
    channel.send(candidate.load())
    while True:
        request = channel.receive()
        if request is None:
            candidate.leave(0)
        candidate.serve(request)


def run_program(job, channel, traced):
    """Runs the text as a whole program on standard input and output, and ends the process as the program would."""
    import atexit
    import os
    sys.argv = ["program.py"]
    main = sys.modules["__main__"] = type(sys)("__main__")
    main.__file__ = "program.py"
    vars(main)["__builtins__"] = builtins
    status = 0
    channel.send({"confined": True})  # From here on a fault is the program's.
    try:
        code = compile(job["source"], "program.py", "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError) as error:
        channel.send({"compile": syntax_text(error)})
        os._exit(1)
    me = os.getpid()
    try:
        with traced:
            exec(code, vars(main))
    except SystemExit as error:
        status = error.code if type(error.code) is int else 0 if error.code is None else 1
        if status == 1 and type(error.code) is not int:
            print(error.code, file=sys.stderr)
    except BaseException as error:
        status = 1
        if os.getpid() == me:
            channel.send({"raised": raised(error)})
        sys.excepthook(type(error), error, error.__traceback__.tb_next)
    threading = sys.modules.get("threading")
    try:
        if threading is not None:
            threading._shutdown()
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
    except BaseException:
        status = status or 1
    os._exit(status & 0xFF)


def leave(code=None):
    """What `exit` and `quit` are without the site module."""
    raise SystemExit(code)
