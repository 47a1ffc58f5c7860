"use strict";
// Values that travel between the candidate's process and the tests': JSON atoms, and a flat table of numbered objects.
//
// A value is null, true, false, a finite number, a string, ["i", hex] for a bigint, ["f", "nan" | "inf" | "-inf" |
// "-0"], ["v", "undefined"], or [k]: object k of the table. The table keeps sharing, identity and cycles, and nothing
// nests, so depth costs nothing. Whatever is used while values travel is taken before a program can replace it.
const { readSync, writeSync } = require("fs");
const { types } = require("util");

const MAX_ITEMS = 100_000;
const MAX_LENGTH = 1 << 21;
const MAX_BYTES = 4 << 20;

const { apply, construct, defineProperty, getOwnPropertyDescriptor, getPrototypeOf, ownKeys } = Reflect;
const { isArray } = Array;
const { hasOwn, is: same, keys: keysOf, setPrototypeOf } = Object;
const quote = JSON.stringify;
const parse = JSON.parse;
const {
  isAnyArrayBuffer, isBooleanObject, isDate, isGeneratorObject, isMap, isNativeError, isNumberObject, isPromise,
  isProxy, isRegExp, isSet, isStringObject, isTypedArray,
} = types;

/** A method as a function whose first argument is what it works on. */
function uncurried(method) {
  return (self, ...rest) => apply(method, self, rest);
}

const mapGet = uncurried(Map.prototype.get);
const mapSet = uncurried(Map.prototype.set);
const mapClear = uncurried(Map.prototype.clear);
const mapForEach = uncurried(Map.prototype.forEach);
const setAdd = uncurried(Set.prototype.add);
const setClear = uncurried(Set.prototype.clear);
const setForEach = uncurried(Set.prototype.forEach);
const getTime = uncurried(Date.prototype.getTime);
const setTime = uncurried(Date.prototype.setTime);
const isEnumerable = uncurried(Object.prototype.propertyIsEnumerable);
const then = uncurried(Promise.prototype.then);
const hexOf = uncurried(BigInt.prototype.toString);
const slice = uncurried(String.prototype.slice);
const replace = uncurried(String.prototype.replace);
const indexOf = uncurried(Buffer.prototype.indexOf);
const textOf = uncurried(Buffer.prototype.toString);
const subarray = uncurried(Uint8Array.prototype.subarray);
const setBytes = uncurried(Uint8Array.prototype.set);
const bytesFrom = Buffer.from;
const allocate = Buffer.allocUnsafeSlow;
const concatenate = Buffer.concat;
const matchIn = uncurried(RegExp.prototype.exec);

const OBJECT = Object.prototype;
const ITERATORS = [
  getPrototypeOf([][Symbol.iterator]()), getPrototypeOf(new Map().keys()), getPrototypeOf(new Set().keys()),
  getPrototypeOf(""[Symbol.iterator]()), getPrototypeOf("".matchAll(/x/g)),
];

/** Pairs of a class and its prototype by the class's name; without a prototype, so that no other name is found. */
function classTable(classes) {
  const table = { __proto__: null };
  for (const kind of classes) table[kind.name] = { kind, prototype: kind.prototype };
  return table;
}

const BYTES = classTable([
  Int8Array, Uint8Array, Uint8ClampedArray, Int16Array, Uint16Array, Int32Array, Uint32Array, Float32Array,
  Float64Array, BigInt64Array, BigUint64Array, ArrayBuffer, Buffer,
]);
const ERRORS = classTable([
  Error, TypeError, RangeError, SyntaxError, ReferenceError, EvalError, URIError, AggregateError,
]);
const BOXES = classTable([Number, String, Boolean]);
// Functions that travel by name. Only those that do nothing but compute: the tests may call what they are given.
const BUILT_IN = new Map();
const BUILT_IN_BY_NAME = new Map();
for (const item of [
  Array, BigInt, Boolean, Date, Map, Number, Object, RegExp, Set, String, isFinite, isNaN, parseFloat, parseInt,
  ...Object.getOwnPropertyNames(ERRORS).map((name) => ERRORS[name].kind),
]) {
  BUILT_IN.set(item, item.name);
}
for (const name of Object.getOwnPropertyNames(Math)) {
  if (typeof Math[name] === "function") BUILT_IN.set(Math[name], `Math.${name}`);
}
BUILT_IN.forEach((name, item) => BUILT_IN_BY_NAME.set(name, item));

