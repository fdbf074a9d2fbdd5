package checker_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/historytest"
)

// Law: a finding that is written as JSON and read again is the same, and its story is there
// for those who render nothing.
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
		story, err := json.Marshal(f.Story())
		if err != nil || !strings.Contains(string(text), `"story":`+string(story)) {
			t.Errorf("%s has no story %s", text, story)
		}
	}
}

// A finding that was stored when it had nothing but a story keeps that.
func TestStoredStoryIsKept(t *testing.T) {
	const stored = `{"property":"lease","verdict":"violated","count":2,"story":"two held it; at once"}`
	var f checker.Finding
	if err := json.Unmarshal([]byte(stored), &f); err != nil {
		t.Fatal(err)
	}
	if f.Story() != "two held it; at once" || f.Verdict != checker.Violated || f.Count != 2 {
		t.Errorf("read %+v, %q", f, f.Story())
	}
}
