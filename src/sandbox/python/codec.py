# Values that travel between the candidate's process and the tests': JSON atoms, and a flat table of numbered objects.
#
# A value is null, true, false, a small int, a finite float, a string, ["i", hex], ["f", "nan" | "inf" | "-inf"], or
# [k]: object k of the table. The table keeps sharing, identity and cycles, and nothing nests, so depth costs nothing.
import json

MAX_ITEMS = 100_000
MAX_BYTES = 4 << 20
_SAFE = (1 << 53) - 1

_write = json.JSONEncoder(separators=(",", ":")).encode
_read = json.JSONDecoder().decode


class Unsupported(Exception):
    """A value that cannot be carried."""


def _module(name):
    return __import__(name, None, None, ["*"])


# Types of the standard library that travel by value: tag, module, name. Looked up when first met.
_BY_TAG = {
    "C": ("collections", "Counter"), "D": ("collections", "defaultdict"), "O": ("collections", "OrderedDict"),
    "q": ("collections", "deque"), "dec": ("decimal", "Decimal"), "fr": ("fractions", "Fraction"),
    "date": ("datetime", "date"), "time": ("datetime", "time"), "dt": ("datetime", "datetime"),
    "td": ("datetime", "timedelta"), "tz": ("datetime", "timezone"),
}
_TAG_OF = {place: tag for tag, place in _BY_TAG.items()}
_BUILTIN_TYPES = {
    kind.__name__: kind
    for kind in vars(__import__("builtins")).values()
    if type(kind) is type and kind.__module__ == "builtins"
}
_BUILTIN_TYPES["NoneType"] = type(None)
_MUTABLE = {"l", "d", "s", "ba", "C", "D", "O", "q", "n"}
_ITERATOR_HOMES = {"builtins", "itertools"}
_DATA = (int, float, complex, str, bytes, bytearray, list, tuple, dict, set, frozenset)
_MODULE = type(json)
_KEYS, _VALUES, _ITEMS = type({}.keys()), type({}.values()), type({}.items())


def _standard(tag):
    module, name = _BY_TAG[tag]
    return getattr(_module(module), name)


def _tag_of(kind):
    place = (kind.__module__, kind.__name__)
    if place == ("_pydecimal", "Decimal"):
        place = ("decimal", "Decimal")
    tag = _TAG_OF.get(place)
    return tag if tag is not None and _standard(tag) is kind else None


