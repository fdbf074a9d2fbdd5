package jepsen

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/anishathalye/porcupine"
	"olympos.io/encoding/edn"

	"github.com/lockstorm/lockstorm/model"
)

// Model is a specification by which a history can be judged.
type Model struct {
	name   string
	model  porcupine.Model
	owned  bool // its locks have owners
	fenced bool // it says nothing about histories without fences
}

// defaults are the models that judge where none is selected, from the weakest to the strongest.
var defaults = []Model{
	{name: "ownerless mutex", model: model.Mutex},
	{name: "owner-aware mutex", model: model.OwnedMutex, owned: true},
	{name: "fenced mutex", model: model.FencedMutex, owned: true, fenced: true},
}

// FindModel returns the model of a name: "owner-aware", "owner-aware mutex", "reentrant", or
// "semaphore=3" for one with three permits. The error for an unknown name lists the models.
func FindModel(name string) (Model, error) {
	for _, m := range append(slices.Clone(defaults), Model{name: "reentrant mutex", model: model.ReentrantMutex, owned: true}) {
		if first, _, _ := strings.Cut(m.name, " "); name == m.name || name == first {
			return m, nil
		}
	}
	if kind, permits, given := strings.Cut(name, "="); kind == "semaphore" {
		n, err := strconv.Atoi(permits)
		if !given || err != nil || n < 1 {
			return Model{}, fmt.Errorf("%q: want semaphore=N with a number of permits from 1", name)
		}
		return Model{name: name, model: model.Semaphore(n), owned: true}, nil
	}
	return Model{}, fmt.Errorf("unknown model %q: want ownerless, owner-aware, fenced, reentrant or semaphore=N", name)
}

// steps converts operations into those of a model. applies is false if the model says nothing about
// them.
func (m Model) steps(list []operation) (steps []porcupine.Operation, applies bool, err error) {
	who := owners(list)
	applies = !m.fenced
	for i := range list {
		o := &list[i]
		in := model.MutexInput{Release: o.releases(), Owner: who[o.process]}
		if m.owned {
			if in.Fence, err = o.fence(); err != nil {
				return nil, false, err
			}
			applies = applies || in.Fence != 0
		}
		if m.owned && o.unknown() && !in.Release && !releasesLater(list[i+1:], who, in.Owner) {
			continue // it would block the lock for ever, so nothing later is explained by it
		}
		steps = append(steps, porcupine.Operation{
			ClientId: i, Input: in, Output: model.Outcome{Unknown: o.unknown()}, Call: int64(o.call), Return: int64(o.ret),
		})
	}
	return steps, applies, nil
}

// releasesLater reports whether an owner releases in any of the operations.
func releasesLater(list []operation, who map[int64]string, owner string) bool {
	return slices.ContainsFunc(list, func(o operation) bool { return o.releases() && who[o.process] == owner })
}

// owners returns the owner for which each process acts: the :client of the value that it completed,
// as in Hazelcast's histories; otherwise the process.
func owners(list []operation) map[int64]string {
	who := map[int64]string{}
	for i := range list {
		o := &list[i]
		if client := field(o.value, "client"); client != nil {
			who[o.process] = "client " + show(client)
		} else if who[o.process] == "" {
			who[o.process] = fmt.Sprintf("process %d", o.process)
		}
	}
	return who
}

// fence returns the fence of a completed acquire, or 0 if it has none. Hazelcast also writes 0 for
// none.
func (o *operation) fence() (int64, error) {
	f := field(o.value, "fence")
	if f == nil || o.releases() || o.unknown() {
		return 0, nil
	}
	n, whole := f.(int64)
	if !whole || n < 0 || n == math.MaxInt64 {
		return 0, wrong(o.end, "the fence %.64s is no whole number from 0", show(f))
	}
	return n, nil
}

// field returns a field of a value that is a map, or nil.
func field(v any, name edn.Keyword) any {
	m, _ := v.(map[any]any)
	return m[name]
}
