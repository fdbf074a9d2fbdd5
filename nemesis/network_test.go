package nemesis_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/nemesis"
)

func TestImpossibleNetworkFaults(t *testing.T) {
	groups := func(g ...nemesis.Group) nemesis.Action { return &nemesis.Split{Groups: g} }
	all := nemesis.Group{Clients: []int{1, 2}, Nodes: []int{1, 2, 3, 4, 5}}
	cases := map[string]nemesis.Action{
		"plan[0].duplicate.after.max: 0s is below min":                &nemesis.Duplicate{After: nemesis.Distribution{Range: nemesis.Range{Min: ms}}},
		"plan[0].duplicate.nodes[0]: there is no node 6":              &nemesis.Duplicate{Links: nemesis.Links{Nodes: []int{6}}},
		"plan[0].clone.clients: one client is no clone of itself":     &nemesis.Clone{Clients: []int{1}},
		"plan[0].clone.clients[1]: there is no client 3":              &nemesis.Clone{Clients: []int{1, 3}},
		"plan[0].loss.percent: 0: want 1 to 100":                      &nemesis.Loss{},
		"plan[0].loss.percent: 101":                                   &nemesis.Loss{Percent: 101},
		"plan[0].loss.rto: -1ms":                                      &nemesis.Loss{Percent: 1, RTO: -ms},
		"plan[0].loss.rto: 2m0.001s: want 0s to 120s":                 &nemesis.Loss{Percent: 1, RTO: 2*time.Minute + ms},
		`plan[0].loss.way: unknown value "up"`:                        &nemesis.Loss{Percent: 1, Way: "up"},
		"plan[0].loss.nodes[0]: there is no node 6":                   &nemesis.Loss{Percent: 1, Links: nemesis.Links{Nodes: []int{6}}},
		`plan[0].reset.way: unknown value "down"`:                     &nemesis.Reset{Way: "down"},
		"plan[0].reset.clients[1]: client 1 is named twice":           &nemesis.Reset{Links: nemesis.Links{Clients: []int{1, 1}}},
		"plan[0].bandwidth.bytes_per_second: 0: want at least 1":      &nemesis.Bandwidth{},
		"plan[0].bandwidth.bytes_per_second: -5":                      &nemesis.Bandwidth{BytesPerSecond: -5},
		"plan[0].split.groups: 1 in the list: want at least 2":        groups(all),
		"plan[0].split.groups: they cut no link":                      groups(all, all),
		"plan[0].split.groups[1]: a group of nobody":                  groups(all, nemesis.Group{}),
		"plan[0].split.groups[1].nodes[0]: there is no node 9":        groups(all, nemesis.Group{Nodes: []int{9}}),
		"plan[0].split.groups[0].clients[1]: client 1 is named twice": groups(nemesis.Group{Clients: []int{1, 1}}, all),
		"plan[0].guard-latency.clients[0]: there is no client 3":      &nemesis.GuardLatency{Clients: []int{3}},
		"plan[0].guard-latency.add.max: 0s is below min":              &nemesis.GuardLatency{Add: nemesis.Distribution{Range: nemesis.Range{Min: ms}}},
	}
	for want, action := range cases {
		refused(t, setting(nemesis.Fault{Action: action}), want)
	}
}

func TestImpossibleNetworks(t *testing.T) {
	backwards := nemesis.Distribution{Range: nemesis.Range{Min: 2 * ms, Max: ms}}
	cases := map[string]func(*nemesis.Setting){
		"links[1].latency.max: 1ms is below min": func(s *nemesis.Setting) {
			s.Links = []nemesis.LinkLatency{{}, {Latency: backwards}}
		},
		"links[0].nodes[0]: 0: want at least 1": func(s *nemesis.Setting) {
			s.Links = []nemesis.LinkLatency{{Links: nemesis.Links{Nodes: []int{0}}}}
		},
		`links[0].way: unknown value "up"`:    func(s *nemesis.Setting) { s.Links = []nemesis.LinkLatency{{Way: "up"}} },
		"guard_latency.max: 1ms is below min": func(s *nemesis.Setting) { s.GuardLatency = &backwards },
		"connections.limit: -1":               func(s *nemesis.Setting) { s.Connections.Limit = -1 },
		"connections.limit: a pipelined connection has no limit": func(s *nemesis.Setting) {
			s.Connections = nemesis.Connections{Limit: 1, Pipelined: true}
		},
		"latency.samples_from: the samples of d.txt have not been read": func(s *nemesis.Setting) { s.Latency.SamplesFrom = "d.txt" },
	}
	for want, spoil := range cases {
		s := setting()
		spoil(&s)
		refused(t, s, want)
	}
}

func refused(t *testing.T, s nemesis.Setting, want string) {
	t.Helper()
	err := s.Validate()
	var wrong *nemesis.FieldError
	if !errors.As(err, &wrong) || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("got %v, want %q", err, want)
	}
}

func TestSplitCutsWhatSharesNoGroup(t *testing.T) {
	split := &nemesis.Split{Groups: []nemesis.Group{
		{Clients: []int{1}, Nodes: []int{1, 2, 3}},
		{Clients: []int{2}, Nodes: []int{3, 4}},
	}}
	s := setting(nemesis.Fault{Action: split})
	if err := s.Validate(); err != nil {
		t.Fatal(err)
	}
	const want = "[between client 1 and nodes 4 and 5 between client 2 and nodes 1, 2 and 5]"
	if cuts, way := split.Over(s); fmt.Sprint(cuts) != want || way != nemesis.Both {
		t.Errorf("cuts %v %s, want %s both ways", cuts, way, want)
	}
	const story = "the network splits: client 1 with nodes 1, 2 and 3 | client 2 with nodes 3 and 4"
	if got := split.String(); got != story {
		t.Errorf("got %q", got)
	}
	cut := &nemesis.Partition{Links: nemesis.Links{Clients: []int{2}, Nodes: []int{5}}}
	refused(t, setting(nemesis.Fault{Action: split}, nemesis.Fault{Action: cut}),
		"plan[1]: overlaps fault 1: both hold the connectivity of client 2 to node 5")
}

// The total time before Linux closes a connection, from the manual of net.ipv4.tcp_retries2.
func TestRetransmissionsTakeAsLongAsLinux(t *testing.T) {
	var all time.Duration
	for again := range nemesis.Retransmissions + 1 {
		all += (&nemesis.Loss{}).Timeout(again)
	}
	if want := 924600 * ms; all != want {
		t.Errorf("%v, want %v", all, want)
	}
}
