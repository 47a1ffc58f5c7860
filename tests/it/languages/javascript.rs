use rolecall::domain::{Language::JavaScript, Protocol, Verdict};

use super::{io, sandbox, tested};
use crate::sandbox::{assert_at_rest, judge, verdicts};

/// Program, entry point and tests, all of which pass.
const PASSING: &[(&str, &str, &str)] = &[
    ("const f = (x) => x", "f", VALUES),
    (
        "function f(xs) { xs.sort((a, b) => a - b) }",
        "f",
        "const xs = [3, 1, 2], ys = xs\nconsole.assert(f(xs) === undefined)\nconsole.assert(ys.join() === '1,2,3')\n",
    ),
    (
        "function f(o) { delete o.a; o.b = [o]; o.c = (x) => x; return o.b }",
        "f",
        "const o = { a: 1 }\nconst b = f(o)\nconsole.assert(o.b === b && b[0] === o && !('a' in o))\nconsole.assert(o.c(5) === 5)\n",
    ),
    (
        "const f = (xs) => { xs.push(xs); return xs }",
        "f",
        "const xs = [1]\nassert(f(xs) === xs)\nassert(xs[1] === xs)\n",
    ),
    ("const f = (xs) => { xs[0] = 9 }", "f", "const xs = new Uint16Array(2)\nf(xs)\nassert.equal(xs[0], 9)\n"),
    (
        "function* f(n) { for (let i = 0; i < n; i++) yield i }",
        "f",
        "const g = f(3)\nassert(g.next().value === 0)\nassert.deepEqual([...g], [1, 2])\n",
    ),
    ("const f = (g, xs) => xs.map(g)", "f", "assert.deepStrictEqual(f((x) => x * 2, [1, 2]), [2, 4])\n"),
    (
        "const f = (g, n) => n === 0 ? n : g(n - 1)",
        "f",
        "const again = (n) => f(again, n) + 1\nconsole.assert(f(again, 5) === 5)\n",
    ),
    (
        "const f = (g) => { try { g() } catch (e) { return e instanceof TypeError && e.message } }",
        "f",
        "assert.equal(f(() => { throw new TypeError('no') }), 'no')\n",
    ),
    ("const f = (n) => (k) => k + n", "f", "console.assert(f(2)(3) === 5)\n"),
    (
        "const f = () => { let n = 0; return { inc() { n++; return this }, get n() { return n } } }",
        "f",
        "const c = f()\nc.inc().inc()\nconsole.assert(c.n === 2)\n",
    ),
    (
        "class Stack { xs = []; push(x) { this.xs.push(x); return this } static of(x) { return new Stack().push(x) } }",
        "Stack",
        "const s = new Stack()\nassert(s.push(1) === s)\ns.push(2)\nassert.deepEqual(s.xs, [1, 2])\nassert(s instanceof Stack)\n\
         assert(Stack.of(1).xs.length === 1)\n",
    ),
    ("const SIZE = 3; const other = () => SIZE; const f = other", "f", "assert(f() === SIZE)\nassert(other() === 3)\n"),
    (
        "class E extends RangeError {}\nconst f = (n) => { throw new E('no') }",
        "f",
        "let ok = false\ntry { f(1) } catch (e) { ok = e instanceof RangeError && e.name === 'E' && e.message === 'no' }\n\
         assert(ok)\nassert.throws(() => f(1), /no/)\nassert.throws(() => f(1), E)\n",
    ),
    (
        "const f = () => { throw 'bad' }",
        "f",
        "let seen\ntry { f() } catch (e) { seen = e }\nassert.equal(seen, 'bad')\n",
    ),
    (
        "async function f(n) { await new Promise((done) => setTimeout(done, 5)); if (n < 0) throw new Error('no'); return n }",
        "f",
        "(async () => {\n  console.assert((await f(1)) === 1)\n  await assert.rejects(f(-1), /no/)\n\
           f(4).then((n) => console.assert(n === 4))\n})()\n",
    ),
    ("module.exports = { f: (x) => x + 1 }", "f", "assert(f(1) === 2)\n"),
    ("const f = (x) => x", "f", "'use strict'\ntest()\nfunction test() { assert.ok((assert(f(1)), f(2)) === 2) }\n"),
    (
        "const f = (x) => x",
        "f",
        "r = f(3)\nassert(r === 3)\nlet { a, b: [c] } = { a: f(1), b: [f(2)] }\nassert(a + c === 3)\n",
    ),
    ("const f = (x) => x", "f", "for (const [a, b] of [[1, 1], [2, 2]]) console.assert(f(a) == b, 'why')\n"),
    ("const f = (n) => n === 0 ? 0 : 1 + f(n - 1)", "f", "console.assert(f(100000) === 100000)\n"),
    (
        "const process = require('process'); const { performance } = require('perf_hooks'); const f = (x) => x",
        "f",
        "const assert = require('assert')\nassert(f(1))\n",
    ),
    ("const f = (x) => { console.log('{\"passed\":0}'); return x }", "f", "console.assert(f(1) === 1)\n"),
    ("if (require.main === module) throw new Error('main')\nconst f = (x) => x", "f", "console.assert(f(1) === 1)\n"),
    (
        "Array.prototype.toJSON = () => 1; Object.prototype.z = 1; Map.prototype.get = null; JSON.stringify = null\n\
         Object.defineProperty(Array.prototype, 0, { set() {} })\nconst f = (x) => [x]",
        "f",
        "console.assert(JSON.stringify(f(1)) === '[1]')\n",
    ),
];

