package jepsen

import (
	"fmt"
	"math"
	"slices"

	"github.com/anishathalye/porcupine"
	"olympos.io/encoding/edn"

	"github.com/lockstorm/lockstorm/model"
)

// The three models of a lock, from the weakest to the strongest.
var (
	ownerless = specification{
		name:  "ownerless mutex",
		model: always(model.Mutex),
		steps: func(list []operation) ([]step, error) { return lockSteps(list, false) },
	}
	owned = specification{
		name:  "owner-aware mutex",
		model: always(model.OwnedMutex),
		steps: func(list []operation) ([]step, error) { return lockSteps(list, true) },
	}
	fenced = specification{
		name:  "fenced mutex",
		model: always(model.FencedMutex),
		steps: owned.steps,
		about: func(list []operation) bool { return slices.ContainsFunc(list, isFenced) },
	}
)

func always(m porcupine.Model) func(Options) porcupine.Model {
	return func(Options) porcupine.Model { return m }
}

func isFenced(o operation) bool {
	f, err := o.fence()
	return err != nil || f != 0
}

// lockSteps makes steps of acquires and releases.
func lockSteps(list []operation, aware bool) ([]step, error) {
	who := owners(list)
	steps := make([]step, 0, len(list))
	for i := range list {
		o := &list[i]
		in := model.MutexInput{Release: o.releases()}
		held := "held"
		if aware {
			in.Owner = who[o.process]
			held = "held by " + in.Owner
			fence, err := o.fence()
			if err != nil {
				return nil, err
			}
			in.Fence = fence
		}
		s := step{input: in, unknown: o.unknown(), call: o.call, ret: o.ret, needs: "free", gives: held, of: o}
		if in.Release {
			s.needs, s.gives = held, "free"
		}
		steps = append(steps, s)
	}
	return steps, nil
}

func (o *operation) releases() bool { return o.f == "release" || o.f == "unlock" }

// owners names the owner that each process acts for: the :client of the value
// of what it completed, as in Hazelcast's histories; otherwise the process.
func owners(list []operation) map[int64]string {
	who := map[int64]string{}
	for i := range list {
		o := &list[i]
		if client, named := field(o.value, "client"); named && client != nil {
			who[o.process] = "client " + show(client)
		} else if who[o.process] == "" {
			who[o.process] = fmt.Sprintf("process %d", o.process)
		}
	}
	return who
}

// fence returns the fence that a completed acquire was given, or 0 if it says
// none. Hazelcast writes 0 for none as well.
func (o *operation) fence() (int64, error) {
	f, given := field(o.value, "fence")
	if !given || f == nil || o.releases() || o.unknown() {
		return 0, nil
	}
	n, whole := f.(int64)
	if !whole || n < 0 || n == math.MaxInt64 {
		return 0, wrong(o.end, "the fence %.64s is no whole number from 0", show(f))
	}
	return n, nil
}

// field returns a field of a value that is a map.
func field(v any, name string) (any, bool) {
	m, is := v.(map[any]any)
	if !is {
		return nil, false
	}
	f, has := m[edn.Keyword(name)]
	return f, has
}
