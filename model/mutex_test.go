package model_test

import (
	"math"
	"testing"

	"github.com/anishathalye/porcupine"

	"github.com/lockstorm/lockstorm/model"
)

// mutexes are the models of a lock, from the weakest to the strongest.
var mutexes = []struct {
	name  string
	model porcupine.Model
}{{"ownerless", model.Mutex}, {"owned", model.OwnedMutex}, {"fenced", model.FencedMutex}}

func acquired(owner string, fence, call int64) porcupine.Operation {
	return porcupine.Operation{Input: model.MutexInput{Owner: owner, Fence: fence}, Output: model.Outcome{}, Call: call, Return: call + 1}
}

func released(owner string, call int64) porcupine.Operation {
	return porcupine.Operation{Input: model.MutexInput{Owner: owner, Release: true}, Output: model.Outcome{}, Call: call, Return: call + 1}
}

func perhaps(op porcupine.Operation) porcupine.Operation {
	op.Output, op.Return = model.Outcome{Unknown: true}, math.MaxInt64
	return op
}

func TestMutexes(t *testing.T) {
	cases := []struct {
		name  string
		ops   []porcupine.Operation
		legal int // by how many of the models
	}{
		{"one after another", []porcupine.Operation{acquired("a", 1, 0), released("a", 2), acquired("b", 2, 4)}, 3},
		{"held twice", []porcupine.Operation{acquired("a", 1, 0), acquired("b", 2, 2)}, 0},
		{"held twice by one", []porcupine.Operation{acquired("a", 1, 0), acquired("a", 2, 2)}, 0},
		{"released while free", []porcupine.Operation{released("a", 0)}, 0},
		{"released by another", []porcupine.Operation{acquired("a", 1, 0), released("b", 2)}, 1},
		{"a fence used again", []porcupine.Operation{acquired("a", 2, 0), released("a", 2), acquired("b", 2, 4)}, 2},
		{"no fence between", []porcupine.Operation{acquired("a", 2, 0), released("a", 2), acquired("b", 0, 4), released("b", 6), acquired("a", 3, 8)}, 3},
		{"released, perhaps", []porcupine.Operation{acquired("a", 1, 0), perhaps(released("a", 2)), acquired("b", 2, 4)}, 3},
		{"released twice, perhaps once", []porcupine.Operation{acquired("a", 1, 0), perhaps(released("a", 2)), acquired("b", 2, 4), acquired("c", 3, 6)}, 0},
		{"acquired, perhaps", []porcupine.Operation{perhaps(acquired("a", 0, 0)), acquired("b", 1, 2), released("b", 4)}, 3},
		{"acquired, perhaps, and released", []porcupine.Operation{perhaps(acquired("a", 0, 0)), released("a", 2)}, 3},
	}
	for _, c := range cases {
		for i, m := range mutexes {
			if got, want := porcupine.CheckOperations(m.model, c.ops), i < c.legal; got != want {
				t.Errorf("%s, %s mutex: legal %v, want %v", c.name, m.name, got, want)
			}
		}
	}
}

func TestRegister(t *testing.T) {
	op := func(step model.RegisterStep, from, to string, call, ret int64) porcupine.Operation {
		return porcupine.Operation{Input: model.RegisterInput{Step: step, From: from, To: to}, Output: model.Outcome{}, Call: call, Return: ret}
	}
	read := func(v string, call int64) porcupine.Operation { return op(model.Read, v, "", call, call+1) }
	write := func(v string, call int64) porcupine.Operation { return op(model.Write, "", v, call, call+1) }
	set := func(from, to string, call int64) porcupine.Operation {
		return op(model.CompareAndSet, from, to, call, call+1)
	}
	cases := []struct {
		name  string
		ops   []porcupine.Operation
		legal bool
	}{
		{"the initial value", []porcupine.Operation{read("nil", 0)}, true},
		{"another", []porcupine.Operation{read("1", 0)}, false},
		{"what was written", []porcupine.Operation{write("1", 0), read("1", 2)}, true},
		{"what was written before", []porcupine.Operation{write("1", 0), write("2", 2), read("1", 4)}, false},
		{"compare and set", []porcupine.Operation{write("1", 0), set("1", "2", 2), read("2", 4)}, true},
		{"compare with another", []porcupine.Operation{write("1", 0), set("3", "2", 2)}, false},
		{"at the same time", []porcupine.Operation{op(model.Write, "", "1", 0, 9), op(model.Write, "", "2", 0, 9), read("2", 10)}, true},
		{"perhaps written, late", []porcupine.Operation{perhaps(write("1", 0)), write("2", 2), read("1", 4)}, true},
		{"perhaps written, not twice", []porcupine.Operation{perhaps(write("1", 0)), write("2", 2), read("1", 4), write("2", 6), read("1", 8)}, false},
		{"perhaps set, not from another", []porcupine.Operation{perhaps(set("3", "1", 0)), read("1", 4)}, false},
	}
	for _, c := range cases {
		if got := porcupine.CheckOperations(model.Register("nil"), c.ops); got != c.legal {
			t.Errorf("%s: legal %v, want %v", c.name, got, c.legal)
		}
	}
}
