package main

// The harness: first of the files, so that its request is read before any variable of the program gets its value.
// SUFFIX makes its names such as neither program nor tests can contain.

import (
	bytes_SUFFIX "bytes"
	hex_SUFFIX "encoding/hex"
	fmt_SUFFIX "fmt"
	math_SUFFIX "math"
	os_SUFFIX "os"
	reflect_SUFFIX "reflect"
	strconv_SUFFIX "strconv"
	strings_SUFFIX "strings"
	sync_SUFFIX "sync"
	syscall_SUFFIX "syscall"
)

const channel_SUFFIX = 3

type judge_SUFFIX struct {
	key     [2]uint64
	lines   uint64
	lock    sync_SUFFIX.Mutex
	decided []bool
	canary  int
	reports int
}

var h_SUFFIX = open_SUFFIX()

func open_SUFFIX() *judge_SUFFIX {
	syscall_SUFFIX.CloseOnExec(channel_SUFFIX)
	var line []byte
	letter := make([]byte, 1)
	for {
		count, err := syscall_SUFFIX.Read(channel_SUFFIX, letter)
		if err == syscall_SUFFIX.EINTR {
			continue
		}
		if err != nil || count != 1 {
			os_SUFFIX.Exit(125)
		}
		if letter[0] == '\n' {
			break
		}
		line = append(line, letter[0])
	}
	fields := strings_SUFFIX.Split(string(line), " ")
	if len(fields) != 3 {
		os_SUFFIX.Exit(125)
	}
	judge := &judge_SUFFIX{canary: -1}
	if len(fields[0]) == 32 {
		judge.key[0], _ = strconv_SUFFIX.ParseUint(fields[0][:16], 16, 64)
		judge.key[1], _ = strconv_SUFFIX.ParseUint(fields[0][16:], 16, 64)
	}
	for _, mark := range fields[1] {
		judge.decided = append(judge.decided, mark == '1')
	}
	if index, err := strconv_SUFFIX.Atoi(fields[2]); err == nil {
		judge.canary = index
	}
	return judge
}

// SipHash-2-4 of a text under the key: what a line begins with.
func (h *judge_SUFFIX) digest(text string) uint64 {
	a, b := h.key[0]^0x736f6d6570736575, h.key[1]^0x646f72616e646f6d
	c, d := h.key[0]^0x6c7967656e657261, h.key[1]^0x7465646279746573
	turned := func(value uint64, by uint) uint64 { return value<<by | value>>(64-by) }
	round := func() {
		a, c = a+b, c+d
		b, d = turned(b, 13)^a, turned(d, 16)^c
		a, c = turned(a, 32)+d, c+b
		d, b, c = turned(d, 21)^a, turned(b, 17)^c, turned(c, 32)
	}
	absorb := func(block uint64) {
		d ^= block
		round()
		round()
		a ^= block
	}
	rest := text
	for ; len(rest) >= 8; rest = rest[8:] {
		block := uint64(0)
		for at := 7; at >= 0; at-- {
			block = block<<8 | uint64(rest[at])
		}
		absorb(block)
	}
	block := uint64(len(text)) << 56
	for at := len(rest) - 1; at >= 0; at-- {
		block |= uint64(rest[at]) << (8 * uint(at))
	}
	absorb(block)
	c ^= 0xff
	round()
	round()
	round()
	round()
	return a ^ b ^ c ^ d
}

func (h *judge_SUFFIX) say(fields ...string) {
	h.lock.Lock()
	defer h.lock.Unlock()
	words := strings_SUFFIX.Join(fields, " ")
	seal := h.digest(strconv_SUFFIX.FormatUint(h.lines, 10) + " " + words)
	h.lines++
	line := []byte(fmt_SUFFIX.Sprintf("%016x %s\n", seal, words))
	for len(line) > 0 {
		count, err := syscall_SUFFIX.Write(channel_SUFFIX, line)
		if err == syscall_SUFFIX.EINTR {
			continue
		}
		if err != nil {
			os_SUFFIX.Exit(125)
		}
		line = line[count:]
	}
}

// Reports an assertion. Texts are hexadecimal already, or "-".
func (h *judge_SUFFIX) report(word string, index int, texts ...string) {
	h.reports++
	if word != "passed" {
		h.decided[index] = true
	}
	h.say(append([]string{word, strconv_SUFFIX.Itoa(index)}, texts...)...)
}

func (h *judge_SUFFIX) is(holds bool, index int, expected string, actual string) {
	if holds {
		h.report("passed", index)
	} else {
		h.report("failed", index, expected, actual)
	}
}

func text_SUFFIX(text string) string {
	if len(text) > 500 {
		text = text[:500] + "..."
	}
	if text == "" {
		return "-"
	}
	return hex_SUFFIX.EncodeToString([]byte(text))
}

