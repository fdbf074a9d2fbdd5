package model_test

import (
	"testing"

	"github.com/anishathalye/porcupine"

	"github.com/lockstorm/lockstorm/model"
)

func lease(step model.LeaseStep, holder string, call, ret int64) porcupine.Operation {
	return porcupine.Operation{Input: model.LeaseInput{Step: step, Resource: "r", Holder: holder}, Call: call, Return: ret}
}

func TestLeaseLock(t *testing.T) {
	cases := []struct {
		name  string
		ops   []porcupine.Operation
		legal bool
	}{
		{"disjoint", []porcupine.Operation{lease(model.Acquire, "a", 0, 1), lease(model.End, "a", 3, 3), lease(model.Acquire, "b", 2, 4)}, true},
		{"touching", []porcupine.Operation{lease(model.Acquire, "a", 0, 1), lease(model.End, "a", 3, 3), lease(model.Acquire, "b", 3, 3)}, true},
		{"overlapping", []porcupine.Operation{lease(model.Acquire, "a", 0, 1), lease(model.End, "a", 3, 3), lease(model.Acquire, "b", 1, 2)}, false},
		{"touch before", []porcupine.Operation{lease(model.Acquire, "a", 0, 1), lease(model.Touch, "b", 0, 2)}, true},
		{"touch inside", []porcupine.Operation{lease(model.Acquire, "a", 0, 1), lease(model.Touch, "b", 2, 3)}, false},
		{"renewed", []porcupine.Operation{lease(model.Acquire, "a", 0, 1), lease(model.End, "a", 3, 3), lease(model.Renew, "a", 2, 5)}, true},
		{"renewed while held", []porcupine.Operation{lease(model.Acquire, "a", 0, 1), lease(model.End, "a", 3, 3), lease(model.Acquire, "b", 4, 4), lease(model.Renew, "a", 2, 5)}, false},
		{"renewed after another's hold", []porcupine.Operation{lease(model.Acquire, "a", 0, 1), lease(model.End, "a", 3, 3), lease(model.Acquire, "b", 4, 4), lease(model.End, "b", 5, 5), lease(model.Renew, "a", 2, 6)}, false},
		{"renewed after another's touch", []porcupine.Operation{lease(model.Acquire, "a", 0, 1), lease(model.End, "a", 3, 3), lease(model.Touch, "b", 4, 4), lease(model.Renew, "a", 2, 6)}, true},
		{"renewed after a touch", []porcupine.Operation{lease(model.Touch, "a", 0, 1), lease(model.Touch, "b", 2, 2), lease(model.Renew, "a", 3, 6)}, true},
		{"renewed after a touch and another's hold", []porcupine.Operation{lease(model.Touch, "a", 0, 1), lease(model.Acquire, "b", 2, 2), lease(model.End, "b", 3, 3), lease(model.Renew, "a", 3, 6)}, false},
		{"claimed", []porcupine.Operation{lease(model.Acquire, "a", 0, 1), lease(model.End, "a", 3, 3), lease(model.Claim, "a", 5, 5)}, true},
		{"claimed while held", []porcupine.Operation{lease(model.Acquire, "a", 0, 1), lease(model.End, "a", 3, 3), lease(model.Acquire, "b", 4, 4), lease(model.Claim, "a", 5, 5)}, false},
		{"claimed after another's hold", []porcupine.Operation{lease(model.Acquire, "a", 0, 1), lease(model.End, "a", 3, 3), lease(model.Acquire, "b", 4, 4), lease(model.End, "b", 5, 5), lease(model.Claim, "a", 6, 6)}, false},
		{"renewed after another's claim", []porcupine.Operation{lease(model.Touch, "a", 0, 1), lease(model.Touch, "b", 2, 2), lease(model.Claim, "a", 3, 3), lease(model.Renew, "b", 3, 6)}, true},
		{"renewed, what began before all that is told", []porcupine.Operation{lease(model.Renew, "a", 0, 1)}, true},
		{"never ends", []porcupine.Operation{lease(model.Acquire, "a", 0, 1), lease(model.Acquire, "b", 8, 9)}, false},
	}
	for _, c := range cases {
		if got := porcupine.CheckOperations(model.LeaseLock, c.ops); got != c.legal {
			t.Errorf("%s: legal %v, want %v", c.name, got, c.legal)
		}
	}
}