/** A value that cannot be carried. */
class Unsupported extends Error {}

function classNamed(table, prototype) {
  for (const name in table) {
    if (table[name].prototype === prototype) return name;
  }
  return null;
}

/** JSON text of arrays, records and atoms; no method of theirs is asked. */
function write(value) {
  if (typeof value === "string") return quote(value);
  if (value === null || typeof value !== "object") return `${value}`;
  let text = "";
  if (isArray(value)) {
    for (let at = 0; at < value.length; at++) text += at === 0 ? write(value[at]) : `,${write(value[at])}`;
    return `[${text}]`;
  }
  const keys = keysOf(value);
  for (let at = 0; at < keys.length; at++) {
    text += `${at === 0 ? "" : ","}${quote(keys[at])}:${write(value[keys[at]])}`;
  }
  return `{${text}}`;
}

/** An array without a prototype: what a program hangs on that of all arrays cannot catch what is put in. */
function bare(items) {
  return setPrototypeOf(items, null);
}

/** Makes `key` an ordinary own property. */
function setField(object, key, value) {
  const field = { __proto__: null, value, writable: true, enumerable: true, configurable: true };
  if (!defineProperty(object, key, field)) throw new Unsupported("a property that cannot be set");
}

/** Numbers objects and describes them. `owner.foreign(value, table, known)` describes what it does not carry itself. */
class Table {
  constructor(owner, objects = []) {
    this.owner = owner;
    this.objects = bare([]);
    this.numbers = new Map();
    for (let at = 0; at < objects.length; at++) {
      this.objects[at] = objects[at];
      if (objects[at] !== NOTHING) mapSet(this.numbers, objects[at], at);
    }
    this.known = this.objects.length;
  }

  put(value) {
    switch (typeof value) {
      case "string":
        if (value.length > MAX_BYTES) throw new Unsupported("the value is too large");
        return value;
      case "boolean":
        return value;
      case "undefined":
        return ["v", "undefined"];
      case "bigint":
        return ["i", hexOf(value, 16)];
      case "symbol":
        throw new Unsupported("a symbol cannot be compared with the tests' values");
      case "number":
        if (same(value, -0)) return ["f", "-0"];
        if (value - value === 0) return value;
        return ["f", value !== value ? "nan" : value > 0 ? "inf" : "-inf"];
    }
    if (value === null) return null;
    let number = mapGet(this.numbers, value);
    if (number === undefined) {
      number = this.objects.length;
      mapSet(this.numbers, value, number);
      this.objects[number] = value;
    }
    return [number];
  }

  /** Descriptions of all objects from `start` on, including those that describing them adds. */
  rows(start = 0) {
    const rows = bare([]);
    for (let at = 0; start + at < this.objects.length; at++) rows[at] = this.describe(this.objects[start + at], false);
    return rows;
  }

  /** Describes one object; one that is `known` to the other side keeps its kind. */
  describe(value, known) {
    const foreign = this.owner.foreign(value, this, known);
    if (foreign !== null) return foreign;
    const row = typeof value === "function" || isProxy(value) ? null : this.carried(value, getPrototypeOf(value));
    if (row === null) throw new Unsupported("a value of this kind cannot be compared with the tests' values");
    return row;
  }

