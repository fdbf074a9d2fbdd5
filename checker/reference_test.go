package checker_test

import (
	"fmt"

	"github.com/anishathalye/porcupine"

	"github.com/lockstorm/lockstorm/model"
)

// This file is the dumb oracle beside the stream judge: it computes every
// window of a script from its definition, all at once, and leaves the rest to
// porcupine.

// referenceWindow is [from, end), or an empty window when end <= from.
type referenceWindow struct {
	client    int
	call      int
	from, end int
}

// leaseWindows returns the windows of lease exclusion.
func (s *script) leaseWindows() []referenceWindow {
	from := s.grantedAt()
	if from == never {
		return nil
	}
	hard := min(s.release, s.lost)
	w := referenceWindow{client: s.client, call: s.call, from: from, end: s.until}
	var all []referenceWindow
	for _, e := range s.extends {
		w.end = s.validity(w.end, e)
		switch {
		case !e.granted:
		case w.end >= e.ret:
			w.end = e.until
		case e.ret < hard:
			all = append(all, w.until(hard))
			w = referenceWindow{client: s.client, call: e.call, from: e.ret, end: e.until}
		}
	}
	return append(all, w.until(hard))
}

func (s *script) grantedAt() int {
	if s.refused {
		return never
	}
	return min(s.ret, s.acted())
}

// validity returns when the validity ends that is to last until end, once the
// extension has been called: it may have asked for less.
func (s *script) validity(end int, e extension) int {
	if s.ret == never {
		return min(end, e.until) // the end is not known: whatever lapses first
	}
	if end <= e.call || e.until >= end {
		return end
	}
	return max(e.until, e.call)
}

func (w referenceWindow) until(end int) referenceWindow {
	w.end = min(w.end, end)
	return w
}

// sectionWindows returns the windows of section exclusion.
func (s *script) sectionWindows() []referenceWindow {
	from := s.grantedAt()
	if from == never {
		return nil
	}
	end := min(s.release, s.lost, s.warned, s.killed)
	return []referenceWindow{{client: s.client, call: s.call, from: from, end: end}}
}

// reference is the verdict of porcupine on a set of windows. Of the windows of
// one hold, those after the first are left out when they are empty.
func reference(windows []referenceWindow) bool {
	var ops []porcupine.Operation
	seen := map[int]bool{}
	for _, w := range windows {
		if w.end > w.from || !seen[w.client] {
			ops = append(ops, w.operations()...)
		}
		seen[w.client] = true
	}
	return porcupine.CheckOperations(model.LeaseLock, ops)
}

func (w referenceWindow) operations() []porcupine.Operation {
	op := func(step model.LeaseStep, call, ret int) porcupine.Operation {
		return porcupine.Operation{
			Input: model.LeaseInput{Step: step, Resource: "r", Holder: fmt.Sprint(w.client)},
			Call:  int64(call), Return: int64(ret),
		}
	}
	if w.end <= w.from {
		return []porcupine.Operation{op(model.Touch, max(w.call, w.end), w.from)}
	}
	if w.end >= never {
		return []porcupine.Operation{op(model.Acquire, w.call, w.from)}
	}
	return []porcupine.Operation{op(model.Acquire, w.call, w.from), op(model.End, w.end, w.end)}
}

// A history legal for one window may still be judged wrongly, if the other
// windows hide it: so the windows themselves are compared by pairs as well.
func overlappingPairs(windows []referenceWindow) int {
	n := 0
	for i, v := range windows {
		for _, w := range windows[:i] {
			if v.from < v.end && w.from < w.end && v.from < w.end && w.from < v.end {
				n++
			}
		}
	}
	return n
}