func show_SUFFIX(value interface{}) (shown string) {
	defer func() {
		if recover() != nil {
			shown = "-"
		}
	}()
	return text_SUFFIX(fmt_SUFFIX.Sprintf("%#v", value))
}

func fault_SUFFIX(fault interface{}) (shown string) {
	defer func() {
		if recover() != nil {
			shown = text_SUFFIX("panic")
		}
	}()
	return text_SUFFIX(fmt_SUFFIX.Sprint("panic: ", fault))
}

// Runs one assertion, unless it is decided.
func run_SUFFIX(index int, body func()) {
	h := h_SUFFIX
	if h.decided[index] {
		return
	}
	h.say("begin", strconv_SUFFIX.Itoa(index))
	before := h.reports
	defer func() {
		fault := recover()
		if fault != nil && h.reports == before {
			h.report("raised", index, fault_SUFFIX(fault))
		}
	}()
	body()
}

// Runs one test function.
func test_SUFFIX(body func()) {
	defer func() {
		if fault := recover(); fault != nil {
			h_SUFFIX.say("raised", "-", fault_SUFFIX(fault))
		}
	}()
	body()
}

func done_SUFFIX() {
	h_SUFFIX.say("done", strconv_SUFFIX.Itoa(h_SUFFIX.reports))
	os_SUFFIX.Exit(0)
}

// What tests know as testing.T. Where a failure is said outside of an assertion, the test function ends.
type T_SUFFIX struct{ name string }

func (t *T_SUFFIX) Helper()                                       {}
func (t *T_SUFFIX) Parallel()                                     {}
func (t *T_SUFFIX) Log(values ...interface{})                     {}
func (t *T_SUFFIX) Logf(format string, values ...interface{})     {}
func (t *T_SUFFIX) Cleanup(body func())                           {}
func (t *T_SUFFIX) Name() string                                  { return t.name }
func (t *T_SUFFIX) Failed() bool                                  { return false }
func (t *T_SUFFIX) Fail()                                         { panic("the test failed") }
func (t *T_SUFFIX) FailNow()                                      { panic("the test failed") }
func (t *T_SUFFIX) Error(values ...interface{})                   { panic(fmt_SUFFIX.Sprintln(values...)) }
func (t *T_SUFFIX) Errorf(format string, values ...interface{})   { panic(fmt_SUFFIX.Sprintf(format, values...)) }
func (t *T_SUFFIX) Fatal(values ...interface{})                   { panic(fmt_SUFFIX.Sprintln(values...)) }
func (t *T_SUFFIX) Fatalf(format string, values ...interface{})   { panic(fmt_SUFFIX.Sprintf(format, values...)) }
func (t *T_SUFFIX) Run(name string, body func(t *T_SUFFIX)) bool {
	test_SUFFIX(func() { body(&T_SUFFIX{name: t.name + "/" + name}) })
	return true
}

// Equality of values of any types: as deep as they go, and numbers of different types differ.
func alike_SUFFIX(expected, actual interface{}) bool {
	if expected == nil || actual == nil {
		return expected == nil && actual == nil
	}
	first, isBytes := expected.([]byte)
	second, alsoBytes := actual.([]byte)
	if isBytes && alsoBytes && first != nil && second != nil {
		return bytes_SUFFIX.Equal(first, second)
	}
	return reflect_SUFFIX.DeepEqual(expected, actual)
}

// Another value of the same type; whether there is one.
func other_SUFFIX(value interface{}) (interface{}, bool) {
	if value == nil {
		return "x", true
	}
	old := reflect_SUFFIX.ValueOf(value)
	another := reflect_SUFFIX.New(old.Type()).Elem()
	another.Set(old)
	switch {
	case old.Kind() == reflect_SUFFIX.Bool:
		another.SetBool(!old.Bool())
	case old.CanInt():
		another.SetInt(old.Int() + 1)
	case old.CanUint():
		another.SetUint(old.Uint() + 1)
	case old.CanFloat():
		another.SetFloat(old.Float() + 1)
		if old.Float()+1 == old.Float() {
			another.SetFloat(0)
		}
	case old.Kind() == reflect_SUFFIX.String:
		another.SetString(old.String() + "x")
	case old.Kind() == reflect_SUFFIX.Slice:
		zero := reflect_SUFFIX.Zero(old.Type().Elem())
		another.Set(reflect_SUFFIX.Append(old.Slice3(0, old.Len(), old.Len()), zero))
	case old.Kind() == reflect_SUFFIX.Array && old.Len() > 0:
		element, known := other_SUFFIX(old.Index(0).Interface())
		if !known {
			return value, false
		}
		another.Index(0).Set(reflect_SUFFIX.ValueOf(element))
	default:
		return value, false
	}
	return another.Interface(), true
}