/// One value of each kind, there and back.
const VALUES: &str = r"
const same = (value) => assert.deepStrictEqual(f(value), value)
for (const value of [undefined, null, true, 0, -0, 2 ** 53, 1.5, 1e300, NaN, Infinity, -Infinity, 7n, -(2n ** 70n)]) same(value)
for (const value of ['a\n\u00e9\u{1F600}', '\ud800', Math.max, String]) same(value)
for (const value of [[], [1, [2]], [, 1, ,], {}, { b: { c: [] }, a: 1 }, Object.create(null), Object(3), Object('x')]) same(value)
for (const value of [new Map([[1, 'a'], [[1], {}]]), new Set([1, '2']), new Date(5), new Date(NaN), /a+/gi]) same(value)
for (const value of [new Uint8Array([1, 255]), new Float64Array([1.5]), new BigInt64Array([1n]), Buffer.from('hi')]) same(value)
for (const value of [new TypeError('no'), new Error('x'), 'abc'.match(/b/)]) same(value)
const shared = [1]
const both = f([shared, shared])
console.assert(both[0] === both[1] && both[0] === shared)
console.assert(f([, 1, ,]).length === 3 && !(0 in f([, 1, ,])))
";

#[tokio::test]
async fn a_javascript_program_reads_and_prints() {
    let sandbox = sandbox(JavaScript).await;
    let program = "const n = Number(require('fs').readFileSync(0, 'utf8'))\nconsole.log(n * 2)\n";
    let judgement = judge(&sandbox, &io(JavaScript, program, "21\n", "42\n")).await;
    assert_eq!(judgement.verdict, Verdict::Passed, "{judgement:#?}");
    let lines =
        "require('readline').createInterface({ input: process.stdin }).on('line', (n) => console.log(+n + 1))\n";
    let judgement = judge(&sandbox, &io(JavaScript, lines, "1\n2\n", "2\n3\n")).await;
    assert_eq!(judgement.verdict, Verdict::Passed, "{judgement:#?}");
    let module =
        "import { readFileSync } from 'fs'\nconsole.log(await Promise.resolve(readFileSync(0, 'utf8').length))\n";
    let judgement = judge(&sandbox, &io(JavaScript, module, "123", "3")).await;
    assert_eq!(judgement.verdict, Verdict::Passed, "{judgement:#?}");
    let judgement = judge(&sandbox, &io(JavaScript, "console.log(1); process.exit(3)", "", "1")).await;
    assert_eq!(judgement.verdict, Verdict::Crashed, "{judgement:#?}");
    assert_at_rest().await;
}

#[tokio::test]
async fn values_calls_and_names_of_javascript_travel_unharmed() {
    let sandbox = sandbox(JavaScript).await;
    for (program, entry, tests) in PASSING {
        let judgement = judge(&sandbox, &tested(JavaScript, program, entry, tests)).await;
        assert!(judgement.passed(), "{program}: {:#?}", judgement.tests);
    }
    assert_at_rest().await;
}

