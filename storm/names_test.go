package storm

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

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
