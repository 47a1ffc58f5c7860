# The server of candidates' processes: one child per request, in name spaces of its own.
import gc
import json
import sys

PRELOADED = (
    "abc", "array", "bisect", "collections", "collections.abc", "copy", "dataclasses", "datetime", "decimal", "enum",
    "fractions", "functools", "heapq", "io", "itertools", "math", "operator", "random", "re", "statistics", "string",
    "time", "types", "typing",
)


def serve_candidates():
    import builtins
    import importlib
    settings = json.loads(sys.argv[1])
    for name in PRELOADED:
        try:
            importlib.import_module(name)
        except ImportError:
            pass
    sys.path[:] = [place for place in sys.path if place]
    builtins.exit = builtins.quit = leave
    control = _socket.socket(fileno=0)
    gc.disable()
    gc.collect()
    gc.freeze()
    while True:
        serve_one(control, settings)


def serve_one(control, settings):
    """One request. A function of its own, so that nothing of it is left when the next one comes."""
    data, owned = descriptors(control, 1)
    if not data:
        os._exit(0)
    child = fork_apart(settings)
    if child:
        finish(control, child, owned, wait_apart)
    else:
        control.detach()
        gc.collect()
        gc.enable()
        become_candidate(settings, owned)


def become_candidate(settings, owned):
    channel_at, *streams = owned[:4]
    for place, descriptor in enumerate(streams):
        os.dup2(descriptor, place)
        os.close(descriptor)
    channel = Channel(channel_at)
    try:
        job = channel.receive()
        if job is None:
            os._exit(0)
        sys.modules["random"].seed(0)  # It takes a seed of its own in every forked process.
        traced = Tracer(owned[4]) if len(owned) > 4 else Untraced()
        confine(settings, job["limits"])
    except BaseException as error:
        channel.send({"fault": f"{type(error).__name__}: {error}"})
        os._exit(1)
    end = os._exit
    try:
        if job["mode"] == "program":
            run_program(job, channel, traced)
        else:
            answer_calls(job, channel, traced)
    except BaseException:
        pass  # The program broke what it found here: no answer is an answer.
    end(1)
