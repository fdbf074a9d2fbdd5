package runner

import (
	"cmp"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// Law: what the tag of a scenario's field lets it be called is known here.
func TestNamesOfTagsAreKnown(t *testing.T) {
	for field, known := range map[string][]string{
		"Tokens": slices.Collect(maps.Keys(tokens)),
		"Fence":  slices.Collect(maps.Keys(fenceSources)),
	} {
		f, _ := reflect.TypeFor[scenarios.Lock]().FieldByName(field)
		for _, name := range append(strings.Split(f.Tag.Get("want"), "|"), "") { // or left out
			if !slices.Contains(known, name) {
				t.Errorf("%s can be %q, and there is %q", field, name, known)
			}
		}
	}
}

// The words by which worlds and judges understand each other are the same on both
// sides: what is called otherwise would change a verdict and no test of either.
func TestHistoriesAreWrittenInTheWordsThatJudgesRead(t *testing.T) {
	for said, read := range map[string]string{
		nemesis.EverySecond.Keeps(): history.WithItsKeys,
		nemesis.Always.Keeps():      history.WithItsKeys,
		env.StepQueued.String():     history.Queued,
		env.StepWoken.String():      history.Woken,
	} {
		if said != read {
			t.Errorf("a world says %q and a judge reads %q", said, read)
		}
	}
}

// Law: to change a field of a lock changes what its kind builds if, and only if, the
// kind says that it reads that field.
func TestFieldsThatALockReads(t *testing.T) {
	for _, k := range lockKinds {
		if k.what == inTestsOnly {
			continue
		}
		read := strings.Fields(sharedFields + " " + k.fields)
		var known []string
		for path, change := range changes(reflect.TypeFor[scenarios.Lock](), "") {
			field, _, _ := strings.Cut(path, ".")
			known = append(known, field)
			base := scenarios.Lock{TTL: time.Second, NodeTimeout: 50 * time.Millisecond}
			built, moved := k.config(base), false
			for _, changed := range change(base) {
				moved = moved || !reflect.DeepEqual(k.config(changed), built)
			}
			if says := slices.Contains(read, field); moved != says && field != "kind" { // which says whose config it is
				t.Errorf("%s, %s: changes what is built: %v; is among its fields: %v", k.name, path, moved, says)
			}
		}
		for _, field := range read {
			if !slices.Contains(known, field) {
				t.Errorf("%s reads %s, which is no field of a lock", k.name, field)
			}
		}
	}
}

// changes returns, for each value in a lock by its path, what makes locks of one that
// differ from it in that value alone.
func changes(of reflect.Type, path string, index ...int) map[string]func(scenarios.Lock) []scenarios.Lock {
	all := map[string]func(scenarios.Lock) []scenarios.Lock{}
	for i := range of.NumField() {
		f, at := of.Field(i), append(slices.Clone(index), i)
		name, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		if f.Type.Kind() == reflect.Struct {
			maps.Copy(all, changes(f.Type, path+name+".", at...))
			continue
		}
		all[path+name] = func(l scenarios.Lock) (list []scenarios.Lock) {
			for _, word := range strings.Split(cmp.Or(f.Tag.Get("want"), "another"), "|") { // of numbers there is one
				v := reflect.ValueOf(&l).Elem().FieldByIndex(at)
				switch {
				case v.Kind() == reflect.String:
					v.SetString(word)
				case v.Kind() == reflect.Bool:
					v.SetBool(!v.Bool())
				case v.CanFloat():
					v.SetFloat(v.Float() + 0.5)
				case v.CanInt():
					v.SetInt(v.Int() + int64(7*time.Millisecond))
				case v.Kind() == reflect.Slice:
					v.Set(reflect.Append(v.Slice(0, v.Len()), reflect.Zero(v.Type().Elem())))
				default:
					panic("teach this test to change a field of the type " + v.Type().String())
				}
				list = append(list, l)
			}
			return list
		}
	}
	return all
}
