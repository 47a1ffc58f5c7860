// The candidate's process: given the program's text and the inputs of its calls, never a test or an expected value.
const { Script } = require("vm");
const { createRequire } = require("module");
const { inspect } = require("util");

const runHere = uncurried(Script.prototype.runInThisContext);
const { exit } = process;
const leave = exit.bind(process);

const NAME = /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u;

/** The program, and what the tests hold of it. */
class Candidate {
  constructor(job, channel) {
    this.job = job;
    this.channel = channel;
    this.asked = null;
    this.handles = bare([]);
    this.handleNumbers = new Map();
    this.given = new Map();
    this.settled = new Map();
    this.support = { __proto__: null };
    this.module = { exports: {} };
  }

  // Loading.

  load() {
    const require = createRequire("/tmp/program.js");
    const { module } = this;
    const scope = { require, module, exports: module.exports, __filename: "/tmp/program.js", __dirname: "/tmp" };
    for (const name of keysOf(scope)) setHidden(globalThis, name, scope[name]);
    try {
      for (const [name, value] of definitions(this.job.support ?? "", "support.js")) {
        setHidden(globalThis, name, value);
        if (typeof value === "function") this.support[name] = value;
      }
    } catch (error) {
      return { fault: `the support text fails: ${error}` };
    }
    this.channel.send({ confined: true }); // From here on a fault is the program's.
    let script;
    try {
      script = new Script(this.job.source, { filename: "program.js" });
    } catch (error) {
      const line = matchIn(/^program\.js:(\d+)/, `${error.stack}`);
      const place = line === null ? "" : ` (line ${line[1]})`;
      return { compile: wellFormed(`${error.name}: ${slice(error.message, 0, 2000)}${place}`) };
    }
    try {
      runHere(script);
    } catch (error) {
      return { raised: raised(error) };
    }
    return { ready: true };
  }

  /** What the program calls by this name at its top, or exports. */
  named(name) {
    if (matchIn(NAME, name) === null) throw new ReferenceError(`${name} is no name`);
    const { exports } = this.module;
    if (runHere(new Script(`typeof ${name} === "undefined"`))) {
      if (exports !== null && (typeof exports === "object" || typeof exports === "function")) {
        if (name in exports) return exports[name];
        if (typeof exports === "function" && exports.name === name) return exports;
      }
    }
    return runHere(new Script(name));
  }

  // Values.

  /** Instances of support classes by their fields; functions and whatever is not plain data as handles. */
  foreign(value, table, known) {
    if (typeof value === "function") {
      const callback = mapGet(this.given, value);
      if (callback !== undefined) return ["cb", callback];
      const name = mapGet(BUILT_IN, value);
      return name === undefined ? this.handle(value, nameOf(value, "function")) : ["g", name];
    }
    if (isProxy(value)) return this.handle(value, "Proxy");
    if (isPromise(value)) return this.promised(value, table);
    const prototype = getPrototypeOf(value);
    if (prototype === OBJECT || prototype === null || prototype === Array.prototype) {
      return known || isPlain(value) ? null : this.handle(value, "Object");
    }
    const maker = prototype !== null && getOwnPropertyDescriptor(prototype, "constructor")?.value;
    const name = nameOf(maker, "Object");
    if (name in this.support && isPlain(value)) return table.fields(["n", name], value);
    return table.carried(value, prototype) ?? this.handle(value, name);
  }

  handle(value, name) {
    let number = mapGet(this.handleNumbers, value);
    if (number === undefined) {
      number = this.handles.length;
      mapSet(this.handleNumbers, value, number);
      this.handles[number] = value;
    }
    return ["h", number, name, typeof value === "function"];
  }

  promised(value, table) {
    const end = mapGet(this.settled, value);
    if (end === undefined) throw new Unsupported("a promise inside of a value cannot be compared");
    return [end.kept ? "p" : "pr", table.put(end.value)];
  }

  foreignValue(tag, row) {
    if (tag === "h") return typeof row[1] === "string" ? this.named(row[1]) : this.handles[row[1]];
    if (tag === "cb") {
      const number = row[1];
      const callback = (...values) => this.callBack(number, values);
      mapSet(this.given, callback, number);
      return callback;
    }
    throw new Unsupported("an argument that cannot be carried");
  }

  mayHold() {
    return true;
  }

  instance(name) {
    return { __proto__: this.support[name].prototype };
  }

  // Requests.

  /** Answers requests until the channel ends, or until a promise must be waited for. */
  serveAll() {
    for (;;) {
      const request = this.channel.receive();
      if (request === null) leave(0);
      const waiting = this.serve(request);
      if (waiting !== null) {
        then(waiting, () => this.serveAll());
        return;
      }
    }
  }

