// What a program is linked with: reads one request, runs the tests, writes a line for each assertion. Macros are named by
// their whole paths, since those of the program are seen here. Words in capitals that are nowhere defined are filled in:
// letters that the program cannot know, the number of assertions, and the program's types whose equality is known.
use ::std::any::type_name;
use ::std::boxed::Box;
use ::std::fmt::{self, Debug, Write as _};
use ::std::option::Option::{self, None, Some};
use ::std::panic::{catch_unwind, AssertUnwindSafe};
use ::std::result::Result::{self, Err, Ok};
use ::std::string::String;
use ::std::sync::{Mutex, MutexGuard};
use ::std::vec::Vec;

const CHANNEL: usize = 3;
const MAX_LETTERS: usize = 500;
const ASSERTIONS: usize = COUNT;
const OWN: &[&str] = &[OWN_TYPES];

#[cfg(rolecall_missing_rand)]
::std::compile_error!("`rand` is a library that could not be built on this machine");
#[cfg(rolecall_missing_regex)]
::std::compile_error!("`regex` is a library that could not be built on this machine");
#[cfg(rolecall_missing_md5)]
::std::compile_error!("`md5` is a library that could not be built on this machine");

// System calls without the C library, whose functions a program may replace.
#[cfg(target_arch = "x86_64")]
fn system_call(number: usize, first: usize, second: usize, third: usize) -> isize {
    let result: isize;
    unsafe {
        ::core::arch::asm!("syscall", inlateout("rax") number as isize => result, in("rdi") first, in("rsi") second,
            in("rdx") third, lateout("rcx") _, lateout("r11") _);
    }
    result
}
#[cfg(target_arch = "aarch64")]
fn system_call(number: usize, first: usize, second: usize, third: usize) -> isize {
    let result: isize;
    unsafe {
        ::core::arch::asm!("svc 0", in("x8") number, inlateout("x0") first as isize => result, in("x1") second, in("x2") third);
    }
    result
}
#[cfg(target_arch = "x86_64")]
const CALLS: (usize, usize, usize, usize) = (0, 1, 72, 231);
#[cfg(target_arch = "aarch64")]
const CALLS: (usize, usize, usize, usize) = (63, 64, 25, 94);
const INTERRUPTED: isize = -4;
const AGAIN: isize = -11;

fn end(status: usize) -> ! {
    loop {
        system_call(CALLS.3, status, 0, 0);
    }
}

/// Room for the request: a nonce, a digit for each assertion, a number.
struct Request(::core::cell::UnsafeCell<[u8; ASSERTIONS + 128]>);
unsafe impl Sync for Request {}
static REQUEST: Request = Request(::core::cell::UnsafeCell::new([0; ASSERTIONS + 128]));

/// Before anything of the program that libraries or loaders run; nothing of the libraries has begun yet.
#[used]
#[link_section = ".preinit_array"]
static AT_FIRST: extern "C" fn() = read_request;

extern "C" fn read_request() {
    let start = REQUEST.0.get() as *mut u8;
    let mut length = 0;
    while length < ASSERTIONS + 128 {
        let place = unsafe { start.add(length) };
        match system_call(CALLS.0, CHANNEL, place as usize, 1) {
            INTERRUPTED => {}
            1 if unsafe { *place } == b'\n' => {
                system_call(CALLS.2, CHANNEL, 2, 1); // F_SETFD, FD_CLOEXEC
                return;
            }
            1 => length += 1,
            _ => end(121),
        }
    }
    end(121)
}

/// The request, which is not kept where it was.
fn take_request() -> Vec<u8> {
    let bytes = unsafe { &mut *REQUEST.0.get() };
    let line = bytes.iter().copied().take_while(|byte| *byte != b'\n').collect();
    bytes.fill(0);
    line
}

fn write_line(line: &str) {
    let mut rest = line.as_bytes();
    while !rest.is_empty() {
        match system_call(CALLS.1, CHANNEL, rest.as_ptr() as usize, rest.len()) {
            INTERRUPTED | AGAIN => {}
            written if written > 0 => rest = &rest[written as usize..],
            _ => end(121),
        }
    }
}

struct State {
    key: [u64; 2],
    lines: u64,
    mask: Vec<u8>,
    canary: Option<usize>,
    /// Assertions at work, the innermost last.
    at: Vec<usize>,
    ended: Vec<bool>,
    reports: usize,
    place: Option<u32>,
}

static STATE: Mutex<Option<State>> = Mutex::new(None);

fn state() -> MutexGuard<'static, Option<State>> {
    STATE.lock().unwrap_or_else(|error| error.into_inner())
}

