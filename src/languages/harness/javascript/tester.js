// The tests' process: runs test code against proxies of the candidate. It is given only decoded values.
const { Script } = require("vm");
const { createRequire } = require("module");
const { inspect } = require("util");
const assert = require("assert");

const MAX_TEXT = 2_000;
const MAX_SHOWN_ITEMS = 200_000;
const SHOWN = { breakLength: Infinity, compact: true, maxArrayLength: 1_000, maxStringLength: 3_000 };

/** What keeps an assertion from being judged: the candidate's process ended, or a value cannot be compared. */
class Halted extends Error {
  constructor(verdict, message) {
    super(message);
    this.verdict = verdict;
  }
}

/** The answer of an asynchronous function. It must be awaited: until then it counts as nothing. */
class Answer extends Promise {
  static get [Symbol.species]() {
    return Promise;
  }

  then(...handlers) {
    this.awaited = true;
    return super.then(...handlers);
  }
}

/** One execution of a suite: what the rewritten code calls. */
class Run {
  constructor(request, channel) {
    this.request = request;
    this.suite = request.code;
    this.channel = channel;
    this.support = { __proto__: null };
    this.lookUps = [];
    this.current = null;
    this.passed = new Set();
    this.failed = new Set();
    this.asked = this.askedBefore = this.askedHalfway = 0;
    this.last = undefined;
    this.quiet = false;
    this.poisoned = new Map();
    this.handles = new Map();
    this.given = [];
    this.givenNumbers = new Map();
    this.answers = [];
  }

  // What assertions call.

  /** A condition that must count as true. */
  holds(number, wants, condition) {
    this.judge(number, () => this.end(number, plainly(condition()), { wants }));
  }

  /** A comparison that must hold. */
  compare(number, how, swapped, left, right) {
    this.judge(number, () => {
      const a = left();
      this.half();
      this.compared(number, how, swapped, a, right());
    });
  }

  /** A function that must throw, or must not. */
  throws(number, how, action, expected) {
    this.judge(number, () => {
      let thrown = [];
      try {
        action()();
      } catch (error) {
        thrown = [error];
      }
      this.thrown(number, how, thrown, expected());
    });
  }

  async holdsLater(number, wants, condition) {
    await this.judgeLater(number, async () => this.end(number, plainly(await condition()), { wants }));
  }

  async compareLater(number, how, swapped, left, right) {
    await this.judgeLater(number, async () => {
      const a = await left();
      this.half();
      this.compared(number, how, swapped, a, await right());
    });
  }

  async throwsLater(number, how, action, expected) {
    await this.judgeLater(number, async () => {
      let thrown = [];
      try {
        const work = await action();
        await (typeof work === "function" ? work() : work);
      } catch (error) {
        thrown = [error];
      }
      this.thrown(number, how, thrown, await expected());
    });
  }

  judge(number, work) {
    if (!this.begin(number)) return;
    try {
      work();
    } catch (error) {
      this.crash(number, error);
    }
    this.current = null;
  }

  async judgeLater(number, work) {
    if (!this.begin(number)) return;
    try {
      await work();
    } catch (error) {
      this.crash(number, error);
    }
    this.current = null;
  }

  begin(number) {
    if (this.failed.has(number)) return false;
    this.current = number;
    this.last = undefined;
    this.askedBefore = this.askedHalfway = this.asked;
    return true;
  }

  /** Between the two sides of a comparison: the side that asks the candidate is the actual one. */
  half() {
    this.askedHalfway = this.asked;
  }

  compared(number, how, swapped, a, b) {
    for (const side of [a, b]) if (isPromise(side)) plainly(side);
    this.end(number, COMPARISONS[how](a, b), { how, swapped, sides: [a, b] });
  }

  thrown(number, how, thrown, expected) {
    for (const error of thrown) if (error instanceof Halted) throw error;
    let right = how === "doesNotThrow" || how === "doesNotReject" ? thrown.length === 0 : thrown.length > 0;
    if (right && thrown.length > 0 && expected !== undefined && typeof expected !== "string") {
      right = outcome(() => assert.throws(() => { throw thrown[0]; }, expected));
    }
    const actual = thrown.length === 0 ? "no exception" : said(thrown[0]);
    const like = expected === undefined ? "" : `: ${this.short(expected)}`;
    const wanted = how.startsWith("doesNot") ? "no exception" : `an exception${like}`;
    this.end(number, right, { texts: [wanted, actual] });
  }

