package checker_test

import (
	"github.com/anishathalye/porcupine"

	"github.com/lockstorm/lockstorm/model"
)

// This file is the dumb oracle beside the stream judge: it computes every
// window of a script from its definition, all at once, and leaves the rest to
// porcupine, or to the sweep in sweep_test.go.

// referenceWindow is [from, end), or an empty window when end <= from. One that is late was
// begun by an extension when the hold's last window was over, since then.
type referenceWindow struct {
	hold      int
	resource  string
	call      int
	from, end int
	by        cause
	late      bool
	over      int
}

// cause is what ended a window.
type cause string

const (
	byLapse   cause = "lapse"
	byRelease cause = "release"
	byLoss    cause = "loss"
	byWarning cause = "warning"
	byDeath   cause = "death"
)

func (w referenceWindow) empty() bool { return w.end <= w.from }
func (w referenceWindow) open() bool  { return w.end >= never }

// leaseWindows returns the windows of lease exclusion. One that an extension begins is left
// out if nothing is left of the extension when it returns; it is empty if the holder ends
// it in that instant.
func (s *script) leaseWindows() []referenceWindow {
	from := s.grantedAt()
	if from == never {
		return nil
	}
	begin := func(call, from, end int) referenceWindow {
		return referenceWindow{hold: s.hold, resource: s.resource, call: call, from: from, end: end, by: byLapse}
	}
	hard := min(s.release, s.lost)
	w := begin(s.call, from, s.promised())
	var all []referenceWindow
	for _, e := range s.extends {
		w.end = s.validity(w.end, e)
		switch {
		case !e.granted:
		case w.end >= e.ret:
			w.end = e.until
		case e.ret <= hard && e.until > e.ret:
			all = append(all, s.cut(w))
			w = begin(e.call, e.ret, e.until)
		}
	}
	all = append(all, s.cut(w))
	for i := 1; i < len(all); i++ {
		all[i].late, all[i].over = true, max(all[i-1].from, all[i-1].end)
	}
	return all
}

func (s *script) grantedAt() int {
	if s.refused {
		return never
	}
	return min(s.ret, s.acted())
}

// promised is the end of validity before any extension. A further grant to the owner is no
// new hold, and takes nothing back.
func (s *script) promised() int {
	if s.again == nil {
		return s.until
	}
	return max(s.until, s.again.until)
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

// cut ends a window of lease exclusion by the actions and notifications of its holder.
func (s *script) cut(w referenceWindow) referenceWindow {
	return w.until(s.release, byRelease).until(s.lost, byLoss)
}

func (w referenceWindow) until(end int, by cause) referenceWindow {
	if end < w.end {
		w.end, w.by = end, by
	}
	return w
}

// sectionWindows returns the windows of section exclusion.
func (s *script) sectionWindows() []referenceWindow {
	from := s.grantedAt()
	if from == never {
		return nil
	}
	w := referenceWindow{hold: s.hold, resource: s.resource, call: s.call, from: from, end: never}
	return []referenceWindow{s.cut(w).until(s.warned, byWarning).until(s.killed, byDeath)}
}

// windowsOf returns those of all scripts.
func windowsOf(scripts []script, of func(*script) []referenceWindow) []referenceWindow {
	var all []referenceWindow
	for i := range scripts {
		all = append(all, of(&scripts[i])...)
	}
	return all
}

// legal is the verdict of porcupine on a set of windows.
func legal(windows []referenceWindow) bool {
	var ops []porcupine.Operation
	for _, w := range windows {
		ops = append(ops, w.operations()...)
	}
	return porcupine.CheckOperations(model.LeaseLock, ops)
}

func (w referenceWindow) operations() []porcupine.Operation {
	op := func(step model.LeaseStep, call, ret int) porcupine.Operation {
		return porcupine.Operation{
			Input: model.LeaseInput{Step: step, Resource: w.resource, Holder: token(w.hold)},
			Call:  int64(call), Return: int64(ret),
		}
	}
	switch {
	case w.empty() && w.late && w.over == w.from:
		return nil // it was granted, and was over, in one instant
	case w.empty() && w.late:
		return []porcupine.Operation{op(model.Claim, w.from, w.from)}
	case w.empty():
		return []porcupine.Operation{op(model.Touch, max(w.call, w.end), w.from)}
	case w.open():
		return []porcupine.Operation{op(w.begin(), w.call, w.from)}
	}
	return []porcupine.Operation{op(w.begin(), w.call, w.from), op(model.End, w.end, w.end)}
}

func (w referenceWindow) begin() model.LeaseStep {
	if w.late {
		return model.Renew
	}
	return model.Acquire
}
