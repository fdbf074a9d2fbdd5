package nemesis_test

import (
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/nemesis"
)

func TestFaultsInWords(t *testing.T) {
	crash := func(start nemesis.Trigger, end *nemesis.Trigger) nemesis.Fault {
		return nemesis.Fault{Action: &nemesis.Crash{Node: 3}, Start: start, End: end}
	}
	granted := nemesis.When(1, env.StepGranted, 20*time.Millisecond)
	second := nemesis.Trigger{Client: 2, Step: "reply", K: 3, Count: 2}
	times := func(n int) nemesis.Trigger { return nemesis.Trigger{Client: 1, Step: "granted", Count: n} }
	cases := []struct {
		fault nemesis.Fault
		want  string
	}{
		{crash(nemesis.At(0), nil), "node 3 crashes, from the start, for good"},
		{crash(granted, nemesis.After(0)), "node 3 crashes, 20ms after client 1 comes to granted, and that is over at once"},
		{crash(nemesis.At(time.Second), nemesis.After(time.Minute)), "node 3 crashes, at 1s, for 1m0s"},
		{crash(second, &nemesis.Trigger{At: 2 * time.Second}), "node 3 crashes, when client 2 comes to reply 3 for the 2nd time, until 2s"},
		{crash(nemesis.At(0), &second), "node 3 crashes, from the start, until client 2 comes to reply 3 for the 2nd time"},
		{crash(times(11), nil), "node 3 crashes, when client 1 comes to granted for the 11th time, for good"},
		{crash(times(23), nil), "node 3 crashes, when client 1 comes to granted for the 23rd time, for good"},
		{nemesis.Fault{Action: &nemesis.Partition{}}, "every node is cut off, from every client, from the start, for good"},
		{nemesis.Fault{Action: &nemesis.Partition{Links: nemesis.Links{Nodes: []int{2}}}}, "node 2 is cut off, from every client, from the start, for good"},
		{nemesis.Fault{Action: &nemesis.Kill{Client: 1}, Start: granted}, "client 1 dies, 20ms after client 1 comes to granted"},
	}
	for _, c := range cases {
		if got := c.fault.String(); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}