fn with<T>(change: impl FnOnce(&mut State) -> T) -> T {
    match &mut *state() {
        Some(state) => change(state),
        None => end(121),
    }
}

/// SipHash-2-4 of a text under a key: what a line begins with.
#[allow(deprecated)]
fn digest(key: [u64; 2], text: &str) -> u64 {
    let mut hasher = ::std::hash::SipHasher::new_with_keys(key[0], key[1]);
    ::std::hash::Hasher::write(&mut hasher, text.as_bytes());
    ::std::hash::Hasher::finish(&hasher)
}

fn say(word: &str, index: Option<usize>, fields: &[Option<String>]) {
    let mut words = String::from(word);
    words.push(' ');
    match index {
        Some(index) => words.push_str(&::std::string::ToString::to_string(&index)),
        None => words.push('-'),
    }
    for field in fields {
        words.push(' ');
        match field {
            Some(text) if !text.is_empty() => text.bytes().for_each(|byte| {
                let _ = words.write_fmt(::std::format_args!("{:02x}", byte));
            }),
            _ => words.push('-'),
        }
    }
    with(|state| {
        let mut text = String::new();
        let _ = text.write_fmt(::std::format_args!("{} {}", state.lines, words));
        state.lines += 1;
        let mut line = String::new();
        let _ = line.write_fmt(::std::format_args!("{:016x} {}\n", digest(state.key, &text), words));
        write_line(&line);
    });
}

fn ended(word: &str, index: usize, fields: &[Option<String>]) {
    with(|state| {
        state.at.pop();
        state.ended[index] = true;
        state.reports += 1;
    });
    say(word, Some(index), fields);
}

/// Whether an assertion is to be judged: it is not decided yet.
pub fn begin(index: usize) -> bool {
    let is_open = with(|state| {
        let is_open = state.mask[index] != b'1' && !state.ended[index];
        if is_open {
            state.at.push(index);
        }
        is_open
    });
    if is_open {
        say("begin", Some(index), &[]);
    }
    is_open
}

pub fn is_canary(index: usize) -> bool {
    with(|state| state.canary == Some(index))
}

/// Runs what an assertion computes.
pub fn assertion(run: impl FnOnce()) {
    let depth = with(|state| state.at.len());
    if let Err(panic) = catch_unwind(AssertUnwindSafe(run)) {
        raised(depth - 1, panic_text(panic));
    }
}

/// Says of every assertion at work from a depth on that it was left, or that statements outside of any were.
fn raised(depth: usize, text: String) {
    if with(|state| state.at.is_empty()) {
        return say("raised", None, &[Some(text)]);
    }
    while let Some(index) = with(|state| state.at.get(depth..).and_then(|inner| inner.last().copied())) {
        ended("raised", index, &[Some(text.clone())]);
    }
}

fn panic_text(panic: Box<dyn ::std::any::Any + Send>) -> String {
    let message = match panic.downcast_ref::<&'static str>() {
        Some(message) => Some(*message),
        None => panic.downcast_ref::<String>().map(|message| message.as_str()),
    };
    let mut text = Limited(String::new(), MAX_LETTERS);
    let _ = text.write_str("panicked: ");
    let _ = text.write_str(message.unwrap_or("a value that is no text"));
    if let Some(line) = with(|state| state.place.take()) {
        text.1 += 64;
        let _ = text.write_fmt(::std::format_args!(" (line {} of the program)", line));
    }
    ::std::mem::forget(panic); // Dropping it may panic again.
    text.0
}

/// What a test function gives back.
pub trait Outcome {
    fn error(self) -> Option<String>;
}
impl Outcome for () {
    fn error(self) -> Option<String> {
        None
    }
}
impl<T, E: Debug> Outcome for Result<T, E> {
    fn error(self) -> Option<String> {
        self.err().map(|error| text_of(&error))
    }
}

pub fn test<T: Outcome>(run: fn() -> T) {
    match catch_unwind(AssertUnwindSafe(|| run().error())) {
        Ok(None) => {}
        Ok(Some(error)) => raised(0, error),
        Err(panic) => raised(0, panic_text(panic)),
    }
}

/// Text that ends after so many letters.
struct Limited(String, usize);
impl fmt::Write for Limited {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for letter in text.chars() {
            if self.0.len() >= self.1 {
                self.0.push_str("...");
                return Err(fmt::Error);
            }
            self.0.push(letter);
        }
        Ok(())
    }
}

fn text_of<T: Debug + ?Sized>(value: &T) -> String {
    let mut text = Limited(String::new(), MAX_LETTERS);
    let _ = text.write_fmt(::std::format_args!("{:?}", value));
    text.0
}

/// A value of an assertion. What its type can do is found by method look-up: the methods here where they apply, else those
/// of the traits.
pub struct Value<'a, T: ?Sized>(pub &'a T);

