package jepsen

import (
	"strconv"
	"strings"

	"olympos.io/encoding/edn"
)

// record is one map of a history: the begin or the end of an operation, or
// something that the nemesis did.
type record struct {
	line    int
	kind    string // invoke, ok, fail, info
	process any    // int64 of a client
	f       string
	value   any
	valued  bool // it has a :value, if only nil
	index   int64
	indexed bool
}

// records reads a history record by record.
type records struct {
	*reader
	memory memory
	last   record // with an index
}

// read returns the next record, or io.EOF.
func (r *records) read() (record, error) {
	text, line, err := r.operation()
	if err != nil {
		return record{}, err
	}
	rec := record{line: line}
	err = fields(text, line, func(key, value []byte) error { return rec.set(r.memory, key, value) })
	if err != nil {
		return record{}, err
	}
	return rec, r.check(rec)
}

// set takes over a field that a judge asks for. All others, and their values,
// may be whatever they like.
func (rec *record) set(m memory, key, value []byte) error {
	name, is := strings.CutPrefix(string(key), ":")
	if !is {
		return nil
	}
	switch bare(name) {
	case "type", "f", "process", "value":
	case "index":
		return rec.number(value)
	default:
		return nil
	}
	v, err := m.decode(value, rec.line)
	if err != nil {
		return err
	}
	switch bare(name) {
	case "type":
		rec.kind = word(v)
	case "f":
		rec.f = word(v)
	case "process":
		rec.process = v
	case "value":
		rec.value, rec.valued = v, true
	}
	return nil
}

func (rec *record) number(text []byte) error {
	n, err := strconv.ParseInt(string(text), 10, 64)
	if err != nil {
		return wrong(rec.line, ":index %.64q is no number", text)
	}
	rec.index, rec.indexed = n, n >= 0 // -1 stands for none
	return nil
}

// bare is a keyword without its namespace.
func bare(keyword string) string {
	return keyword[strings.LastIndexByte(keyword, '/')+1:]
}

// word is a keyword or a symbol without its namespace, or the text of what is
// neither.
func word(v any) string {
	switch v := v.(type) {
	case edn.Keyword:
		return bare(string(v))
	case edn.Symbol:
		return bare(string(v))
	}
	return show(v)
}

func (r *records) check(rec record) error {
	switch rec.kind {
	case "invoke", "ok", "fail", "info":
	case "":
		return wrong(rec.line, "an operation without :type")
	default:
		return wrong(rec.line, ":type %.64s: want :invoke, :ok, :fail or :info", rec.kind)
	}
	if rec.process == nil {
		return wrong(rec.line, "an operation without :process")
	}
	if !rec.indexed {
		return nil
	}
	if r.last.indexed && rec.index <= r.last.index {
		return wrong(rec.line, ":index %d follows %d of line %d: the history is not in its order", rec.index, r.last.index, r.last.line)
	}
	r.last = rec
	return nil
}

// client returns the process of a client, which is a number; the nemesis and
// its like have names.
func (rec record) client() (int64, bool) {
	n, ok := rec.process.(int64)
	return n, ok
}
