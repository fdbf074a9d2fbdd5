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
	asked   any // the value of the invocation
	value   any // of the completion, if it has one
	call    int // places in the history: the order of the file is the order of time
	ret     int // never, if the outcome is unknown
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
		r, err := in.read()
		if errors.Is(err, io.EOF) {
			if at == 0 {
				return nil, wrong(max(in.lines.line, 1), "the history is empty")
			}
			break
		}
		switch {
		case err != nil || !r.client:
		case r.kind == "invoke":
			err = rec.invoke(r, at)
		default:
			err = rec.complete(r, at)
		}
		if err != nil {
			return nil, err
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

func (rec *recording) invoke(r record, at int) error {
	if i, busy := rec.open[r.process]; busy {
		return wrong(r.line, "process %d invokes %s while its %s of line %d is open", r.process, r.f, rec.operations[i].f, rec.operations[i].line)
	}
	if line, gone := rec.gone[r.process]; gone {
		return wrong(r.line, "process %d acts again after its :info of line %d", r.process, line)
	}
	switch r.f {
	case "acquire", "release", "lock", "unlock":
	case "":
		return wrong(r.line, "an operation without :f")
	default:
		return wrong(r.line, "operations with :f :%.64s cannot be judged; supported are those of locks: :acquire and :release, or :lock and :unlock", r.f)
	}
	if rec.invoked == 0 {
		_, _, rec.keyed = tuple(r.value)
	}
	rec.open[r.process] = len(rec.operations)
	rec.operations = append(rec.operations, operation{
		process: r.process, f: r.f, asked: r.value, value: r.value, call: at, ret: never, line: r.line,
	})
	rec.invoked++
	return nil
}

func (rec *recording) complete(r record, at int) error {
	i, busy := rec.open[r.process]
	if !busy {
		return wrong(r.line, "process %d completes an operation that it has not invoked", r.process)
	}
	o := &rec.operations[i]
	if r.f != "" && r.f != o.f {
		return wrong(r.line, "process %d completes %s, and its open operation is the %s of line %d", r.process, r.f, o.f, o.line)
	}
	delete(rec.open, r.process)
	o.end = r.line
	switch r.kind {
	case "ok":
		o.ret = at
		if r.valued {
			o.value = r.value
		}
	case "fail":
		o.failed = true
	case "info":
		rec.gone[r.process] = r.line
	}
	return nil
}

// part is the operations on one lock.
type part struct {
	key        string // "" where there is but one
	operations []operation
}

// parts splits a history by keys, in the order of their first use.
func (rec *recording) parts() ([]part, error) {
	if !rec.keyed {
		return []part{{operations: rec.operations}}, nil
	}
	var list []part
	index := map[string]int{}
	for _, o := range rec.operations {
		key, err := o.unkey()
		if err != nil {
			return nil, err
		}
		i, known := index[key]
		if !known {
			i = len(list)
			index[key] = i
			list = append(list, part{key: key})
		}
		list[i].operations = append(list[i].operations, o)
	}
	return list, nil
}

// unkey removes the key of jepsen.independent from the operation's values and returns it.
func (o *operation) unkey() (string, error) {
	key, asked, pair := tuple(o.asked)
	if !pair {
		return "", wrong(o.line, "the first operation has a key, and this one has none: %.64s", show(o.asked))
	}
	again, value, pair := tuple(o.value)
	if !pair || show(again) != show(key) {
		return "", wrong(o.end, "an operation on key %.64s is completed with %.64s", show(key), show(o.value))
	}
	o.asked, o.value = asked, value
	return show(key), nil
}
