package nemesis_test

import (
	"slices"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/nemesis"
)

func TestWhomActionsName(t *testing.T) {
	for _, v := range []struct {
		action         nemesis.Action
		clients, nodes []int
	}{
		{&nemesis.Crash{Node: 3}, nil, []int{3}},
		{&nemesis.Pause{Client: 2}, []int{2}, nil},
		{&nemesis.ClockJump{Machine: nemesis.Machine{Node: 4}, By: time.Second}, nil, []int{4}},
		{&nemesis.ClockRate{Machine: nemesis.Machine{Client: 1}, PPM: 7}, []int{1}, nil},
		{&nemesis.Partition{Links: nemesis.Links{Clients: []int{1}, Nodes: []int{5, 4}}}, []int{1}, []int{4, 5}},
		{&nemesis.Latency{Links: nemesis.Links{Nodes: []int{2}}}, nil, []int{2}},
		{&nemesis.Split{Groups: []nemesis.Group{{Clients: []int{1}, Nodes: []int{1, 2}}, {Clients: []int{2}, Nodes: []int{2, 3}}}}, []int{1, 2}, []int{1, 2, 3}},
	} {
		clients, nodes := nemesis.Named(v.action)
		if !slices.Equal(clients, v.clients) || !slices.Equal(nodes, v.nodes) {
			t.Errorf("%v: clients %v and nodes %v; want %v and %v", v.action, clients, nodes, v.clients, v.nodes)
		}
	}
}