class Table:
    """Numbers objects and describes them. `owner.foreign(value)` describes what the codec does not know itself."""

    def __init__(self, owner, objects=()):
        self.owner = owner
        self.objects = list(objects)
        self.numbers = {id(value): number for number, value in enumerate(self.objects) if value is not _NOTHING}
        self.known = len(self.objects)

    def put(self, value):
        kind = type(value)
        if value is None or kind is bool or kind is str:
            return value
        if kind is int:
            return value if -_SAFE <= value <= _SAFE else ["i", format(value, "x")]
        if kind is float:
            if value - value == 0.0:
                return value
            return ["f", "nan" if value != value else "inf" if value > 0 else "-inf"]
        number = self.numbers.get(id(value))
        if number is None:
            number = self.numbers[id(value)] = len(self.objects)
            self.objects.append(value)
        return [number]

    def rows(self, start=0):
        """Descriptions of all objects from `start` on, including those that describing them adds."""
        rows = []
        while start + len(rows) < len(self.objects):
            rows.append(self.describe(self.objects[start + len(rows)]))
        return rows

    def describe(self, value):
        kind = type(value)
        put = self.put
        if kind is list:
            return ["l", *[put(item) for item in value]]
        if kind is tuple:
            return ["t", *[put(item) for item in value]]
        if kind is dict:
            return ["d", *self.pairs(value)]
        if kind is set:
            return ["s", *[put(item) for item in value]]
        if kind is frozenset:
            return ["fs", *[put(item) for item in value]]
        if kind is complex:
            return ["c", put(value.real), put(value.imag)]
        if kind is bytes:
            return ["b", value.decode("latin-1")]
        if kind is bytearray:
            return ["ba", value.decode("latin-1")]
        if kind is range:
            return ["rg", put(value.start), put(value.stop), put(value.step)]
        if kind is type(Ellipsis):
            return ["..."]
        if value is NotImplemented:
            return ["ni"]
        if kind is type and _BUILTIN_TYPES.get(value.__name__) is value:
            return ["ty", value.__name__]
        if kind is _KEYS:
            return ["dk", *[put(item) for item in value]]
        if kind is _VALUES:
            return ["dv", *[put(item) for item in value]]
        if kind is _ITEMS:
            return ["di", *[put(part) for pair in value for part in pair]]
        if kind is _MODULE:
            return ["mod", value.__name__]
        row = self.owner.foreign(value, self)
        if row is not None:
            return row
        tag = _tag_of(kind)
        if tag is not None:
            return self.standard(tag, value)
        if hasattr(kind, "__next__") and kind.__module__ in _ITERATOR_HOMES:
            return ["it", *[put(item) for item in drain(value)]]
        raise Unsupported(f"a value of type {kind.__name__} cannot be compared with the tests' values")

    def pairs(self, value):
        flat = []
        for key, item in value.items():
            flat.append(self.put(key))
            flat.append(self.put(item))
        return flat

    def standard(self, tag, value):
        put = self.put
        if tag in ("C", "O"):
            return [tag, *self.pairs(value)]
        if tag == "D":
            return ["D", put(value.default_factory), *self.pairs(value)]
        if tag == "q":
            return ["q", put(value.maxlen), *[put(item) for item in value]]
        if tag == "dec":
            return ["dec", str(value)]
        if tag == "fr":
            return ["fr", put(value.numerator), put(value.denominator)]
        if tag == "date":
            return ["date", value.year, value.month, value.day]
        if tag == "td":
            return ["td", value.days, value.seconds, value.microseconds]
        if tag == "tz":
            return ["tz", put(value.utcoffset(None))]
        clock = [value.hour, value.minute, value.second, value.microsecond, put(value.tzinfo), value.fold]
        if tag == "dt":
            return ["dt", value.year, value.month, value.day, *clock]
        return ["time", *clock]


_NOTHING = object()


def drain(iterator):
    """The items that are left in an iterator: at most MAX_ITEMS."""
    items = []
    for item in iterator:
        if len(items) == MAX_ITEMS:
            raise Unsupported(f"an iterator of more than {MAX_ITEMS} items")
        items.append(item)
    return items


def is_data(value):
    """Whether the value's type is, or inherits from, a type that travels by value."""
    return any(base in _DATA for base in type(value).__mro__)


