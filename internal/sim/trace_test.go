package sim

import (
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/lockstorm/lockstorm/history"
)

func traceOf(e history.Event) trace {
	var t trace
	t.event(&e)
	return t
}

// Law: two events that differ in one field, whichever it is, have different
// hashes. Ends and Weight are left out of the hash: one follows from the clocks, locks that are simulated have no
// other, and traces that were stored before they
// existed stay valid.
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
		case name == "Ends" || name == "Weight":
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
