package jepsen

import (
	"errors"
	"io"
	"math"
	"slices"
)

// never is the return time of an operation with an unknown outcome.
const never = math.MaxInt

// operation is an invocation and its completion. Failed operations did not happen and are omitted.
type operation struct {
	process int64
	f       string
	value   any // what was asked for and then, if it is known, what was answered
	asked   any
	call    int // places in the history: the order of the file is the order of time
	ret     int // never, if the outcome is unknown
	line    int
	end     int // the line of the completion; 0 if there is none
	failed  bool
}

func (o *operation) unknown() bool { return o.ret == never }

// act is an action of the nemesis.
type act struct {
	name  string
	value any
	at    int
	line  int
}

// recording is a history whose invocations are paired with their completions.
type recording struct {
	operations []operation // in the order of their calls
	acts       []act
	invoked    int      // operations, with those that failed
	words      []saying // each :f of a client, with where it was first said
	keyed      bool     // values are pairs of a key and what is done to it
	infos      int      // with unknown outcomes
	length     int      // places
}

// saying is a value of :f, and the first line with it.
type saying struct {
	f    string
	line int
}

// pairing makes a recording from records.
type pairing struct {
	recording
	open map[int64]int // the operation that a process has in progress
	gone map[int64]int // the line after which a process must not act again
}

// load reads a history.
func load(r io.Reader) (*recording, error) {
	p := pairing{open: map[int64]int{}, gone: map[int64]int{}}
	in := records{reader: newReader(r), memory: memory{}}
	for {
		rec, err := in.read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = p.add(rec)
		}
		if err != nil {
			return nil, err
		}
	}
	if p.length == 0 {
		return nil, wrong(in.line, "the history is empty")
	}
	return p.end(), nil
}

func (p *pairing) add(rec record) error {
	at := p.length
	p.length++
	process, client := rec.client()
	switch {
	case !client:
		p.acts = append(p.acts, act{name: rec.f, value: rec.value, at: at, line: rec.line})
		return nil
	case rec.kind == "invoke":
		return p.invoke(process, rec, at)
	}
	return p.complete(process, rec, at)
}

func (p *pairing) invoke(process int64, rec record, at int) error {
	if i, busy := p.open[process]; busy {
		return wrong(rec.line, "process %d invokes %s while its %s of line %d is open", process, rec.f, p.operations[i].f, p.operations[i].line)
	}
	if line, gone := p.gone[process]; gone {
		return wrong(rec.line, "process %d acts again after its :info of line %d", process, line)
	}
	if rec.f == "" {
		return wrong(rec.line, "an operation without :f")
	}
	if p.invoked == 0 {
		p.keyed = keyed(rec.f, rec.value)
	}
	if !slices.ContainsFunc(p.words, func(s saying) bool { return s.f == rec.f }) {
		p.words = append(p.words, saying{rec.f, rec.line})
	}
	p.open[process] = len(p.operations)
	p.operations = append(p.operations, operation{
		process: process, f: rec.f, value: rec.value, asked: rec.value, call: at, ret: never, line: rec.line,
	})
	p.invoked++
	return nil
}

func (p *pairing) complete(process int64, rec record, at int) error {
	i, busy := p.open[process]
	if !busy {
		return wrong(rec.line, "process %d completes what it has not invoked", process)
	}
	o := &p.operations[i]
	if rec.f != "" && rec.f != o.f {
		return wrong(rec.line, "process %d completes %s, and its open operation is the %s of line %d", process, rec.f, o.f, o.line)
	}
	delete(p.open, process)
	o.end = rec.line
	switch rec.kind {
	case "ok":
		o.ret = at
		if rec.valued {
			o.value = rec.value
		}
	case "fail":
		o.failed = true
	case "info":
		p.gone[process] = rec.line
	}
	return nil
}

// end drops failed operations.
func (p *pairing) end() *recording {
	kept := p.operations[:0]
	for _, o := range p.operations {
		if o.failed {
			continue
		}
		if o.unknown() {
			p.infos++
		}
		kept = append(kept, o)
	}
	p.operations = kept
	return &p.recording
}
