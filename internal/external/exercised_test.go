package external_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/internal/external"
	"github.com/lockstorm/lockstorm/internal/historytest"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/timeline"
	"github.com/lockstorm/lockstorm/scenarios"
)

// starved is a history in which client 2 is refused three times in a row.
const starved = `header grant=30 free=4
0  acquire c1 A
0  acquire c2 B
1  granted c1 A until=9
2  release c1 A
2  released c1 A
3  refused c2 B
4  acquire c1 C
4  acquire c2 D
5  granted c1 C until=13
6  release c1 C
6  released c1 C
7  refused c2 D
8  acquire c1 E
8  acquire c2 F
9  granted c1 E until=17
10 refused c2 F
12 release c1 E
12 released c1 E
12 acquire c1 G
13 refused c1 G
20 end
`

// Law: the last line warns of a client that is refused in a row for longer than a call may last, while others
// are granted the lock, and of calls that give up while nobody is. After a fault it warns of neither.
func TestWarnings(t *testing.T) {
	const waits = `header grant=30 free=4
0  acquire c1 A
1  granted c1 A until=9
2  acquire c2 B
20 refused c2 B
21 end
`
	for _, c := range []struct {
		name, history string
		patience      time.Duration
		want          []string
	}{
		{"refused in a row", starved, 5 * time.Millisecond, []string{"in calm, client 2 was refused 3 times in a row, for 10ms, while others were granted the lock: 3 of 4 refusals without a fault were of its calls"}},
		{"for no longer than a call may last", starved, 10 * time.Millisecond, nil},
		{"one fewer", strings.Replace(starved, "3  refused c2 B", "2  cancel c2\n3  refused c2 B", 1), time.Millisecond, nil},
		{"nobody is granted it", waits, time.Second, []string{"in calm, 1 call gave up after more than a TTL in which nobody was granted the lock, while no fault went on"}},
		{"cancelled", strings.Replace(waits, "20 refused", "19 cancel c2\n20 refused", 1), time.Second, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			h, events, err := historytest.Parse(c.history)
			if err != nil {
				t.Fatal(err)
			}
			var did external.Exercised
			line := timeline.New(h)
			did.Reader()(line)
			for i := range events {
				line.Record(&events[i])
			}
			line.Close()
			var o external.Outcome
			o.Add(runner.Result{Scenario: scenarios.Scenario{Name: "calm"}}, external.Judgment{}, did)
			var all external.Summary
			all.Add(&o, c.patience, false)
			if !slices.Equal(all.Warnings, c.want) {
				t.Errorf("warnings %q, want %q", all.Warnings, c.want)
			}
			if warned := strings.Contains(all.String(), "; warning: "); warned != (len(c.want) > 0) {
				t.Errorf("the last line is %q", &all)
			}
		})
	}
}

// What a test has tried of permits is said only of a lock that has several.
func TestTheLastLineTellsOfPermits(t *testing.T) {
	const holds = `
		0 acquire c1 A
		1 granted c1 A weight=1
		2 acquire c2 B
		3 granted c2 B weight=1
		4 acquire c3 C
		5 refused c3 C
		6 release c1 A
		6 released c1 A
		9 end`
	for capacity, want := range map[string]string{
		"header capacity=2": "1 grant beside other holds, 1 call while no permit was free;",
		"header capacity=3": "1 grant beside other holds; not exercised: ",
		"header":            "",
	} {
		header, events, err := historytest.Parse(capacity + holds)
		if err != nil {
			t.Fatal(err)
		}
		var o external.Outcome
		line := timeline.New(header)
		o.Exercised.Reader()(line)
		for i := range events {
			line.Record(&events[i])
		}
		line.Close()
		var all external.Summary
		all.Add(&o, time.Second, false)
		said := all.String()
		if want == "" && strings.Contains(said, "permit") || !strings.Contains(said, want) {
			t.Errorf("%s: %s: want %q", capacity, said, want)
		}
	}
}
