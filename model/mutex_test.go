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

func TestReentrantMutexAndSemaphore(t *testing.T) {
	cases := []struct {
		name                 string
		ops                  []porcupine.Operation
		reentrant, semaphore bool // with two permits
	}{
		{"held twice by one", []porcupine.Operation{acquired("a", 0, 0), acquired("a", 0, 2), released("a", 4), released("a", 6)}, true, true},
		{"held by two", []porcupine.Operation{acquired("a", 0, 0), acquired("b", 0, 2), released("a", 4)}, false, true},
		{"held by three", []porcupine.Operation{acquired("a", 0, 0), acquired("b", 0, 2), acquired("c", 0, 4)}, false, false},
		{"released once, and held by another", []porcupine.Operation{acquired("a", 0, 0), acquired("a", 0, 2), released("a", 4), acquired("b", 0, 6)}, false, true},
		{"released too often", []porcupine.Operation{acquired("a", 0, 0), released("a", 2), released("a", 4)}, false, false},
		{"released by another", []porcupine.Operation{acquired("a", 0, 0), released("b", 2)}, false, false},
	}
	for _, c := range cases {
		if got := porcupine.CheckOperations(model.ReentrantMutex, c.ops); got != c.reentrant {
			t.Errorf("%s, reentrant mutex: legal %v", c.name, got)
		}
		if got := porcupine.CheckOperations(model.Semaphore(2), c.ops); got != c.semaphore {
			t.Errorf("%s, semaphore: legal %v", c.name, got)
		}
	}
}