  /** Performs one request and answers it: at once, or when the promise that it gives back is settled. */
  serve(request) {
    const outer = this.asked;
    this.asked = request.id;
    let work;
    try {
      work = this.perform(request);
    } catch (error) {
      this.fail(request, error);
      this.asked = outer;
      return null;
    }
    if (isPromise(work.result) && outer === null) {
      const settle = (kept) => (value) => {
        mapSet(this.settled, work.result, { __proto__: null, kept, value });
        this.answer(request, work);
        this.asked = outer;
      };
      return then(work.result, settle(true), settle(false));
    }
    this.answer(request, work);
    this.asked = outer;
    return null;
  }

  answer(request, work) {
    let reply;
    try {
      const table = new Table(this, work.objects);
      const ok = table.put(work.result);
      const changed = bare([]);
      for (let number = 0; number < request.rows.length; number++) {
        const row = request.rows[number];
        if (!isOneOf(MUTABLE, row[0])) continue;
        const now = table.describe(work.objects[number], true);
        if (write(now) !== write(row)) changed[changed.length] = [number, now];
      }
      reply = { ok, rows: table.rows(table.known), changed };
    } catch (error) {
      return this.fail(request, error);
    }
    return this.reply(request.id, reply);
  }

  fail(request, error) {
    const ours = isNativeError(error) && getPrototypeOf(error) === Unsupported.prototype;
    this.reply(request.id, ours ? { unsupported: error.message } : { raised: raised(error) });
  }

  reply(id, reply) {
    reply.id = id;
    const line = lineOf(reply);
    this.channel.sendBytes(line.length > MAX_BYTES ? lineOf({ id, unsupported: "the value is too large" }) : line);
  }

  /** Asks the tests to call one of their functions; answers what they ask meanwhile. */
  callBack(number, values) {
    const table = new Table(this);
    const args = bare([]);
    for (let at = 0; at < values.length; at++) args[at] = table.put(values[at]);
    this.reply(this.asked, { back: number, args, rows: table.rows() });
    for (;;) {
      const request = this.channel.receive();
      if (request === null) leave(0);
      if (request.resume === undefined) {
        this.serve(request);
      } else if (request.raised !== undefined) {
        throw rebuilt(request.raised);
      } else {
        const reader = new Reader(this);
        reader.add(0, request.rows);
        return reader.get(request.ok);
      }
    }
  }

  perform(request) {
    const reader = new Reader(this);
    reader.add(0, request.rows);
    const args = bare([]);
    for (let at = 0; at < request.args.length; at++) args[at] = reader.get(request.args[at]);
    const target = typeof request.on === "string" ? this.named(request.on) : this.handles[request.on];
    return { result: this.act(request.do, target, args, reader.get(request.self)), objects: reader.objects };
  }

  act(action, target, args, self) {
    switch (action) {
      case "get":
        return target;
      case "attr":
        return target[args[0]];
      case "set":
        target[args[0]] = args[1];
        return undefined;
      case "is":
        return args[0] instanceof target;
      case "new":
        return construct(target, args);
    }
    if (typeof target !== "function") throw new TypeError("what the tests call is not a function");
    return apply(target, self, args);
  }
}

function setHidden(object, name, value) {
  defineProperty(object, name, { __proto__: null, value, writable: true, configurable: true });
}

/** Whether an object holds nothing but values: no function, accessor or symbol, which could act where it arrives. */
function isPlain(value) {
  const keys = ownKeys(value);
  for (let at = keys.length - 1; at >= 0; at--) {
    if (typeof keys[at] === "symbol") return false;
    if (isArray(value) && matchIn(/^\d+$/, keys[at]) !== null) return true; // Items come before all other fields.
    const field = getOwnPropertyDescriptor(value, keys[at]);
    if (field === undefined || !hasOwn(field, "value") || typeof field.value === "function") return false;
  }
  return true;
}

/** What was thrown as plain text: its name, the nearest built-in class, its message, the program's line. */
function raised(error) {
  if (!isNativeError(error)) {
    const kind = typeof error;
    const simple = kind === "number" || kind === "boolean" || error === null;
    const base = kind === "string" || simple ? "thrown" : "Error";
    const text = wellFormed(slice(kind === "string" ? error : simple ? `${error}` : shown(error), 0, 2000));
    return { name: error === null ? "null" : kind, base, text, line: null, errno: null };
  }
  const { base, name, text, line } = described(error);
  const { code, errno } = error;
  const number = code === "ERR_WORKER_INIT_FAILED" ? 11 : typeof errno === "number" && errno % 1 === 0 ? -errno : null;
  const memory = base === "RangeError" && matchIn(/^Array buffer allocation failed/, text) !== null;
  return { name, base: memory ? "MemoryError" : base, text, line, errno: number };
}

function shown(value) {
  try {
    return inspect(value, { breakLength: Infinity, getters: false });
  } catch {
    return "a value without a text";
  }
}

const channel = new Channel(3);
const job = channel.receive();
if (job === null) leave(0);
const candidate = new Candidate(job, channel);
channel.send(candidate.load());
candidate.serveAll();
