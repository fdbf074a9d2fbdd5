package shrink

import (
	"reflect"
	"slices"
	"time"

	"github.com/lockstorm/lockstorm/nemesis"
)

// simplerMoments lets faults start and end at times that are easier to tell: from the
// start of the run, or when a client comes to a step; without an end, or so long after
// the start.
func simplerMoments(k *shrinking) {
	for i := range k.best.Plan {
		for _, m := range k.starts() {
			f := k.best.Plan[i]
			if f.Start = m; k.withFault(i, f) {
				break
			}
		}
		k.tryEnds(i)
	}
}

// starts lists the moments that a fault might start at, the simplest first.
func (k *shrinking) starts() []nemesis.Trigger {
	list := []nemesis.Trigger{{}}
	for _, step := range steps {
		for c := range k.best.Clients {
			list = append(list, nemesis.Trigger{Client: c + 1, Step: nemesis.StepName(step)})
		}
	}
	for c := range k.best.Clients {
		for count := 2; count <= 3; count++ {
			list = append(list, nemesis.Trigger{Client: c + 1, Step: nemesis.StepName(steps[0]), Count: count})
		}
	}
	return list
}

// tryEnds lets a fault have no end, or one by a time; a server that starts again by its
// own clock is started again by that as well.
func (k *shrinking) tryEnds(i int) {
	if k.tryWithoutHealing(i) {
		return
	}
	f := k.best.Plan[i]
	if f.End == nil && !startsItself(f) {
		return
	}
	f = nemesis.Plan{f}.Clone()[0]
	f.EachValue(func(name string, value any) {
		if d, ok := value.(*time.Duration); ok && name == restartDelay {
			*d = 0
		}
	})
	for _, end := range k.ends(f) {
		if f.End = end; k.withFault(i, f) {
			return
		}
	}
}

// tryWithoutHealing lets a clock stay wrong. Who heals has to end, and a jump that
// ends has to heal: the two go together.
func (k *shrinking) tryWithoutHealing(i int) bool {
	f := nemesis.Plan{k.best.Plan[i]}.Clone()[0]
	healing := reflect.ValueOf(f.Action).Elem().FieldByName("Healing")
	if !healing.IsValid() || healing.IsZero() {
		return false
	}
	healing.SetZero()
	f.End = nil
	return k.withFault(i, f)
}

// restartDelay is the field of a fault that stands in place of its end.
const restartDelay = "restart_delay"

func startsItself(f nemesis.Fault) (itself bool) {
	f.EachValue(func(name string, value any) {
		d, ok := value.(*time.Duration)
		itself = itself || ok && name == restartDelay && *d > 0
	})
	return itself
}

// ends lists the ends that a fault might have, the simplest first.
func (k *shrinking) ends(f nemesis.Fault) []*nemesis.Trigger {
	list := []*nemesis.Trigger{nil}
	if startsItself(f) {
		return list
	}
	for _, d := range rounder(int64(2*k.best.Horizon), int64(time.Millisecond)) {
		list = append(list, nemesis.After(time.Duration(d)))
	}
	return slices.Clip(list)
}