#[tokio::test]
async fn support_classes_live_on_both_sides_of_javascript() {
    let sandbox = sandbox(JavaScript).await;
    let class = "class Node {\n  constructor(value, next = null) { this.value = value; this.next = next }\n}\n";
    let program = "function reverse(node) {\n  let last = null\n  while (node) [node.next, last, node] = [last, node, node.next]\n  \
                   return last ?? new Node(0)\n}\n";
    let tests = "const a = new Node(1), b = new Node(2, a)\nassert(reverse(b) === a)\n\
                 assert(a.next === b && b.next === null)\nassert(reverse(null).value === 0)\nassert(reverse(null) instanceof Node)\n";
    for (program, tests) in [
        (program.to_owned(), tests.to_owned()),
        (format!("{class}{program}"), tests.to_owned()),
        (program.to_owned(), format!("{class}{tests}")),
    ] {
        let mut job = tested(JavaScript, &program, "reverse", &tests);
        job.support = Some(class.to_owned());
        let judgement = judge(&sandbox, &job).await;
        assert!(judgement.passed(), "{:#?}", judgement.tests);
    }
    let mut helped = tested(
        JavaScript,
        "const twice = (n) => 2 * n",
        "twice",
        "assert(twice(2) === four())\nassert(max(twice(1), 1) === 2)\n",
    );
    helped.preamble = Some("const { max, min: least } = Math\nconst four = () => least(max(1, 4), 9)\n".to_owned());
    assert!(judge(&sandbox, &helped).await.passed());
}

#[tokio::test]
async fn each_assertion_of_a_javascript_test_has_its_own_verdict() {
    use Verdict::{Crashed, Passed, Wrong};
    let sandbox = sandbox(JavaScript).await;
    let program = "const f = (n) => {\n  if (n === 2) throw new RangeError('two')\n  if (n === 4) process.exit(0)\n  \
                   return n === 3 ? [9] : n\n}\n";
    let tests = "const check = () => {\n  console.assert(f(1) === 1); console.assert(f(2) === 2)\n  assert.deepEqual([3], f(3))\n  \
                 assert(\n    f(4) === 4\n  )\n  const x = f(2)\n  assert(x === 2)\n  assert(f(5) === 5)\n}\ncheck()\n\
                 const y = f(2)\nassert(y === 2)\nassert(f(6) === 6)\nassert(y === 3)\n";
    let judgement = judge(&sandbox, &tested(JavaScript, program, "f", tests)).await;
    let expected = [Passed, Crashed, Wrong, Crashed, Crashed, Crashed, Crashed, Passed, Crashed];
    assert_eq!(verdicts(&judgement), expected, "{judgement:#?}");
    for test in [1, 4, 5, 6, 8] {
        let message = judgement.tests[test].message.as_deref();
        assert_eq!(message, Some("RangeError: two (line 2 of the program)"), "{test}");
    }
    assert_eq!(judgement.tests[2].expected.as_deref(), Some("[ 3 ]"));
    assert_eq!(judgement.tests[2].actual.as_deref(), Some("[ 9 ]"));
    assert_eq!(judgement.protocol, Protocol::Split);
    assert_at_rest().await;
}

/// Answers by itself: with an object that turns into whatever number is wanted.
const FORGING: &str = "const fs = require('fs')
const say = (id, ok, rows) => fs.writeSync(3, JSON.stringify({ id, ok, rows, changed: [] }) + '\\n')
const f = () => {
  for (let id = 0; ; id++) {
    say(id, [0], [['o', 'valueOf', [1]], ['h', 0, 'g', true]])
    const bytes = Buffer.alloc(1 << 16)
    if (fs.readSync(3, bytes) === 0) process.exit()
  }
}
";

