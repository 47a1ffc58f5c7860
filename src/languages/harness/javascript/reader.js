/** Kinds that can change in place. */
const MUTABLE = ["a", "o", "o0", "m", "s", "d", "t", "n"];

/** Rebuilds values. Objects that exist already are changed in place. Whatever is not well formed is unsupported. */
class Reader {
  constructor(owner, objects = bare([])) {
    this.owner = owner;
    this.objects = objects;
    this.rows = new Map();
  }

  /** Takes in descriptions numbered from `start` and new descriptions of objects that exist. */
  add(start, rows, changed = []) {
    if (start !== this.objects.length) throw new Unsupported("the table does not follow on");
    const numbers = bare([]);
    for (let at = 0; at < rows.length; at++) {
      this.objects[start + at] = NOTHING;
      numbers[at] = start + at;
      mapSet(this.rows, start + at, rows[at]);
    }
    for (let at = 0; at < rows.length; at++) {
      if (isOneOf(MUTABLE, rows[at][0])) this.objects[start + at] = this.shell(rows[at]);
    }
    for (let at = 0; at < numbers.length; at++) this.build(numbers[at]);
    for (let at = 0; at < changed.length; at++) {
      const [number, row] = changed[at];
      const known = number >= 0 && number < start;
      if (!known || !isOneOf(MUTABLE, row[0])) throw new Unsupported("only mutable values can change");
      numbers[numbers.length] = number;
      mapSet(this.rows, number, row);
    }
    for (let at = 0; at < numbers.length; at++) {
      const row = mapGet(this.rows, numbers[at]);
      if (isOneOf(MUTABLE, row[0])) this.fill(this.objects[numbers[at]], row);
    }
  }

  get(ref) {
    if (!isArray(ref)) return ref;
    if (ref.length === 1) {
      const value = ref[0] >= 0 && ref[0] < this.objects.length ? this.objects[ref[0]] : NOTHING;
      if (value === NOTHING) throw new Unsupported("a reference to nothing");
      return value;
    }
    switch (ref[0]) {
      case "i": {
        const digits = ref[1];
        return digits[0] === "-" ? -BigInt(`0x${slice(digits, 1)}`) : BigInt(`0x${digits}`);
      }
      case "f":
        return { __proto__: null, nan: NaN, inf: Infinity, "-inf": -Infinity, "-0": -0 }[ref[1]];
      case "v":
        return undefined;
    }
    throw new Unsupported("a malformed value");
  }

  /** Makes an immutable object after those that it holds, without recursion. */
  build(number) {
    const stack = bare([number]);
    const opened = new Set();
    while (stack.length > 0) {
      const top = stack[stack.length - 1];
      if (this.objects[top] !== NOTHING) {
        stack.length--;
        continue;
      }
      const row = mapGet(this.rows, top);
      const before = stack.length;
      for (let at = 1; at < row.length; at++) {
        const ref = row[at];
        if (isArray(ref) && ref.length === 1 && this.objects[ref[0]] === NOTHING) stack[stack.length] = ref[0];
      }
      if (stack.length === before) {
        this.objects[top] = this.immutable(row);
        stack.length--;
      } else if (opened.size === setAdd(opened, top).size) {
        throw new Unsupported("an immutable value that holds itself");
      }
    }
  }

  immutable(row) {
    switch (row[0]) {
      case "re": {
        const expression = construct(RegExp, [row[1], row[2]]);
        expression.lastIndex = this.get(row[3]);
        return expression;
      }
      case "er":
        return rebuilt({ base: row[1], name: row[2], text: row[3], line: row[4] });
      case "bx":
        return Object(this.get(row[2]));
      case "g":
        return mapGet(BUILT_IN_BY_NAME, row[1]);
      case "it":
        return this.iterator(row);
    }
    return this.owner.foreignValue(row[0], row, this);
  }

  iterator(row) {
    const items = bare([]);
    for (let at = 1; at < row.length; at++) items[at - 1] = this.get(row[at]);
    return (function* () {
      for (let at = 0; at < items.length; at++) yield items[at];
    })();
  }

  shell(row) {
    switch (row[0]) {
      case "a":
        return [];
      case "o":
        return {};
      case "o0":
        return { __proto__: null };
      case "m":
        return new Map();
      case "s":
        return new Set();
      case "d":
        return new Date(0);
      case "t":
        return this.bytes(row[1], row[2]);
    }
    return this.owner.instance(row[1]);
  }

  bytes(name, text) {
    const bytes = bytesFrom(text, "latin1");
    if (name === "Buffer") return bytesFrom(bytes);
    const { kind } = BYTES[name];
    const buffer = new ArrayBuffer(bytes.length);
    setBytes(new Uint8Array(buffer), bytes);
    return kind === ArrayBuffer ? buffer : construct(kind, [buffer]);
  }

