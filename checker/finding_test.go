package checker_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/historytest"
)

// Law: a finding that is written as JSON and read again is the same.
func TestFindingSurvivesJSON(t *testing.T) {
	header, events, err := historytest.Parse(`header nodes=3 ttl=10 keys
		0 acquire c1 A
		1 granted c1 A until=11 left=8
		2 fault-start fault=1 detail="node 1 crashes"
		3 acquire c2 B
		4 granted c2 B until=14 left=8
		5 release c1 A
		6 released c1 A
		7 end`)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range judge(header, events, checker.Properties()...).Findings {
		text, err := json.Marshal(f)
		if err != nil {
			t.Fatal(err)
		}
		var read checker.Finding
		if err := json.Unmarshal(text, &read); err != nil || !reflect.DeepEqual(read, f) {
			t.Errorf("%v\nwritten %s\nread    %+v\nwant    %+v", err, text, read, f)
		}
	}
}
