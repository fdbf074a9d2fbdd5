package timeline_test

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/report/timeline"
)

// ms is an instant, in milliseconds since the run began.
func ms(n float64) history.Time { return history.Time(n * 1e6) }

// token is one as they are drawn.
func token(n int) string { return fmt.Sprintf("%08x%032x", uint32(n)*2654435761, n) }

// violating is a run of 10 s: client 2 stands still while it holds the lock, and client 3 is
// granted it meanwhile; node 3 is down for a while.
func violating() timeline.Model {
	m := calm(10000, 5)
	paused, second := 3, 4 // grants
	g := &m.Grants[paused]
	g.To, g.How = ms(5180), "its validity ended"
	m.Grants[second].Granted, m.Grants[second].Call = ms(4300), ms(4120)
	m.Finds = []timeline.Find{
		{Property: "V1 lease exclusion", Verdict: checker.Violated, Count: 2, From: ms(4300), To: ms(5180), Grants: []int{paused, second},
			Story: "client 4 was granted the lock at 4.3s while client 3 held it until 5.18s: it stood still from 3.7s, and its key on nodes 1, 2 and 3 had expired by their clocks, which had jumped."},
		{Property: "V3 effect exclusion", Verdict: checker.Violated, Count: 1, From: ms(4900), To: ms(4900), Grants: []int{paused},
			Story: "the write of client 3 at 4.9s was applied after one of client 4, whose grant is newer."},
		{Property: "L1 deadlock freedom", Verdict: checker.Unknown, Story: "the run ended before the bound of 30s had passed."},
	}
	lane := &m.Lanes[2]
	for i, s := range lane.Spans {
		if s.Grant == paused && s.State == timeline.Holding {
			lane.Spans[i].To = g.To
		}
	}
	lane.Spans = append(lane.Spans,
		timeline.Span{From: ms(3700), To: ms(4850), State: timeline.Paused, Grant: -1, Text: "by the fault 2"},
		timeline.Span{From: ms(5180), To: ms(5600), State: timeline.Overdue, Grant: paused},
		timeline.Span{From: ms(4860), To: ms(4940), State: timeline.Access, Grant: paused, Text: "write"})
	m.Lanes[3].Spans = append([]timeline.Span{{From: ms(4300), To: ms(6000), State: timeline.Holding, Grant: second}}, m.Lanes[3].Spans...)
	clash := timeline.Span{From: ms(4300), To: ms(5180), State: timeline.Clash, Grant: -1, Text: "client 3 and client 4"}
	m.Lanes[2].Spans = append(m.Lanes[2].Spans, clash)
	m.Lanes[3].Spans = append(m.Lanes[3].Spans, clash)
	m.Lanes[4].Spans = append(m.Lanes[4].Spans, timeline.Span{From: ms(7200), To: ms(10000), State: timeline.Dead, Grant: -1, Open: true})
	m.Lanes[4].Marks = append(m.Lanes[4].Marks, timeline.Mark{At: ms(7200), Kind: "kill", Grant: -1, Text: "by the fault 3"})
	m.Lanes[5].Marks = append(m.Lanes[5].Marks, timeline.Mark{At: ms(4900), Kind: "apply", Grant: paused, Text: "stale: a newer grant has written", Bad: true})
	m.Shades = []timeline.Shade{
		{Number: 1, Name: "clock-jump of nodes 1, 2, 3 by 2s", From: ms(3650), To: ms(3660), Lanes: []int{6, 7, 8, 11, 12}},
		{Number: 2, Name: "pause of client 3 for 1.15s", From: ms(3700), To: ms(4850), Lanes: []int{2}},
		{Number: 3, Name: "kill of client 5", From: ms(7200), To: ms(10000), Open: true, Lanes: []int{4}},
		{Number: 4, Name: "partition of node 3 from all", From: ms(1500), To: ms(2600)},
		{Number: 5, Name: "crash of node 3", From: ms(6500), To: ms(8000), Lanes: []int{8}},
	}
	m.Lanes[8].Spans = append(m.Lanes[8].Spans, timeline.Span{From: ms(6500), To: ms(8000), State: timeline.Down, Grant: -1, Text: "crash: its keys are lost"})
	m.Lanes[8].Marks = []timeline.Mark{{At: ms(6500), Kind: "node-down", Grant: -1}, {At: ms(8000), Kind: "node-up", Grant: -1, Text: "empty"}}
	m.Lanes[1].Spans = append(m.Lanes[1].Spans, timeline.Span{From: ms(1500), To: ms(2600), State: timeline.Cut, Grant: -1, Text: "node 3"})
	return m
}