/// Program, tests of `f`, and the verdict of every assertion.
const CHEATING: &[(&str, &str, Verdict)] = &[
    // E01: objects that equal everything.
    ("const f = (n) => ({ valueOf() { return 9 } })", "assert(f(3) == 9)", Verdict::UnsupportedReturn),
    (
        "class Y { [Symbol.toPrimitive]() { return 9 } }\nconst f = (n) => new Y()",
        "assert(f(3) == 9)\nassert(f(3) <= 9)",
        Verdict::UnsupportedReturn,
    ),
    ("class Y {}\nconst f = (n) => new Y()", "assert(f(3))\nassert.deepEqual(f(3), {})", Verdict::UnsupportedReturn),
    (
        "const f = (n) => Object.assign([2], { toJSON: () => [1] })",
        "assert(JSON.stringify(f(3)) === JSON.stringify([1]))",
        Verdict::UnsupportedReturn,
    ),
    ("const f = (n) => new Proxy({ a: 1 }, {})", "assert.deepEqual(f(3), { a: 1 })", Verdict::UnsupportedReturn),
    // E02: leaving before the tests.
    ("const f = (n) => process.exit(0)", "assert(f(1) === 2)\nassert.throws(() => f(1))", Verdict::Crashed),
    ("process.exit(0)", "assert(f(1) === 2)", Verdict::Crashed),
    ("const f = (n) => process.exit(0)", "let ok\ntry { f(1) } catch { ok = true }\nassert(ok)", Verdict::Crashed),
    ("const f = (n) => Symbol()", "let ok\ntry { f(1) } catch { ok = true }\nassert(ok)", Verdict::UnsupportedReturn),
    (
        "process.on('exit', () => { process.exitCode = 0 })\nconst f = (n) => process.abort()",
        "assert(f(1))",
        Verdict::Crashed,
    ),
    ("const f = (n) => process.kill(process.pid, 'SIGKILL')", "assert(f(1) === 2)", Verdict::Crashed),
    // E03: forged results.
    ("console.log('{\"passed\":0}\\n{\"end\":true}')\nconst f = (n) => n", "assert(f(1) === 2)", Verdict::Wrong),
    (
        "const fs = require('fs')\nconst f = (n) => { fs.writeSync(3, '{\"passed\":0}\\n{\"end\":true}\\n'); return n }",
        "assert(f(1) === 2)",
        Verdict::Forbidden,
    ),
    (
        "const fs = require('fs')\nconst f = (n) => { fs.writeSync(3, '{\"id\":0,\"ok\":2,\"rows\":[],\"changed\":[]}\\n'.repeat(2)); return 2 }",
        "assert(f(1) === 2)",
        Verdict::Forbidden,
    ),
    ("require('fs').closeSync(3)\nconst f = (n) => 2", "assert(f(1) === 2)", Verdict::Crashed),
    (
        "const { Worker } = require('worker_threads')\nnew Worker(`require('fs').writeSync(3, '{}\\\\n')`, { eval: true })\n\
         const f = async (n) => { await new Promise((done) => setTimeout(done, 500)); return 2 }",
        "(async () => { assert((await f(1)) === 2) })()",
        Verdict::Forbidden,
    ),
    (FORGING, "assert(f(1) > 5)\nassert(f(1) < 2)", Verdict::UnsupportedReturn),
    // E06: assertions that cannot fail.
    ("console.assert = () => {}\nconst f = (n) => n", "console.assert(f(4) === 8)", Verdict::Wrong),
    (
        "JSON.stringify = () => 1\nrequire('assert').equal = () => {}\nconst f = (n) => n",
        "assert.equal(f(4), 8)\nassert(JSON.stringify(f(4)) === JSON.stringify(8))",
        Verdict::Wrong,
    ),
    // E07: promises.
    (
        "async function f(n) { return false }",
        "assert(f(4))\nassert(!!f(4))\nassert(f(4) ? 1 : 0)\nassert(f(4) !== null)\nassert.notEqual(f(4), null)",
        Verdict::UnsupportedReturn,
    ),
    ("async function f(n) { return false }", "const r = f(4)\nassert(r ? true : false)", Verdict::UnsupportedReturn),
    ("async function f(n) { return false }", "(async () => { assert(await f(4)) })()", Verdict::Wrong),
    ("const f = (n) => new Promise(() => {})", "(async () => { assert((await f(4)) === 1) })()", Verdict::Crashed),
    (
        "const f = (n) => ({ then(done) { done(true) } })",
        "(async () => { assert(await f(4)) })()",
        Verdict::UnsupportedReturn,
    ),
    // Values that would harm the tests' process.
    ("const f = () => eval", "assert(f()('1 + 1') === 3)", Verdict::Wrong),
    (
        "const f = () => JSON.parse('{\"__proto__\": {\"a\": 1}}')",
        "assert(f().a === 1)\nassert({}.a === f())",
        Verdict::Wrong,
    ),
    (
        "const f = () => { const a = []; a.length = 4e9; return a }",
        "assert(f().length === 1)",
        Verdict::UnsupportedReturn,
    ),
    ("const f = () => 'x'.repeat(1e8)", "assert(f() === 'x')", Verdict::UnsupportedReturn),
    ("function* f() { for (;;) yield 1 }", "assert(f() === 1)", Verdict::UnsupportedReturn),
    ("async function* f() { yield 1 }", "assert(f() === 1)", Verdict::UnsupportedReturn),
    (
        "const f = () => { let a = [1]; for (let i = 0; i < 60; i++) a = [a, a]; return a }",
        "assert(f() === 2)",
        Verdict::Wrong,
    ),
    (
        "const f = () => { let a = []; for (let i = 0; i < 1e4; i++) a = [a]; return a }",
        "assert(f() === 2)",
        Verdict::Wrong,
    ),
    // Exceptions that would harm whoever describes them.
    (
        "const f = () => { throw new Proxy({}, { get() { throw 1 }, getPrototypeOf() { throw 2 } }) }",
        "assert(f() === 2)",
        Verdict::Crashed,
    ),
    ("const f = () => { throw null }", "assert(f() === 2)", Verdict::Crashed),
    ("const f = () => { throw new Error('\\ud800x'.repeat(1e7)) }", "assert(f() === 2)", Verdict::Crashed),
    (
        "const f = () => { const e = new Error(); for (const k of ['stack', 'name', 'message', 'errno']) \
         Object.defineProperty(e, k, { get() { throw e } }); throw e }",
        "assert(f() === 2)",
        Verdict::Crashed,
    ),
    // Limits.
    ("const f = (n) => { for (;;); }", "assert(f(1) === 2)", Verdict::TimeoutCpu),
    ("const f = async (n) => { for (;;) await null }", "(async () => { assert(await f(1)) })()", Verdict::TimeoutCpu),
    ("const f = (n) => f(n) + 1", "assert(f(1) === 2)", Verdict::Crashed),
    ("const f = (n) => new ArrayBuffer(1e11)", "assert(f(1) === 2)", Verdict::Memory),
    ("const f = (n) => { for (const a = []; ; ) a.push(Buffer.alloc(1e7, 1)) }", "assert(f(1) === 2)", Verdict::Memory),
    (
        "const f = (n) => { for (;;) require('fs').writeSync(1, 'x'.repeat(1e5)) }",
        "assert(f(1) === 2)",
        Verdict::OutputLimit,
    ),
    // Programs that are none.
    ("const f = (n) => {", "assert(f(1) === 2)", Verdict::CompileError),
    ("const f = (n) => 2\nnull.x", "assert(f(1) === 2)", Verdict::Crashed),
    ("const g = 1", "assert(f(1) === 2)", Verdict::Crashed),
];

#[tokio::test]
async fn no_javascript_program_passes_but_by_its_answers() {
    let sandbox = sandbox(JavaScript).await;
    let mut wrong = Vec::new();
    for (program, tests, expected) in CHEATING {
        let judgement = judge(&sandbox, &tested(JavaScript, program, "f", tests)).await;
        if verdicts(&judgement).iter().any(|verdict| verdict != expected) {
            wrong.push(format!("{program}\n{tests}\n{:#?}", judgement.tests));
        }
    }
    // Which comes first depends on the machine: the end of the heap, of the memory behind it (in which case Node is ended by
    // a signal), or of the time.
    let hoard =
        tested(JavaScript, "const f = (n) => { for (const a = []; ; ) a.push({ a }) }", "f", "assert(f(1) === 2)");
    let hoard = judge(&sandbox, &hoard).await.verdict;
    assert!(matches!(hoard, Verdict::Memory | Verdict::Crashed | Verdict::TimeoutCpu), "{hoard:?}");
    let honest = tested(JavaScript, "const f = (n) => n + 1", "f", "assert(f(1) === 2)");
    assert!(judge(&sandbox, &honest).await.passed());
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    assert_at_rest().await;
}