  fill(value, row) {
    switch (row[0]) {
      case "a":
        return this.fillList(value, row);
      case "o":
      case "o0":
        return this.fillFields(value, row, 1);
      case "n":
        return this.fillFields(value, row, 2);
      case "m":
        mapClear(value);
        for (let at = 1; at < row.length; at += 2) mapSet(value, this.get(row[at]), this.get(row[at + 1]));
        return;
      case "s":
        setClear(value);
        for (let at = 1; at < row.length; at++) setAdd(value, this.get(row[at]));
        return;
      case "d":
        setTime(value, this.get(row[1]));
        return;
    }
    const bytes = bytesFrom(row[2], "latin1");
    const held = bytesOf(value);
    if (bytes.length !== held.length) throw new Unsupported("an array of bytes whose length changed");
    setBytes(held, bytes);
  }

  fillList(value, row) {
    const length = row[1];
    if (!(length <= row.length - 2)) throw new Unsupported("a malformed array");
    value.length = 0;
    this.fillFields(value, row, length + 2);
    for (let at = 0; at < length; at++) {
      const ref = row[at + 2];
      if (!isArray(ref) || ref[1] !== "hole") setField(value, at, this.get(ref));
    }
    value.length = length;
  }

  /** Gives an object exactly the fields that follow in the row, in their order. */
  fillFields(value, row, from) {
    const old = keysOf(value);
    for (let at = 0; at < old.length; at++) delete value[old[at]];
    for (let at = from; at < row.length; at += 2) {
      const key = `${row[at]}`;
      const item = this.get(row[at + 1]);
      if (typeof item === "function" && !this.owner.mayHold(value, key)) {
        throw new Unsupported("a value with a function of its own cannot be compared with the tests' values");
      }
      setField(value, key, item);
    }
  }
}

/** What errors of the other process say beside their message, by the error that stands for them here. */
const TOLD = new WeakMap();

/** An error of the other process as one of the same name and nearest built-in class. */
function rebuilt(told) {
  const { base, name, text } = told;
  if (base === "thrown") {
    return { __proto__: null, string: text, number: Number(text), boolean: text === "true", null: null }[name];
  }
  let kind = base in ERRORS ? ERRORS[base].kind : Error;
  if (name !== base) {
    kind = { [name]: class extends kind {} }[name];
    defineProperty(kind.prototype, "name", { __proto__: null, value: `${name}`, writable: true, configurable: true });
  }
  const error = kind === AggregateError ? new kind([], `${text}`) : new kind(`${text}`);
  TOLD.set(error, told);
  return error;
}

/** Says of a text of the task's what it defines, by names of functions, classes and variables that stand in it. */
function definitions(text, file) {
  const names = new Set();
  const declared = /\b(?:class|function\s*\*?|const|let|var)\s+([A-Za-z_$][\w$]*)/g;
  for (const [, name] of text.matchAll(declared)) names.add(name);
  for (const [, pattern] of text.matchAll(/\b(?:const|let|var)\s*([{[][^=;]*)=/g)) {
    for (const [name] of pattern.matchAll(/[A-Za-z_$][\w$]*(?!\s*:|[\w$])/g)) names.add(name);
  }
  const pairs = [...names].map((name) => `[${quote(name)}, typeof ${name} === "undefined" ? undefined : ${name}]`);
  const whole = `(() => {${text}\n;return [${pairs.join(", ")}];})()`;
  const { Script } = require("vm");
  const found = new Script(whole, { filename: file }).runInThisContext();
  return found.filter(([, value]) => value !== undefined);
}

/** A message as the bytes of a line. */
function lineOf(message) {
  return bytesFrom(`${write(message)}\n`);
}

/** JSON lines over one descriptor. */
class Channel {
  constructor(descriptor) {
    this.descriptor = descriptor;
    this.pending = bytesFrom("");
  }

  /** The next message, or null at the end. */
  receive() {
    const chunks = bare([]);
    for (let chunk = this.pending; ; ) {
      const end = indexOf(chunk, 10);
      if (end >= 0) {
        chunks[chunks.length] = subarray(chunk, 0, end);
        this.pending = subarray(chunk, end + 1);
        return parse(textOf(concatenate(chunks)));
      }
      chunks[chunks.length] = chunk;
      const buffer = allocate(1 << 16);
      const count = readSync(this.descriptor, buffer, 0, 1 << 16, null);
      if (count === 0) return null;
      chunk = subarray(buffer, 0, count);
    }
  }

  send(message) {
    this.sendBytes(lineOf(message));
  }

  sendBytes(bytes) {
    for (let at = 0; at < bytes.length; ) at += writeSync(this.descriptor, bytes, at, bytes.length - at, null);
  }
}
