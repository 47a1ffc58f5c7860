/** Names of the candidate's objects, by the proxies that stand for them in the tests' process. */
const REMOTES = new WeakMap();

/** Names of methods that the language calls without being told to. */
const IMPLICIT = [...Object.getOwnPropertyNames(Object.prototype), "toJSON", "then"];

const leave = process.exit.bind(process);

/** The side of a run that asks the candidate. */
class Asking extends Run {
  /** A function, class or object that lives in the candidate's process. */
  remote(on, name, callable) {
    const target = callable ? function () {} : {};
    const text = callable ? `[Function: ${name}]` : `<${name} object>`;
    Object.defineProperty(target, inspect.custom, { value: () => text });
    const opaque = () => {
      throw this.opaque(name);
    };
    const proxy = new Proxy(target, {
      apply: (_, self, args) => this.ask("call", on, args, REMOTES.has(self) ? self : undefined),
      construct: (_, args) => this.ask("new", on, args),
      get: (_, key) => this.attribute(on, name, key),
      set: (_, key, value) => {
        this.ask("set", on, [typeof key === "symbol" ? opaque() : key, value]);
        return true;
      },
      has: opaque,
      ownKeys: opaque,
      deleteProperty: opaque,
      defineProperty: opaque,
      getOwnPropertyDescriptor: opaque,
      getPrototypeOf: callable ? getPrototypeOf : opaque,
      setPrototypeOf: opaque,
    });
    REMOTES.set(proxy, { on, name });
    return proxy;
  }

  /** What only the language itself reads while it converts, iterates or prints is never given. */
  attribute(on, name, key) {
    if (key === Symbol.hasInstance) return (value) => this.isInstance(on, name, value);
    if (key === "then" || key === Symbol.toStringTag) return undefined;
    if (typeof key === "symbol" || key === "toJSON") throw this.opaque({ name });
    return this.ask("attr", on, [key]);
  }

  isInstance(on, name, value) {
    if (REMOTES.has(value)) return this.ask("is", on, [value]);
    return isNativeError(value) && TOLD.get(value)?.name === name;
  }

  opaque(remote) {
    const name = remote.name ?? remote;
    const kind = `an object of the program's own type ${name}`;
    return this.halt("unsupported_return", `${kind} cannot be compared with the tests' values`);
  }

  /** Fails the assertions at work at once, whatever the tests do with the exception that is given back. */
  halt(verdict, message) {
    if (this.quiet) return new Unsupported(message);
    for (const number of this.concerned()) this.fail(number, verdict, message);
    return new Halted(verdict, message);
  }

  /** Has the candidate do something and gives what came of it. */
  ask(action, on, args, self) {
    if (this.quiet) throw new Unsupported("not now");
    this.lookUpClasses();
    const table = new Table(this);
    const request = { id: this.asked, do: action, on, named: {} };
    try {
      request.args = args.map((value) => table.put(value));
      request.self = table.put(self);
      request.rows = table.rows();
    } catch (error) {
      if (!(error instanceof Unsupported)) throw error;
      return this.invalid(`the tests pass what cannot be carried: ${error.message}`);
    }
    const number = this.asked++;
    let verdict = this.exchange(number, request);
    while (verdict.reply === "back") verdict = this.exchange(number, this.calledBack(number, this.channel.receive()));
    switch (verdict.reply) {
      case "gone": {
        const halted = this.halt(verdict.verdict, verdict.message);
        if (verdict.stop) this.finish();
        throw halted;
      }
      case "unsupported":
        throw this.halt("unsupported_return", verdict.message);
      case "raised":
        throw rebuilt(verdict.raised);
    }
    return (this.last = this.taken(table, this.channel.receive()));
  }

  taken(table, reply) {
    const reader = new Reader(this, table.objects);
    try {
      reader.add(table.objects.length, reply.rows, reply.changed);
      return reader.get(reply.ok);
    } catch (error) {
      const message = error instanceof Unsupported ? error.message : `a malformed value: ${error.name}`;
      throw this.halt("unsupported_return", message);
    }
  }

  /** Sends a request and gives the judge's reply. */
  exchange(number, request) {
    const line = lineOf(request);
    if (line.length > MAX_BYTES) throw this.halt("unsupported_return", "the values are too large for the program");
    // The header is for the judge alone; the second line goes to the candidate as it is.
    const header = { call: number, at: this.at(), passed: this.passed.size, failed: this.failed.size };
    this.channel.send(header);
    this.channel.sendBytes(line);
    const verdict = this.channel.receive();
    if (verdict === null) leave(0);
    return verdict;
  }

  /** Calls a function of the tests for the candidate; what goes over is copied. */
  calledBack(number, request) {
    const resume = { id: number, resume: true };
    try {
      const reader = new Reader(this);
      reader.add(0, request.rows);
      const result = this.given[request.back](...request.args.map((value) => reader.get(value)));
      const table = new Table(this);
      resume.ok = table.put(result);
      resume.rows = table.rows();
    } catch (error) {
      resume.raised = isNativeError(error) ? described(error) : { base: "Error", name: "Error", text: `${error}` };
    }
    return resume;
  }

  invalid(message) {
    this.channel.send({ invalid: message });
    leave(0);
  }

  // Values.

  foreign(value, table) {
    const remote = REMOTES.get(value);
    if (remote !== undefined) return ["h", remote.on];
    if (typeof value === "function") {
      const name = BUILT_IN.get(value);
      if (name !== undefined) return ["g", name];
      if (!this.givenNumbers.has(value)) this.givenNumbers.set(value, this.given.push(value) - 1);
      return ["cb", this.givenNumbers.get(value)];
    }
    if (isProxy(value)) return null;
    for (const name in this.support) {
      if (getPrototypeOf(value) === this.support[name].prototype) return table.fields(["n", name], value);
    }
    return null;
  }

  foreignValue(tag, row, reader) {
    switch (tag) {
      case "h":
        if (!this.handles.has(row[1])) this.handles.set(row[1], this.remote(row[1], `${row[2]}`, row[3] === true));
        return this.handles.get(row[1]);
      case "cb":
        if (row[1] >= 0 && row[1] < this.given.length) return this.given[row[1]];
        break;
      case "p":
        return this.answer(Answer.resolve(reader.get(row[1])));
      case "pr":
        return this.answer(Answer.reject(reader.get(row[1])));
    }
    throw new Unsupported("a value that cannot be compared with the tests' values");
  }

  answer(answer) {
    Promise.prototype.then.call(answer, undefined, () => {}); // One that nobody awaits is judged when the tests end.
    this.answers.push({ answer, at: this.concerned() });
    return answer;
  }

  /** Whether an object may have a function under this name: none that the language calls by itself. */
  mayHold(object, key) {
    return !isArray(object) && !IMPLICIT.includes(key);
  }

  instance(name) {
    if (!(name in this.support)) throw new Unsupported(`a ${name} that the tests do not know`);
    return { __proto__: this.support[name].prototype };
  }

  /** The support classes: those of the tests where they define them themselves. */
  lookUpClasses() {
    for (const { name, script } of this.lookUps) {
      let kind;
      try {
        kind = script.runInThisContext();
      } catch {
        continue; // The tests have not come to their own definition yet.
      }
      if (typeof kind === "function") this.support[name] = kind;
    }
  }
}

Error.stackTraceLimit = 100;
const channel = new Channel(3);
const run = new Asking(channel.receive(), channel);
process.on("unhandledRejection", (error) => run.charge(error, [], 0));
try {
  run.play();
} catch (error) {
  run.invalid(`the test text cannot be run: ${said(error)}`);
}
