package jepsen

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
)

// never is the return of an operation with an unknown outcome.
const never = math.MaxInt

// operation is an invocation and its completion. Failed operations did not happen and are omitted.
type operation struct {
	process int64
	f       string
	key     string // of the lock, where the history has several
	value   any    // of the completion, or else of the invocation
	call    int    // places in the history: the order of the file is the order of time
	ret     int    // never, if the outcome is unknown
	line    int
	end     int // the line of the completion; 0 if there is none
	failed  bool
}

func (o *operation) unknown() bool { return o.ret == never }

func (o *operation) releases() bool { return o.f == "release" || o.f == "unlock" }

// lines names the lines of an operation.
func (o *operation) lines() string {
	if o.end == 0 {
		return fmt.Sprintf("line %d, not completed", o.line)
	}
	return fmt.Sprintf("lines %d to %d", o.line, o.end)
}

// recording is a history whose invocations are paired with their completions.
type recording struct {
	operations []operation // in the order of their calls, without those that failed
	invoked    int         // operations, with those that failed
	infos      int         // of unknown outcome
	keyed      bool        // values are pairs of a key and what is done to it

	open map[int64]int // the operation that a process has in progress
	gone map[int64]int // the line after which a process must not act again
}

// load reads a history.
func load(from io.Reader) (*recording, error) {
	rec := &recording{open: map[int64]int{}, gone: map[int64]int{}}
	in := newReader(from)
	for at := 0; ; at++ {
		r, err := in.next()
		if errors.Is(err, io.EOF) && at > 0 {
			break
		}
		if errors.Is(err, io.EOF) {
			return nil, wrong(max(in.lines.line, 1), "the history is empty")
		}
		if err != nil {
			return nil, err
		}
		if err := rec.add(r, at); err != nil {
			return nil, wrong(r.line, "%w", err)
		}
	}
	rec.operations = slices.DeleteFunc(rec.operations, func(o operation) bool { return o.failed })
	for i := range rec.operations {
		if rec.operations[i].unknown() {
			rec.infos++
		}
	}
	return rec, nil
}

// add adds a record, which has a place in the history.
func (rec *recording) add(r record, at int) error {
	process, is, err := r.client()
	if err != nil || !is {
		return err
	}
	value, err := r.value()
	if err != nil {
		return err
	}
	f := word(r.F)
	if word(r.Type) == "invoke" {
		return rec.invoke(operation{process: process, f: f, value: value, call: at, ret: never, line: r.line})
	}
	i, busy := rec.open[process]
	if !busy {
		return fmt.Errorf("process %d completes an operation that it has not invoked", process)
	}
	o := &rec.operations[i]
	if f != "" && f != o.f {
		return fmt.Errorf("process %d completes %s, and its open operation is the %s of line %d", process, f, o.f, o.line)
	}
	delete(rec.open, process)
	o.end = r.line
	if r.Value != nil && word(r.Type) == "ok" {
		if o.value = value; rec.keyed {
			key, value, pair := tuple(value)
			if !pair || show(key) != o.key {
				return fmt.Errorf("an operation on key %.64s is completed with %.64s", o.key, show(o.value))
			}
			o.value = value
		}
	}
	switch word(r.Type) {
	case "ok":
		o.ret = at
	case "fail":
		o.failed = true
	case "info":
		rec.gone[process] = r.line
	}
	return nil
}

func (rec *recording) invoke(o operation) error {
	if i, busy := rec.open[o.process]; busy {
		return fmt.Errorf("process %d invokes %s while its %s of line %d is open", o.process, o.f, rec.operations[i].f, rec.operations[i].line)
	}
	if line, gone := rec.gone[o.process]; gone {
		return fmt.Errorf("process %d acts again after its :info of line %d", o.process, line)
	}
	switch o.f {
	case "acquire", "release", "lock", "unlock":
	case "":
		return errors.New("an operation without :f")
	default:
		return fmt.Errorf("operations with :f :%.64s cannot be judged; supported are those of locks: :acquire and :release, or :lock and :unlock", o.f)
	}
	key, value, pair := tuple(o.value)
	switch {
	case pair && rec.invoked == 0: // values are as jepsen.independent has them
		rec.keyed = true
	case rec.keyed && !pair:
		return fmt.Errorf("the first operation has a key, and this one has none: %.64s", show(o.value))
	}
	if rec.keyed {
		o.key, o.value = show(key), value
	}
	rec.open[o.process] = len(rec.operations)
	rec.operations = append(rec.operations, o)
	rec.invoked++
	return nil
}

// part is the operations on one lock.
type part struct {
	key        string // "" where there is but one
	operations []operation
}

// parts splits a history by keys, in the order of their first use.
func (rec *recording) parts() (list []part) {
	if !rec.keyed {
		return []part{{operations: rec.operations}}
	}
	index := map[string]int{}
	for _, o := range rec.operations {
		i, known := index[o.key]
		if !known {
			i = len(list)
			index[o.key] = i
			list = append(list, part{key: o.key})
		}
		list[i].operations = append(list[i].operations, o)
	}
	return list
}
