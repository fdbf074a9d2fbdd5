package timeline_test

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/report/timeline"
)

// ms is an instant, in milliseconds since the run began.
func ms(n float64) history.Time { return history.Time(n * 1e6) }

// token is a random-looking token.
func token(n int) string { return fmt.Sprintf("%08x%032x", uint32(n)*2654435761, n) }

// The overlapping grants of violating.
const (
	paused = 4 // of client 3
	second = 5 // of client 4
)

// violating is a run of 10 s: client 3 is paused while it holds the lock, its keys expire
// because clocks jump, and client 4 is granted the lock; node 3 is down for a while.
func violating() timeline.Model {
	m := calm(10000, 5, 3200, 6100)
	m.Grants = append(m.Grants[:paused], append([]timeline.Grant{
		{Client: 3, Resource: "orders", Call: ms(3420), Granted: ms(3500), To: ms(5180), How: "its validity ended"},
		{Client: 4, Resource: "orders", Call: ms(4120), Granted: ms(4300), To: ms(6000), How: "released"},
	}, m.Grants[paused:]...)...)
	for i := range m.Grants {
		m.Grants[i].Token, m.Grants[i].Fence = token(i), uint64(i+1)
	}
	for i := range m.Lanes {
		shift(m.Lanes[i].Spans)
		for j := range m.Lanes[i].Marks {
			if m.Lanes[i].Marks[j].Grant >= paused {
				m.Lanes[i].Marks[j].Grant += 2
			}
		}
	}
	span := func(lane int, from, to float64, s timeline.State, grant int, text string) {
		m.Lanes[lane].Spans = append(m.Lanes[lane].Spans, timeline.Span{From: ms(from), To: ms(to), State: s, Grant: grant, Text: text, Open: ms(to) == m.End})
	}
	span(2, 3420, 3500, timeline.Waiting, paused, "")
	span(2, 3500, 5180, timeline.Holding, paused, "")
	span(2, 3700, 4850, timeline.Paused, -1, "by the fault 2")
	span(2, 5180, 5600, timeline.Overdue, paused, "")
	span(2, 5250, 5320, timeline.Access, paused, "write")
	span(3, 4120, 4300, timeline.Waiting, second, "")
	span(3, 4300, 6000, timeline.Holding, second, "")
	span(3, 5000, 5060, timeline.Access, second, "write")
	span(3, 6000, 6030, timeline.Releases, second, "")
	for node := range 5 {
		span(6+node, 3430, []float64{3660, 3660, 3660, 5200, 5200}[node], timeline.Key, paused, "")
		if node < 3 {
			span(6+node, 4180, 6020, timeline.Key, second, "")
		}
	}
	for _, lane := range []int{2, 3} {
		span(lane, 4300, 5180, timeline.Clash, -1, "client 3 and client 4")
	}
	span(1, 1500, 2600, timeline.Cut, -1, "node 3")
	span(4, 7200, 10000, timeline.Dead, -1, "")
	span(8, 6500, 8000, timeline.Down, -1, "crash: its keys are lost")
	m.Lanes[4].Marks = []timeline.Mark{{At: ms(7200), Kind: "kill", Grant: -1, Text: "by the fault 3"}}
	m.Lanes[5].Marks = append(m.Lanes[5].Marks, timeline.Mark{At: ms(5030), Kind: "apply", Grant: second},
		timeline.Mark{At: ms(5300), Kind: "apply", Grant: paused, Text: "stale: a newer grant has written", Bad: true})
	m.Lanes[8].Marks = []timeline.Mark{{At: ms(6500), Kind: "node-down", Grant: -1}, {At: ms(8000), Kind: "node-up", Grant: -1, Text: "empty"}}
	m.Finds = []timeline.Finding{
		{Property: "V1 lease exclusion", Verdict: checker.Violated, Count: 2, From: ms(4300), To: ms(5180), Grants: []int{paused, second},
			Also:  []timeline.Also{{Property: "V2 section exclusion", Count: 3}},
			Story: []timeline.Step{{Text: "client 4 was granted the lock at 4.3s while client 3 held it until 5.18s: client 3 stood still from 3.7s, and its keys on nodes 1, 2 and 3 had expired, whose clocks had jumped.", Kind: timeline.EventStep, Lane: -1}}},
		{Property: "V3 effect exclusion", Verdict: checker.Violated, Count: 1, From: ms(5300), To: ms(5300), Grants: []int{paused, second},
			Story: []timeline.Step{{Text: "the write of client 3 at 5.3s was applied after one of client 4, whose grant is newer.", Kind: timeline.EventStep, Lane: -1}}},
		{Property: "L1 deadlock freedom", Verdict: checker.Unknown, Story: []timeline.Step{{Text: "the run ended before the bound of 30s had passed.", Kind: timeline.EventStep, Lane: -1}}},
	}
	m.Shades = []timeline.Shade{
		{Number: 4, Name: "partition of node 3 from all", From: ms(1500), To: ms(2600)},
		{Number: 1, Name: "clock-jump of nodes 1, 2, 3 by 2s", From: ms(3650), To: ms(3660), Lanes: []int{6, 7, 8, 11, 12}},
		{Number: 2, Name: "pause of client 3 for 1.15s", From: ms(3700), To: ms(4850), Lanes: []int{2}},
		{Number: 5, Name: "crash of node 3", From: ms(6500), To: ms(8000), Lanes: []int{8}},
		{Number: 3, Name: "kill of client 5", From: ms(7200), To: ms(10000), Open: true, Lanes: []int{4}},
	}
	return m
}

// shift makes room for the overlapping grants.
func shift(spans []timeline.Span) {
	for i := range spans {
		if spans[i].Grant >= paused {
			spans[i].Grant += 2
		}
	}
}

// calm is a run of some milliseconds in which clients hold the lock in turn, except between two
// instants.
func calm(length float64, clients int, nobody ...float64) timeline.Model {
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
		if len(nobody) == 2 && t+700 > nobody[0] && t < nobody[1] {
			continue
		}
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

// huge is a run of many spans, on hundreds of clients.
func huge(spans, clients int) timeline.Model {
	m := timeline.Model{End: ms(float64(spans) * 10), Clients: clients}
	r := rand.New(rand.NewPCG(3, 4))
	for i := range clients {
		m.Lanes = append(m.Lanes, timeline.Lane{Group: timeline.Clients, Name: fmt.Sprintf("client %d", i+1)})
	}
	for n := range spans / 2 {
		t, held := float64(n)*20, 1+13*r.Float64()*r.Float64()
		m.Grants = append(m.Grants, timeline.Grant{Client: n%clients + 1, Resource: "orders", Token: token(n), Call: ms(t), Granted: ms(t + 5), To: ms(t + 5 + held), How: "released"})
		lane := &m.Lanes[n%clients]
		lane.Spans = append(lane.Spans, timeline.Span{From: ms(t), To: ms(t + 5), State: timeline.Waiting, Grant: n}, timeline.Span{From: ms(t + 5), To: ms(t + 5 + held), State: timeline.Holding, Grant: n})
	}
	for n := range spans / 100 {
		m.Shades = append(m.Shades, timeline.Shade{Number: n + 1, Name: fmt.Sprintf("pause of client %d", n%clients+1), From: ms(float64(n) * 1000), To: ms(float64(n)*1000 + 40), Lanes: []int{n % clients}})
	}
	return m
}

// hostile is a run whose every text is markup.
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
		m.Finds[i].Property, m.Finds[i].Story = m.Finds[i].Property+text, []timeline.Step{{Text: text, Kind: timeline.EventStep, Lane: -1}}
	}
	return m
}