class Reader:
    """Rebuilds values. Objects below `len(objects)` exist already and are changed in place."""

    def __init__(self, owner, objects=()):
        self.owner = owner
        self.objects = list(objects)
        self.rows = {}

    def add(self, start, rows, changed=()):
        """Takes in descriptions numbered from `start` and new descriptions of objects that exist."""
        if start != len(self.objects):
            raise Unsupported("the table does not follow on")
        self.objects.extend([_NOTHING] * len(rows))
        fresh = range(start, start + len(rows))
        self.rows = dict(zip(fresh, rows))
        for number, row in changed:
            if not 0 <= number < start or row[0] not in _MUTABLE:
                raise Unsupported("only mutable values can change")
            self.rows[number] = row
        for number in fresh:
            if self.rows[number][0] in _MUTABLE:
                self.objects[number] = self.shell(self.rows[number])
        for number in fresh:
            self.build(number)
        late = []
        for number, row in self.rows.items():
            if row[0] in ("n", "l", "ba"):
                self.fill(self.objects[number], row)
            elif row[0] in _MUTABLE:
                late.append(number)
        for number in late:
            self.fill(self.objects[number], self.rows[number])

    def get(self, ref):
        if type(ref) is not list:
            return ref
        if len(ref) == 1:
            value = self.objects[ref[0]]
            if value is _NOTHING:
                raise Unsupported("a reference to nothing")
            return value
        if ref[0] == "i":
            return int(ref[1], 16)
        return {"nan": float("nan"), "inf": float("inf"), "-inf": -float("inf")}[ref[1]]

    def build(self, number):
        """Makes an immutable object after those that it holds, without recursion."""
        stack = [number]
        opened = set()
        while stack:
            top = stack[-1]
            if self.objects[top] is not _NOTHING:
                stack.pop()
                continue
            row = self.rows[top]
            waiting = [
                ref[0] for ref in row[1:]
                if type(ref) is list and len(ref) == 1 and self.objects[ref[0]] is _NOTHING
            ]
            if waiting:
                if top in opened:
                    raise Unsupported("an immutable value that holds itself")
                opened.add(top)
                stack.extend(waiting)
            else:
                self.objects[top] = self.immutable(row)
                stack.pop()

    def immutable(self, row):
        tag, parts = row[0], [self.get(ref) for ref in row[1:]]
        if tag == "t":
            return tuple(parts)
        if tag == "fs":
            return frozenset(parts)
        if tag == "c":
            return complex(parts[0], parts[1])
        if tag == "b":
            return parts[0].encode("latin-1")
        if tag == "rg":
            return range(*parts)
        if tag == "...":
            return Ellipsis
        if tag == "ni":
            return NotImplemented
        if tag == "ty":
            return _BUILTIN_TYPES[parts[0]]
        if tag == "it":
            return iter(parts)
        if tag == "dk":
            return dict.fromkeys(parts).keys()
        if tag == "dv":
            return dict(enumerate(parts)).values()
        if tag == "di":
            return dict(zip(parts[::2], parts[1::2])).items()
        if tag == "fr":
            return _standard(tag)(parts[0], parts[1])
        if tag == "dt":
            return _standard(tag)(*parts[:8], fold=parts[8])
        if tag == "time":
            return _standard(tag)(*parts[:5], fold=parts[5])
        if tag in _BY_TAG and tag not in _MUTABLE:
            return _standard(tag)(*parts)
        return self.owner.foreign_value(tag, parts)

    def shell(self, row):
        tag = row[0]
        if tag == "l":
            return []
        if tag == "d":
            return {}
        if tag == "s":
            return set()
        if tag == "ba":
            return bytearray()
        if tag == "n":
            return self.owner.instance(row[1])
        if tag == "q":
            return _standard(tag)(maxlen=row[1])
        return _standard(tag)()

    def fill(self, value, row):
        tag, parts = row[0], [self.get(ref) for ref in row[1:]]
        if tag == "l":
            value[:] = parts
        elif tag == "ba":
            value[:] = parts[0].encode("latin-1")
        elif tag == "n":
            self.owner.set_fields(value, dict(zip(parts[1::2], parts[2::2])))
        elif tag == "s":
            value.clear()
            value.update(parts)
        elif tag == "q":
            value.clear()
            value.extend(parts[1:])
        else:
            if tag == "D":
                value.default_factory = parts.pop(0)
            value.clear()
            for key, item in zip(parts[::2], parts[1::2]):
                dict.__setitem__(value, key, item) if tag != "O" else value.__setitem__(key, item)


def fields(value):
    """What an instance of a support class holds: its dictionary and its slots."""
    held = dict(getattr(value, "__dict__", {}))
    for base in type(value).__mro__:
        slots = base.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if name not in ("__dict__", "__weakref__") and hasattr(value, name):
                held[name] = getattr(value, name)
    return held


def fill_fields(value, held):
    """Makes `value` hold exactly `held`."""
    for name in [name for name in fields(value) if name not in held]:
        object.__delattr__(value, name)
    for name, item in held.items():
        object.__setattr__(value, name, item)


class Channel:
    """JSON lines over one descriptor."""

    def __init__(self, descriptor):
        import os
        self.descriptor = descriptor
        self.pending = b""
        self.read_some = os.read
        self.write_some = os.write

    def receive(self):
        """The next message, or None at the end."""
        while True:
            line, newline, rest = self.pending.partition(b"\n")
            if newline:
                self.pending = rest
                return _read(line.decode())
            chunks = [self.pending]
            while True:
                chunk = self.read_some(self.descriptor, 1 << 16)
                if not chunk:
                    return None
                chunks.append(chunk)
                if b"\n" in chunk:
                    break
            self.pending = b"".join(chunks)

    def send(self, message):
        self.send_text(_write(message))

    def send_text(self, text):
        data = memoryview(text.encode() + b"\n")
        while data:
            data = data[self.write_some(self.descriptor, data):]