impl<T: Debug + ?Sized> Value<'_, T> {
    pub fn rolecall_text(&self) -> Option<String> {
        catch_unwind(AssertUnwindSafe(|| text_of(self.0))).ok()
    }
}
pub trait NoText {
    fn rolecall_text(&self) -> Option<String> {
        None
    }
}
impl<T: ?Sized> NoText for Value<'_, T> {}

impl<T: Change> Value<'_, T> {
    /// Compares with another value of the type.
    pub fn rolecall_against(&self, plainly: impl FnOnce() -> bool, compare: impl FnOnce(&T) -> bool) -> bool {
        match self.0.changed() {
            Some(other) => compare(&other),
            None => !plainly(),
        }
    }
}
pub trait NoChange<T: ?Sized> {
    fn rolecall_against(&self, plainly: impl FnOnce() -> bool, _: impl FnOnce(&T) -> bool) -> bool {
        !plainly()
    }
}
impl<T: ?Sized> NoChange<T> for Value<'_, T> {}

fn type_of<T: ?Sized>(_: &T) -> &'static str {
    type_name::<T>()
}

/// Whether the equality of a type proves something: nothing in it is the program's own.
fn is_plain(name: &str) -> bool {
    let module = ::std::module_path!();
    let root = &module[..module.find("::").map_or(module.len(), |end| end + 2)];
    name.match_indices(root).all(|(at, _)| {
        let is_inner = name[..at].ends_with(|letter: char| letter.is_alphanumeric() || letter == '_' || letter == ':');
        let rest = &name[at + root.len()..];
        let end = rest.find(|letter: char| !letter.is_alphanumeric() && letter != '_' && letter != ':');
        let path = &rest[..end.unwrap_or(rest.len())];
        is_inner || path.starts_with("rolecall_preamble_SUFFIX::") || OWN.contains(&path)
    })
}

/// Reports a comparison. The operator is `==` or what is said before the expected value.
pub fn compared<L: ?Sized, R: ?Sized>(
    index: usize,
    operator: &str,
    is_swapped: bool,
    values: (&L, &R),
    holds: bool,
    texts: impl FnOnce() -> (Option<String>, Option<String>),
) {
    let (left, right) = (type_of(values.0), type_of(values.1));
    for name in [left, right] {
        let has_own = OWN.iter().any(|own| name.contains(own));
        if !is_plain(name) || (has_own && left != right) {
            let letters: String = name.chars().take(MAX_LETTERS).collect();
            return ended("unsupported", index, &[Some(letters)]);
        }
    }
    if holds {
        return passed(index);
    }
    let (left, right) = texts();
    let (actual, expected) = if is_swapped { (right, left) } else { (left, right) };
    let expected = expected.map(|text| if operator == "==" { text } else { [operator, " ", &text].concat() });
    ended("failed", index, &[expected, actual]);
}

/// Reports a condition.
pub fn holds(index: usize, holds: bool) {
    if holds != is_canary(index) {
        passed(index);
    } else {
        ended("failed", index, &[None, None]);
    }
}

fn passed(index: usize) {
    with(|state| {
        state.at.pop();
        state.reports += 1;
    });
    say("passed", Some(index), &[]);
}

#[no_mangle]
pub extern "C" fn main(_: i32, _: *const *const u8) -> i32 {
    let line = take_request();
    let mut parts = line.split(|byte| *byte == b' ');
    let (nonce, mask, canary) = match (parts.next(), parts.next(), parts.next()) {
        (Some(nonce), Some(mask), Some(canary)) => (nonce, mask, canary),
        _ => end(121),
    };
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    *state() = Some(State {
        key: [
            u64::from_str_radix(&text(&nonce[..nonce.len().min(16)]), 16).unwrap_or(0),
            u64::from_str_radix(&text(&nonce[nonce.len().min(16)..]), 16).unwrap_or(0),
        ],
        lines: 0,
        mask: mask.to_vec(),
        canary: text(canary).parse().ok(),
        at: Vec::new(),
        ended: mask.iter().map(|_| false).collect(),
        reports: 0,
        place: None,
    });
    let usual = ::std::panic::take_hook();
    ::std::panic::set_hook(Box::new(move |information| {
        let place = information.location().filter(|location| location.file() == "program.rs").map(|place| place.line());
        with(|state| state.place = place);
        usual(information);
    }));
    crate::rolecall_preamble_SUFFIX::rolecall_tests_SUFFIX::rolecall_run_SUFFIX();
    let _ = ::std::io::Write::flush(&mut ::std::io::stdout());
    let count = with(|state| state.reports);
    say("done", Some(count), &[]);
    end(0)
}