  carried(value, prototype) {
    if (isArray(value)) return prototype === Array.prototype ? this.list(value) : null;
    if (prototype === OBJECT || prototype === null) return this.fields(bare([prototype === null ? "o0" : "o"]), value);
    if (isMap(value) && prototype === Map.prototype) {
      const row = bare(["m"]);
      mapForEach(value, (item, key) => {
        row[row.length] = this.put(key);
        row[row.length] = this.put(item);
      });
      return row;
    }
    if (isSet(value) && prototype === Set.prototype) {
      const row = bare(["s"]);
      setForEach(value, (item) => {
        row[row.length] = this.put(item);
      });
      return row;
    }
    if (isDate(value) && prototype === Date.prototype) return ["d", this.put(getTime(value))];
    if (isRegExp(value) && prototype === RegExp.prototype) {
      return ["re", `${value.source}`, `${value.flags}`, this.put(value.lastIndex)];
    }
    if (isTypedArray(value) || isAnyArrayBuffer(value)) {
      const name = classNamed(BYTES, prototype);
      return name && ["t", name, textOf(bytesOf(value), "latin1")];
    }
    if (isNativeError(value)) {
      const { base, name, text, line } = described(value);
      return ["er", base, name, text, line];
    }
    if (isNumberObject(value) || isStringObject(value) || isBooleanObject(value)) {
      const name = classNamed(BOXES, prototype);
      return name && ["bx", name, this.put(apply(BOXES[name].prototype.valueOf, value, []))];
    }
    if (isGeneratorObject(value) || isOneOf(ITERATORS, prototype)) return this.drained(value);
    return null;
  }

  list(value) {
    const { length } = value;
    if (length > MAX_LENGTH) throw new Unsupported(`an array of more than ${MAX_LENGTH} items`);
    const row = bare(["a", length]);
    let holes = 0;
    for (let at = 0; at < length; at++) {
      const present = hasOwn(value, at);
      row[at + 2] = present ? this.put(value[at]) : ["v", "hole"];
      if (!present) holes++;
    }
    const keys = ownKeys(value);
    for (let at = length - holes; at < keys.length; at++) this.field(row, value, keys[at]);
    return row;
  }

  fields(row, value) {
    const keys = ownKeys(value);
    for (let at = 0; at < keys.length; at++) this.field(row, value, keys[at]);
    return row;
  }

  field(row, value, key) {
    if (typeof key !== "string" || !isEnumerable(value, key)) return;
    row[row.length] = key;
    row[row.length] = this.put(value[key]);
  }

  /** The items that are left in an iterator. */
  drained(iterator) {
    const row = bare(["it"]);
    for (;;) {
      const step = iterator.next();
      if (isPromise(step)) throw new Unsupported("an asynchronous iterator cannot be compared with the tests' values");
      if (step.done) return row;
      if (row.length > MAX_ITEMS) throw new Unsupported(`an iterator of more than ${MAX_ITEMS} items`);
      row[row.length] = this.put(step.value);
    }
  }
}

const NOTHING = { __proto__: null };

function isOneOf(list, item) {
  for (let at = 0; at < list.length; at++) {
    if (list[at] === item) return true;
  }
  return false;
}

function bytesOf(value) {
  return isAnyArrayBuffer(value) ? bytesFrom(value) : bytesFrom(value.buffer, value.byteOffset, value.byteLength);
}

/** An error as its nearest built-in class, its name, its message and the program's line. */
function described(error) {
  let base = null;
  for (let at = error; at !== null && base === null; at = getPrototypeOf(at)) base = classNamed(ERRORS, at);
  const read = (key, most) => {
    try {
      return wellFormed(slice(`${error[key]}`, 0, most));
    } catch {
      return "";
    }
  };
  let name = read("name", 200);
  if (name === base || name === "") {
    // Most classes of errors leave the name as it is; the class says more.
    const prototype = getPrototypeOf(error);
    name = nameOf(prototype === null ? null : getOwnPropertyDescriptor(prototype, "constructor")?.value, name);
  }
  const line = matchIn(/program\.js:(\d{1,9})/, read("stack", 100_000));
  return {
    base: base ?? "Error",
    name: name || "Error",
    text: read("message", 2000),
    line: line === null ? null : +line[1],
  };
}

/** The name of a function or class. */
function nameOf(maker, otherwise) {
  if (typeof maker !== "function" || isProxy(maker)) return otherwise;
  const name = getOwnPropertyDescriptor(maker, "name")?.value;
  return typeof name === "string" && name !== "" ? wellFormed(slice(name, 0, 200)) : otherwise;
}

/** Text without halves of characters, which not every reader of JSON takes. */
function wellFormed(text) {
  return replace(text, /\p{Surrogate}/gu, "\ufffd");
}