  end(number, right, shown) {
    if (this.failed.has(number)) return;
    if (right) {
      if (!this.passed.has(number)) {
        this.passed.add(number);
        this.channel.send({ passed: number });
      }
      return;
    }
    this.fail(number, "wrong", null, ...this.difference(shown));
  }

  /** The expected and the actual value as texts. */
  difference({ wants, how, swapped, sides, texts }) {
    if (texts) return texts;
    if (!sides) return [wants ?? null, this.last === undefined && wants === null ? null : this.short(this.last)];
    const left = this.askedHalfway - this.askedBefore;
    const right = this.asked - this.askedHalfway;
    if (left !== right && !(left && right)) swapped = right > 0;
    const [actual, expected] = (swapped ? [...sides].reverse() : sides).map((side) => this.short(side));
    const sign = (swapped && MIRRORED[how]) || SIGNS[how];
    return [sign ? `${sign} ${expected}` : expected, actual];
  }

  crash(number, error) {
    this.fail(number, ...this.word(error));
  }

  fail(number, verdict, message, expected = null, actual = null) {
    if (this.failed.has(number)) return;
    this.failed.add(number);
    this.passed.delete(number);
    this.channel.send({ failed: number, verdict, message, expected, actual });
  }

  /** Verdict and message that an exception means. */
  word(error) {
    if (error instanceof Halted) return [error.verdict, error.message];
    const told = TOLD.get(error);
    if (told === undefined && error instanceof ReferenceError) {
      const name = /^(\S+) is not defined$/.exec(error.message)?.[1];
      if (this.poisoned.has(name)) return this.poisoned.get(name);
    }
    const place = told?.line ? ` (line ${told.line} of the program)` : "";
    return [told?.verdict ?? "crashed", `${cut(said(error))}${place}`];
  }

  short(value) {
    this.quiet = true;
    try {
      const depth = spreads(value) ? 2 : 100;
      return cut(wellFormed(inspect(value, { ...SHOWN, depth })));
    } catch (error) {
      return `a value whose text failed: ${error.name}`;
    } finally {
      this.quiet = false;
    }
  }

  // The run.

  play() {
    const { entry, support, preamble } = this.request;
    for (const [name, value] of definitions(support ?? "", "support.js")) {
      setGlobal(name, value);
      if (typeof value !== "function") continue;
      this.support[name] = value;
      this.lookUps.push({ name, script: new Script(name) });
    }
    const require = createRequire("/tmp/tests.js");
    const given = { require, module: { exports: {} }, assert, __rolecall: this };
    for (const name of keysOf(given)) setGlobal(name, given[name]);
    for (const [name, value] of definitions(preamble ?? "", "prompt.js")) setGlobal(name, value);
    if (entry) setGlobal(entry, this.remote(entry, entry, true));
    for (const name of this.suite.names) {
      if (!(name in globalThis)) this.proxied(name);
    }
    const scripts = this.suite.statements.map(({ code, line, names }) => {
      return { script: new Script(code, { filename: "tests.js", lineOffset: line - 1 }), line, names };
    });
    process.exit = () => this.finish();
    process.on("uncaughtException", (error) => this.charge(error, [], 0));
    process.on("beforeExit", () => this.finish());
    return this.playAll(scripts);
  }

  /** A name of the candidate's that the tests may use: asked for when it is first read. */
  proxied(name) {
    Object.defineProperty(globalThis, name, {
      configurable: true,
      get: () => this.ask("get", name, []),
      set: (value) => setGlobal(name, value),
    });
  }

  async playAll(scripts) {
    for (const { script, line, names } of scripts) {
        try {
        const value = script.runInThisContext();
        if (isPromise(value)) await value;
      } catch (error) {
        this.charge(error, names, line);
      }
    }
  }

  /** Ends the process; nothing of the tests can hold it up. */
  finish() {
    for (const { answer, at } of this.answers) {
      if (answer.awaited) continue;
      for (const number of at) this.fail(number, ...NOT_AWAITED);
    }
    this.channel.send({ end: true });
    leave(0);
  }

  /** An exception outside of any assertion: the assertions that it kept from running have its verdict. */
  charge(error, names, line) {
    const [verdict, message] = this.word(error);
    for (const name of names) this.poisoned.set(name, [verdict, message]);
    if (error instanceof Halted) return; // Its assertions were charged when it was thrown.
    const lines = linesOf(error);
    const kept = this.keptFromRunning(lines.length > 0 ? lines : [line], line);
    for (const number of kept) this.fail(number, verdict, message);
  }