// calm is a run of so many milliseconds in which clients hold the lock in turn.
func calm(length float64, clients int) timeline.Model {
	const nodes = 5
	m := timeline.Model{End: ms(length), Clients: clients, Nodes: nodes}
	r := rand.New(rand.NewPCG(1, 2))
	lanes := make([]timeline.Lane, clients)
	for i := range lanes {
		lanes[i] = timeline.Lane{Group: timeline.Clients, Name: fmt.Sprintf("client %d", i+1)}
	}
	guarded := timeline.Lane{Group: timeline.Guarded, Name: "writes"}
	keys := make([]timeline.Lane, nodes)
	for i := range keys {
		keys[i] = timeline.Lane{Group: timeline.Nodes, Name: fmt.Sprintf("node %d", i+1)}
	}
	latency := timeline.Lane{Group: timeline.Service, Name: "acquire latency", Unit: "ns"}
	tries := timeline.Lane{Group: timeline.Service, Name: "tries per grant", Unit: "tries"}
	for t := 100.0; t < length-1100; t += 900 {
		n := len(m.Grants)
		c := n % clients
		g := timeline.Grant{Client: c + 1, Resource: "orders", Token: token(n), Call: ms(t - 80), Granted: ms(t + 20), To: ms(t + 700), How: "released", Fence: uint64(n + 1)}
		m.Grants = append(m.Grants, g)
		lanes[c].Spans = append(lanes[c].Spans,
			timeline.Span{From: g.Call, To: g.Granted, State: timeline.Waiting, Grant: n},
			timeline.Span{From: g.Granted, To: g.To, State: timeline.Holding, Grant: n},
			timeline.Span{From: ms(t + 200), To: ms(t + 240), State: timeline.Access, Grant: n, Text: "read"},
			timeline.Span{From: ms(t + 400), To: ms(t + 430), State: timeline.Extends, Grant: n, Text: "granted"},
			timeline.Span{From: ms(t + 700), To: ms(t + 730), State: timeline.Releases, Grant: n})
		guarded.Marks = append(guarded.Marks, timeline.Mark{At: ms(t + 220), Kind: "apply", Grant: n})
		for i := range keys {
			keys[i].Spans = append(keys[i].Spans, timeline.Span{From: ms(t + r.Float64()*15), To: ms(t + 715 + r.Float64()*10), State: timeline.Key, Grant: n})
		}
		latency.Samples = append(latency.Samples, timeline.Sample{At: g.Granted, Value: 1e6 * (5 + 100*r.Float64()*r.Float64()), Bad: n%4 == 3})
		tries.Samples = append(tries.Samples, timeline.Sample{At: g.Granted, Value: float64(1 + n%3)})
	}
	m.Lanes = append(append(lanes, guarded), keys...)
	for i := range 2 {
		drift := timeline.Lane{Group: timeline.Clocks, Name: fmt.Sprintf("clock of node %d", i+1), Unit: "ns", Line: true}
		for t := 0.0; t <= length; t += length / 40 {
			drift.Samples = append(drift.Samples, timeline.Sample{At: ms(t), Value: 1e6 * (50*math.Sin(t/length*6+float64(i)) + t/length*40)})
		}
		m.Lanes = append(m.Lanes, drift)
	}
	m.Lanes = append(m.Lanes, latency, tries,
		timeline.Lane{Group: timeline.Service, Name: "outages", Spans: []timeline.Span{{From: ms(length * .45), To: ms(length * .52), State: timeline.Outage, Grant: -1}}})
	return m
}

// huge is a run of so many spans, on hundreds of clients.
func huge(spans, clients int) timeline.Model {
	m := timeline.Model{End: ms(float64(spans) * 10), Clients: clients}
	for i := range clients {
		m.Lanes = append(m.Lanes, timeline.Lane{Group: timeline.Clients, Name: fmt.Sprintf("client %d", i+1)})
	}
	for n := range spans / 2 {
		t := float64(n) * 20
		m.Grants = append(m.Grants, timeline.Grant{Client: n%clients + 1, Resource: "orders", Token: token(n), Call: ms(t), Granted: ms(t + 5), To: ms(t + 19), How: "released"})
		lane := &m.Lanes[n%clients]
		lane.Spans = append(lane.Spans, timeline.Span{From: ms(t), To: ms(t + 5), State: timeline.Waiting, Grant: n}, timeline.Span{From: ms(t + 5), To: ms(t + 19), State: timeline.Holding, Grant: n})
	}
	for n := range spans / 100 {
		m.Shades = append(m.Shades, timeline.Shade{Number: n + 1, Name: fmt.Sprintf("pause of client %d", n%clients+1), From: ms(float64(n) * 1000), To: ms(float64(n)*1000 + 40), Lanes: []int{n % clients}})
	}
	return m
}

// hostile is a run whose every text is one that would like to be markup.
func hostile() timeline.Model {
	const text = `</script><script>window.ran=1</script><img src=x onerror="window.ran=1">`
	m := violating()
	m.Omitted = text
	for i := range m.Lanes {
		m.Lanes[i].Name += text
		for j := range m.Lanes[i].Spans {
			m.Lanes[i].Spans[j].Text = text
		}
		for j := range m.Lanes[i].Marks {
			m.Lanes[i].Marks[j].Kind, m.Lanes[i].Marks[j].Text = text, text
		}
	}
	for i := range m.Grants {
		m.Grants[i].Resource, m.Grants[i].Token, m.Grants[i].How = text, text, text
	}
	for i := range m.Shades {
		m.Shades[i].Name = text
	}
	for i := range m.Finds {
		m.Finds[i].Property, m.Finds[i].Story = m.Finds[i].Property+text, text
	}
	return m
}
