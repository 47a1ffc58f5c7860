# Checkers: texts of tasks that say whether an output is right. They run here, apart from every candidate.

class Checker:
    """The text of a checker, ready to be asked."""

    def __init__(self, request):
        self.code = compile(request["checker"], "checker.py", "exec", dont_inherit=True)

    def answer(self, question):
        """What `check(stdin, stdout)` says: whether the output is right, and why."""
        scope = {"__name__": "checker", "__builtins__": builtins}
        sys.modules["random"].seed(0)
        exec(self.code, scope)
        said = scope["check"](question["stdin"], question["stdout"])
        right, message = said if type(said) is tuple and len(said) == 2 else (said, None)
        if type(right) is not bool or type(message) not in (str, type(None)):
            raise TypeError(f"check must give a bool, or a bool and a text, not {short(said)}")
        return {"right": right, "message": message and message[:MAX_TEXT]}


def ask(checker, failure, channel):
    """Answers the one question of a process."""
    try:
        if failure is not None:
            raise ValueError(f"it cannot be compiled: {failure}")
        answer = checker.answer(channel.receive())
    except BaseException as error:
        answer = {"fault": fault(error)}
    try:
        channel.send(answer)
    finally:
        os._exit(0)


def fault(error):
    lines, trace = [], error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == "checker.py":
            lines.append(trace.tb_lineno)
        trace = trace.tb_next
    place = f" (line {lines[-1]} of the checker)" if lines else ""
    return f"{type(error).__name__}: {error}"[:MAX_TEXT] + place