func TestLeaseLockIsPartitioned(t *testing.T) {
	other := lease(model.Acquire, "b", 1, 2)
	other.Input = model.LeaseInput{Step: model.Acquire, Resource: "s", Holder: "b"}
	if !porcupine.CheckOperations(model.LeaseLock, []porcupine.Operation{lease(model.Acquire, "a", 0, 1), other}) {
		t.Error("holds of two resources exclude each other")
	}
}

func TestFencedLock(t *testing.T) {
	fenced := func(step model.LeaseStep, holder string, fence uint64, call, ret int64) porcupine.Operation {
		op := lease(step, holder, call, ret)
		op.Input = model.FencedLockInput{LeaseInput: op.Input.(model.LeaseInput), Fence: fence}
		return op
	}
	cases := []struct {
		name  string
		ops   []porcupine.Operation
		legal bool
	}{
		{"they grow", []porcupine.Operation{fenced(model.Acquire, "a", 1, 0, 1), fenced(model.End, "a", 0, 3, 3), fenced(model.Acquire, "b", 2, 4, 5)}, true},
		{"twice the same", []porcupine.Operation{fenced(model.Acquire, "a", 1, 0, 1), fenced(model.End, "a", 0, 3, 3), fenced(model.Acquire, "b", 1, 4, 5)}, false},
		{"over before it began", []porcupine.Operation{fenced(model.Touch, "a", 2, 0, 1), fenced(model.Acquire, "b", 1, 4, 5)}, false},
		{"called before it ended", []porcupine.Operation{fenced(model.Acquire, "a", 2, 0, 1), fenced(model.End, "a", 0, 3, 3), fenced(model.Acquire, "b", 1, 2, 5)}, false},
		{"at the same time", []porcupine.Operation{fenced(model.Touch, "a", 2, 0, 5), fenced(model.Touch, "b", 1, 0, 5)}, true},
		{"without a fence", []porcupine.Operation{fenced(model.Touch, "a", 2, 0, 1), fenced(model.Touch, "b", 0, 2, 3)}, true},
		{"renewed with the same", []porcupine.Operation{fenced(model.Acquire, "a", 1, 0, 1), fenced(model.End, "a", 0, 3, 3), fenced(model.Renew, "a", 1, 4, 5)}, true},
		{"held twice", []porcupine.Operation{fenced(model.Acquire, "a", 1, 0, 1), fenced(model.Acquire, "b", 2, 4, 5)}, false},
	}
	for _, c := range cases {
		if got := porcupine.CheckOperations(model.FencedLock, c.ops); got != c.legal {
			t.Errorf("%s: legal %v, want %v", c.name, got, c.legal)
		}
	}
}

func section(read, wrote, call, ret int64, unknown bool) porcupine.Operation {
	return porcupine.Operation{
		Input: model.SectionInput{Resource: "r", Read: read, Wrote: wrote}, Call: call,
		Output: model.SectionOutput{Unknown: unknown}, Return: ret,
	}
}

func TestGuardedRegister(t *testing.T) {
	cases := []struct {
		name  string
		ops   []porcupine.Operation
		legal bool
	}{
		{"one after another", []porcupine.Operation{section(0, 1, 0, 1, false), section(1, 2, 2, 3, false)}, true},
		{"lost update", []porcupine.Operation{section(0, 1, 0, 3, false), section(0, 1, 1, 4, false)}, false},
		{"unknown, applied", []porcupine.Operation{section(0, 1, 0, 100, true), section(1, 2, 2, 3, false)}, true},
		{"unknown, not applied", []porcupine.Operation{section(0, 1, 0, 100, true), section(0, 2, 2, 3, false)}, true},
		{"unknown, cannot be both", []porcupine.Operation{section(0, 1, 0, 100, true), section(0, 2, 2, 3, false), section(1, 3, 4, 5, false)}, false},
	}
	for _, c := range cases {
		if got := porcupine.CheckOperations(model.GuardedRegister.ToModel(), c.ops); got != c.legal {
			t.Errorf("%s: legal %v, want %v", c.name, got, c.legal)
		}
	}
}

func TestRegisterFrom(t *testing.T) {
	ops := []porcupine.Operation{section(5, 6, 0, 1, false)}
	if !porcupine.CheckOperations(model.RegisterFrom(5), ops) || porcupine.CheckOperations(model.RegisterFrom(0), ops) {
		t.Error("the initial value is not looked at")
	}
	blind := []porcupine.Operation{{Input: model.SectionInput{Blind: true, Wrote: 9}, Return: 1}, section(9, 1, 2, 3, false)}
	if !porcupine.CheckOperations(model.RegisterFrom(0), blind) {
		t.Error("a blind write needs no value")
	}
}
