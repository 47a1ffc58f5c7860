"""Plays two arrangements against a small real model and looks at the shape of what comes. Called by scripts/small_model."""

import collections
import json
import pathlib
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

TASKS = ["robot-walk", "word-wrap", "bank-ledger"]
RUNS = {
    "seidr": "programs=6",
    "intervenor": "generations=2,programs=4",
}
OUTCOMES = {"tests_passed", "budget_programs", "budget_generations", "nothing_left", "no_improvement"}


def check(condition, what):
    if not condition:
        sys.exit(f"small model: {what}")


def spans_of(path):
    for line in pathlib.Path(path).read_text().splitlines():
        for resource in json.loads(line)["resourceSpans"]:
            for scope in resource["scopeSpans"]:
                for span in scope["spans"]:
                    values = {one["key"]: next(iter(one["value"].values()), None) for one in span["attributes"]}
                    yield span["name"], values


def wait_until_ready(process, base):
    for _ in range(600):
        check(process.poll() is None, "the server ended by itself")
        try:
            with urllib.request.urlopen(f"{base}/health", timeout=2) as answer:
                if answer.status == 200:
                    return
        except OSError:
            pass
        time.sleep(0.2)
    sys.exit("small model: the server does not become ready")


def play(rolecall, folder, topology, budget):
    command = [rolecall, "run", "--topology", topology, "--model", f"{folder}/small.toml", "--tasks", "examples/tasks"]
    command += [word for task in TASKS for word in ("--task-id", task)]
    command += ["--budget", budget, "--seed", "1", "--json", "--traces", f"{folder}/{topology}", "--store", f"{folder}/store"]
    output = subprocess.run(command, capture_output=True, text=True)
    check(output.returncode == 0, f"{topology} ended with {output.returncode}: {output.stderr}")
    events = [json.loads(line) for line in output.stdout.splitlines()]
    conversations = [event for event in events if event["event"] == "conversation_finished"]
    check(len(conversations) == len(TASKS), f"{topology}: {len(conversations)} conversations")
    for event in conversations:
        name = f"{topology} on {event['task']}"
        check(event["outcome"] in OUTCOMES, f"{name}: {event['outcome']} ({event['outcome_detail']})")
        check(event["model_calls"] > 0 and event["calls_without_usage"] == 0, f"{name}: calls {event['model_calls']}")
        check(event["input_tokens"] > 0 and event["output_tokens"] > 0, f"{name}: no tokens")
        names = collections.Counter()
        for span, values in spans_of(event["trace"]):
            names[span.split(" ")[0]] += 1
            if span.startswith("chat "):
                check(span == "chat smollm2-135m", f"{name}: {span}")
                for key in ("gen_ai.usage.input_tokens", "gen_ai.usage.output_tokens", "gen_ai.response.model", "rolecall.finish"):
                    check(values.get(key), f"{name}: a chat span without {key}")
        check(names["chat"] == event["model_calls"], f"{name}: {names['chat']} chat spans, {event['model_calls']} calls")
        check(names["invoke_workflow"] == 1 and names["execute_tool"] > 0, f"{name}: spans {dict(names)}")
        print(
            f"{name}: {event['outcome']}, {event['programs']} programs, {event['model_calls']} calls, "
            f"{event['input_tokens']} + {event['output_tokens']} tokens, {sum(names.values())} spans, {event['seconds']:.1f} s"
        )


def main(server, weights, rolecall):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    base = f"http://127.0.0.1:{port}"
    with tempfile.TemporaryDirectory() as folder:
        log = open(f"{folder}/server.log", "wb")
        command = [server, "-m", weights, "--alias", "smollm2-135m", "--host", "127.0.0.1", "--port", str(port)]
        process = subprocess.Popen(command + ["-t", "1", "-c", "16384", "-np", "4"], stdout=log, stderr=log)
        try:
            wait_until_ready(process, base)
            pathlib.Path(f"{folder}/small.toml").write_text(
                f'kind = "openai"\nbase_url = "{base}/v1"\nmodel = "smollm2-135m"\n'
                "[parameters]\nmax_output_tokens = 256\ntemperature = 0.6\ntop_p = 0.95\n[limits]\nconcurrency = 4\n"
            )
            checked = subprocess.run([rolecall, "models", "check", f"{folder}/small.toml"], capture_output=True, text=True)
            check(checked.returncode == 0, f"models check: {checked.stdout}{checked.stderr}")
            print(checked.stdout)
            for topology, budget in RUNS.items():
                play(rolecall, folder, topology, budget)
        finally:
            process.terminate()
            process.wait()
    print("small model: all as it should be")


main(*sys.argv[1:])
