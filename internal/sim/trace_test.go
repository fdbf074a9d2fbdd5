package sim

import (
	"context"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
)

func traceOf(e history.Event) trace {
	var t trace
	t.event(&e)
	return t
}

// Law: two events that differ in one field, whichever it is, have different
// hashes.
func TestTraceTellsEveryField(t *testing.T) {
	fields := reflect.TypeFor[history.Event]()
	rapid.Check(t, func(t *rapid.T) {
		e := drawEvent(t)
		i := rapid.IntRange(0, fields.NumField()-1).Draw(t, "field")
		other := e
		reflect.ValueOf(&other).Elem().Field(i).Set(reflect.ValueOf(drawEvent(t)).Field(i))
		if same := traceOf(e) == traceOf(other); same != (e == other) {
			t.Fatalf("%s: same hash %t, of\n%+v and\n%+v", fields.Field(i).Name, same, e, other)
		}
	})
}

// drawEvent fills every field by its kind, so that a new one is not forgotten.
func drawEvent(t *rapid.T) (e history.Event) {
	v := reflect.ValueOf(&e).Elem()
	for i := range v.NumField() {
		name := v.Type().Field(i).Name
		switch f := v.Field(i); {
		case f.CanInt():
			f.SetInt(rapid.Int64().Draw(t, name))
		case f.Kind() == reflect.Uint8:
			f.SetUint(uint64(rapid.Byte().Draw(t, name)))
		case f.CanUint():
			f.SetUint(rapid.Uint64().Draw(t, name))
		case f.Kind() == reflect.String:
			f.SetString(rapid.StringMatching(`[\x00a-c]{0,80}`).Draw(t, name))
		default:
			t.Fatalf("a field %s of kind %v: this test does not know how to fill it", name, f.Kind())
		}
	}
	return e
}

func TestTraceTellsStringsApart(t *testing.T) {
	seen := map[trace]string{}
	for n := range 100 {
		for _, s := range []string{strings.Repeat("a", n), strings.Repeat("\x00", n), strings.Repeat("a", n) + "b"} {
			h := traceOf(history.Event{Token: s})
			if other, found := seen[h]; found && other != s {
				t.Errorf("%q and %q have the same hash", s, other)
			}
			seen[h] = s
		}
	}
	if traceOf(history.Event{Resource: "ab"}) == traceOf(history.Event{Token: "ab"}) {
		t.Error("a resource and a token of one name have the same hash")
	}
}

func TestTraceTellsSteps(t *testing.T) {
	reach := func(step env.Step, k int) uint64 {
		w, err := Open(context.Background(), setting(1, 1), 1, new(history.Log))
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Run(context.Background(), func(int) { w.Reach(1, step, k) }); err != nil {
			t.Fatal(err)
		}
		hash, _ := w.Trace()
		return hash
	}
	first, again := reach(env.StepReply, 1), reach(env.StepReply, 1)
	if first != again {
		t.Error("the same step has two hashes")
	}
	if first == reach(env.StepReply, 2) || first == reach(env.StepGranted, 1) {
		t.Error("different steps have the same hash")
	}
}