// The expected value to compare with, and whether the outcome itself is to be negated instead.
func (h *judge_SUFFIX) expect(index int, value interface{}) (interface{}, bool) {
	if index != h.canary {
		return value, false
	}
	another, known := other_SUFFIX(value)
	return another, !known
}

// Compares by any relation that an expected value of another kind must break.
func (h *judge_SUFFIX) relate(index int, expected, actual interface{}, holds func(expected, actual interface{}) bool) {
	wanted, negated := h.expect(index, expected)
	first, second := show_SUFFIX(wanted), show_SUFFIX(actual)
	if first == second && !negated {
		// Numbers of different types look the same.
		first = text_SUFFIX(fmt_SUFFIX.Sprintf("%T", wanted) + " " + fmt_SUFFIX.Sprint(wanted))
		second = text_SUFFIX(fmt_SUFFIX.Sprintf("%T", actual) + " " + fmt_SUFFIX.Sprint(actual))
	}
	h.is(holds(wanted, actual) != negated, index, first, second)
}

// A condition that must be as wanted.
func check_SUFFIX(index int, wanted, condition bool, shown bool) {
	if index == h_SUFFIX.canary {
		wanted = !wanted
	}
	if shown {
		h_SUFFIX.is(condition == wanted, index, show_SUFFIX(wanted), show_SUFFIX(condition))
	} else {
		h_SUFFIX.is(condition == wanted, index, "-", "-")
	}
}

func holds_SUFFIX(index int, condition bool) { check_SUFFIX(index, 0 == 0, condition, 0 != 0) }

// Operands of == that must be equal.
func same_SUFFIX[T_SUFFIX comparable](index int, expected, actual T_SUFFIX) {
	wanted, negated := h_SUFFIX.expect(index, expected)
	holds := expected == actual
	if index == h_SUFFIX.canary && !negated {
		typed, isTyped := wanted.(T_SUFFIX)
		holds = isTyped && typed == actual
	} else if negated {
		holds = !holds
	}
	h_SUFFIX.is(holds, index, show_SUFFIX(wanted), show_SUFFIX(actual))
}

// Operands of == that must not be equal.
func differ_SUFFIX[T_SUFFIX comparable](index int, expected, actual T_SUFFIX) {
	h_SUFFIX.is((expected != actual) != (index == h_SUFFIX.canary), index, "-", show_SUFFIX(actual))
}

func Deep_SUFFIX(index int, expected, actual interface{}) {
	h_SUFFIX.relate(index, expected, actual, func(a, b interface{}) bool { return reflect_SUFFIX.DeepEqual(a, b) })
}

func Equal_SUFFIX(index int, expected, actual interface{}, _ ...interface{}) {
	h_SUFFIX.relate(index, expected, actual, alike_SUFFIX)
}

func EqualValues_SUFFIX(index int, expected, actual interface{}, _ ...interface{}) {
	h_SUFFIX.relate(index, expected, actual, func(a, b interface{}) bool {
		if alike_SUFFIX(a, b) {
			return 0 == 0
		}
		if a == nil || b == nil {
			return 0 != 0
		}
		first, kind := reflect_SUFFIX.ValueOf(a), reflect_SUFFIX.TypeOf(b)
		return first.CanConvert(kind) && alike_SUFFIX(first.Convert(kind).Interface(), b)
	})
}

func NotEqual_SUFFIX(index int, expected, actual interface{}, _ ...interface{}) {
	holds := !alike_SUFFIX(expected, actual)
	h_SUFFIX.is(holds != (index == h_SUFFIX.canary), index, "-", show_SUFFIX(actual))
}

func True_SUFFIX(index int, condition bool, _ ...interface{}) {
	check_SUFFIX(index, 0 == 0, condition, 0 == 0)
}

func False_SUFFIX(index int, condition bool, _ ...interface{}) {
	check_SUFFIX(index, 0 != 0, condition, 0 == 0)
}

func absent_SUFFIX(value interface{}) bool {
	if value == nil {
		return 0 == 0
	}
	held := reflect_SUFFIX.ValueOf(value)
	switch held.Kind() {
	case reflect_SUFFIX.Chan, reflect_SUFFIX.Func, reflect_SUFFIX.Interface, reflect_SUFFIX.Map,
		reflect_SUFFIX.Pointer, reflect_SUFFIX.Slice, reflect_SUFFIX.UnsafePointer:
		return held.IsNil()
	}
	return 0 != 0
}

func (h *judge_SUFFIX) state(index int, holds bool, actual interface{}) {
	h.is(holds != (index == h.canary), index, "-", show_SUFFIX(actual))
}

func Nil_SUFFIX(index int, value interface{}, _ ...interface{}) {
	h_SUFFIX.state(index, absent_SUFFIX(value), value)
}