  /** The assertions that a call is made for: the one at work, or those that follow the calling line. */
  at() {
    return this.current !== null ? [this.current] : this.following(linesOf(new Error()));
  }

  /** As `at`, but never none while an assertion is left. */
  concerned() {
    const lines = linesOf(new Error());
    return this.current !== null ? [this.current] : this.keptFromRunning(lines, lines.at(-1) ?? 0);
  }

  /** The assertions that follow in the innermost of the places: all of a function, the next one of the text. */
  following(lines) {
    const { places, functions } = this.suite;
    for (const at of lines) {
      let around = -1;
      functions.forEach(([first, last], number) => {
        if (first <= at && at <= last && (around < 0 || first >= functions[around][0])) around = number;
      });
      const after = [...places.keys()].filter((number) => {
        const [line, last, within] = places[number];
        return within === around && last >= at && !this.failed.has(number) && line >= at;
      });
      if (after.length > 0) return around < 0 ? after.slice(0, 1) : after;
    }
    return [];
  }

  /** As `following`; if nothing follows, the next assertion behind `line`, or else the last one. */
  keptFromRunning(lines, line) {
    const kept = this.following(lines);
    if (kept.length > 0) return kept;
    const left = [...this.suite.places.keys()].filter((number) => !this.failed.has(number));
    const behind = left.filter((number) => this.suite.places[number][0] > line);
    return (behind.length > 0 ? behind : left.reverse()).slice(0, 1);
  }
}

/** Whether a value counts as true; what stands for the candidate's own objects or for a promise proves nothing. */
function plainly(value) {
  if (isPromise(value)) throw run.halt(...NOT_AWAITED);
  if (REMOTES.has(value) && typeof value !== "function") throw run.opaque(REMOTES.get(value));
  return Boolean(value);
}

const NOT_AWAITED = ["unsupported_return", "a promise that is not awaited cannot be compared with the tests' values"];

function outcome(check) {
  try {
    check();
    return true;
  } catch (error) {
    if (error instanceof Halted) throw error;
    return false;
  }
}

const COMPARISONS = {
  "==": (a, b) => a == b,
  "===": (a, b) => a === b,
  "!=": (a, b) => a != b,
  "!==": (a, b) => a !== b,
  "<": (a, b) => a < b,
  "<=": (a, b) => a <= b,
  ">": (a, b) => a > b,
  ">=": (a, b) => a >= b,
};
for (const name of [
  "equal", "notEqual", "strictEqual", "notStrictEqual", "deepEqual", "notDeepEqual", "deepStrictEqual",
  "notDeepStrictEqual",
]) {
  COMPARISONS[name] = (a, b) => outcome(() => assert[name](a, b));
}
const SIGNS = {
  "!=": "!=", "!==": "!==", "<": "<", "<=": "<=", ">": ">", ">=": ">=",
  notEqual: "!=", notStrictEqual: "!==", notDeepEqual: "not deeply equal to", notDeepStrictEqual: "not deeply equal to",
};
const MIRRORED = { "<": ">", "<=": ">=", ">": "<", ">=": "<=" };

/** Whether the text of a value is far longer than the value: parts that are shared are written out each time. */
function spreads(value) {
  const waiting = [value];
  for (let seen = 0; waiting.length > 0; ) {
    const item = waiting.pop();
    if (typeof item !== "object" || item === null || REMOTES.has(item)) continue;
    const held = isMap(item) ? [...item].flat() : isSet(item) ? [...item] : Object.values(item);
    const parts = isTypedArray(item) ? [] : held;
    seen += parts.length;
    if (seen > MAX_SHOWN_ITEMS) return true;
    for (const part of parts) waiting.push(part);
  }
  return false;
}

function cut(text) {
  return text.length <= MAX_TEXT ? text : `${wellFormed(text.slice(0, MAX_TEXT))}...`;
}

/** An exception in one line. */
function said(error) {
  if (!isNativeError(error)) return run.short(error);
  return wellFormed(error.message === "" ? `${error.name}` : `${error.name}: ${error.message}`);
}

/** Lines of the test text in an exception's trace, the innermost first. */
function linesOf(error) {
  if (!isNativeError(error)) return [];
  return [...`${error.stack}`.matchAll(/^ {4}at .*tests\.js:(\d+)/gm)].map(([, line]) => Number(line));
}

function setGlobal(name, value) {
  Object.defineProperty(globalThis, name, { value, writable: true, configurable: true, enumerable: false });
}