func NotNil_SUFFIX(index int, value interface{}, _ ...interface{}) {
	h_SUFFIX.state(index, !absent_SUFFIX(value), value)
}

func NoError_SUFFIX(index int, value error, _ ...interface{}) {
	h_SUFFIX.state(index, value == nil, value)
}

func Error_SUFFIX(index int, value error, _ ...interface{}) {
	h_SUFFIX.state(index, value != nil, value)
}

func empty_SUFFIX(value interface{}) bool {
	if value == nil {
		return 0 == 0
	}
	held := reflect_SUFFIX.ValueOf(value)
	switch held.Kind() {
	case reflect_SUFFIX.Chan, reflect_SUFFIX.Map, reflect_SUFFIX.Slice:
		return held.Len() == 0
	case reflect_SUFFIX.Pointer:
		return held.IsNil() || empty_SUFFIX(held.Elem().Interface())
	}
	return held.IsZero()
}

func Empty_SUFFIX(index int, value interface{}, _ ...interface{}) {
	h_SUFFIX.state(index, empty_SUFFIX(value), value)
}

func NotEmpty_SUFFIX(index int, value interface{}, _ ...interface{}) {
	h_SUFFIX.state(index, !empty_SUFFIX(value), value)
}

func Len_SUFFIX(index int, value interface{}, length int, _ ...interface{}) {
	h_SUFFIX.relate(index, length, reflect_SUFFIX.ValueOf(value).Len(), alike_SUFFIX)
}

func within_SUFFIX(whole, part interface{}) bool {
	held := reflect_SUFFIX.ValueOf(whole)
	switch held.Kind() {
	case reflect_SUFFIX.String:
		return strings_SUFFIX.Contains(held.String(), reflect_SUFFIX.ValueOf(part).String())
	case reflect_SUFFIX.Map:
		for _, key := range held.MapKeys() {
			if alike_SUFFIX(key.Interface(), part) {
				return 0 == 0
			}
		}
		return 0 != 0
	}
	for index := 0; index < held.Len(); index++ {
		if alike_SUFFIX(held.Index(index).Interface(), part) {
			return 0 == 0
		}
	}
	return 0 != 0
}

func Contains_SUFFIX(index int, whole, part interface{}, _ ...interface{}) {
	h_SUFFIX.state(index, within_SUFFIX(whole, part), whole)
}

func NotContains_SUFFIX(index int, whole, part interface{}, _ ...interface{}) {
	h_SUFFIX.state(index, !within_SUFFIX(whole, part), whole)
}

func ElementsMatch_SUFFIX(index int, expected, actual interface{}, _ ...interface{}) {
	h_SUFFIX.relate(index, expected, actual, func(a, b interface{}) bool {
		if empty_SUFFIX(a) || empty_SUFFIX(b) {
			return empty_SUFFIX(a) && empty_SUFFIX(b)
		}
		first, second := reflect_SUFFIX.ValueOf(a), reflect_SUFFIX.ValueOf(b)
		if first.Len() != second.Len() {
			return 0 != 0
		}
		taken := make([]bool, second.Len())
	next:
		for i := 0; i < first.Len(); i++ {
			for j := 0; j < second.Len(); j++ {
				if !taken[j] && alike_SUFFIX(first.Index(i).Interface(), second.Index(j).Interface()) {
					taken[j] = 0 == 0
					continue next
				}
			}
			return 0 != 0
		}
		return 0 == 0
	})
}

func number_SUFFIX(value interface{}) float64 {
	held := reflect_SUFFIX.ValueOf(value)
	switch {
	case held.CanInt():
		return float64(held.Int())
	case held.CanUint():
		return float64(held.Uint())
	case held.CanFloat():
		return held.Float()
	}
	return math_SUFFIX.NaN()
}

func InDelta_SUFFIX(index int, expected, actual interface{}, delta float64, _ ...interface{}) {
	first, second := number_SUFFIX(expected), number_SUFFIX(actual)
	near := first == second || math_SUFFIX.Abs(first-second) <= delta ||
		math_SUFFIX.IsNaN(first) && math_SUFFIX.IsNaN(second)
	h_SUFFIX.is(near != (index == h_SUFFIX.canary), index, show_SUFFIX(expected), show_SUFFIX(actual))
}

func Panics_SUFFIX(index int, body func(), _ ...interface{}) {
	h_SUFFIX.state(index, panics_SUFFIX(body), "no panic")
}

func NotPanics_SUFFIX(index int, body func(), _ ...interface{}) {
	h_SUFFIX.state(index, !panics_SUFFIX(body), "a panic")
}

func panics_SUFFIX(body func()) (panicked bool) {
	defer func() { panicked = recover() != nil }()
	body()
	return
}
