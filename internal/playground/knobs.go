package playground

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// Knob is a number of a scenario that a reader turns.
type Knob struct {
	Path  string  `json:"path"` // of the field, as in "lock.ttl"; "clients" is the number of clients
	Name  string  `json:"name"` // "TTL"
	Unit  string  `json:"unit"` // "ms", "%", "ppm"; "": a number
	Help  string  `json:"help"` // one sentence
	Min   float64 `json:"min"`
	Max   float64 `json:"max"`
	Step  float64 `json:"step"`
	Value float64 `json:"value"`
}

// KnobList are the knobs of a scenario.
type KnobList struct {
	Knobs []Knob `json:"knobs"`
}

// clientsPath is the path of the number of clients.
const clientsPath = "clients"

// Knobs returns the knobs that a scenario has.
func Knobs(q ScenarioText) (KnobList, error) {
	e, err := prepare(q.Scenario)
	if err != nil {
		return KnobList{}, err
	}
	s := e.Scenario()
	list := []Knob{
		millis("lock.ttl", "TTL", "How long the nodes keep a key.", s.Lock.TTL, 100*time.Millisecond, 10*time.Second),
		{"lock.drift_factor", "drift allowance", "%", "The share of the TTL that the lock sets aside for wrong clocks, besides 2 ms.", 0, 50, 0.1, 100 * s.Lock.DriftFactor},
		{"nodes", "nodes", "", "The number of independent Redis nodes.", 1, 15, 1, float64(s.Nodes)},
		{clientsPath, "clients", "", "The number of clients. Further ones are like the last.", 1, 50, 1, float64(len(s.Clients))},
		millis("latency.max", "latency", "The longest one-way time of a message.", s.Latency.Max, 0, 500*time.Millisecond),
	}
	list = slices.DeleteFunc(list, func(k Knob) bool {
		return k.Path == "lock.drift_factor" && s.Lock.DriftFactor == 0 && s.Lock.Kind != "redlock"
	})
	for i, f := range s.Plan {
		list = append(list, knobsOfFault(fmt.Sprintf("plan[%d].", i), f)...)
	}
	return KnobList{list}, nil
}

// millis is a knob of a time.
func millis(path, name, help string, value, least, most time.Duration) Knob {
	in := func(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
	k := Knob{Path: path, Name: name, Unit: "ms", Help: help, Min: in(least), Max: max(in(most), 2*in(value)), Value: in(value)}
	k.Step = math.Pow(10, math.Floor(math.Log10(k.Max/500)))
	return k
}

// knobsOfFault returns the knobs of a fault: by how much a clock is wrong, and how long the fault lasts.
func knobsOfFault(path string, f nemesis.Fault) []Knob {
	what, kind := f.String(), string(f.Action.Kind())
	e := f.Action.Effects(nemesis.Setting{})
	list := errorKnobs(path+kind+".", strings.ReplaceAll(kind, "-", " ")+", "+e.Clock.Machine.String(), f)
	if f.End == nil || f.End.After == nil {
		return list
	}
	name := "length of the " + kind
	if e.Does.Any(nemesis.TakesDown) {
		name = "restart delay"
	}
	return append(list, millis(path+"end.after", name, what, *f.End.After, 0, 3*time.Second))
}

// errorKnobs returns the knobs of a clock error that can be in either direction.
func errorKnobs(path, name string, f nemesis.Fault) (list []Knob) {
	if _, either := nemesis.Opposite(f.Action); !either {
		return nil
	}
	f.EachValue(func(field string, value any) {
		switch at := value.(type) {
		case *int64:
			if field == "ppm" && len(list) == 0 { // not the rate of a slew
				list = append(list, Knob{path + field, name, "ppm", f.String(), -500_000, 500_000, 1000, float64(*at)})
			}
		case *time.Duration:
			if field == "by" {
				k := millis(path+field, name, f.String(), at.Abs(), 0, 5*time.Second)
				k.Min, k.Value = -k.Max, float64(*at)/float64(time.Millisecond)
				list = append(list, k)
			}
		}
	})
	return list
}

// TurnRequest asks for a scenario with other numbers.
type TurnRequest struct {
	Scenario string    `json:"scenario"` // YAML
	Settings []Setting `json:"settings"`
}

// Setting is a knob and its position.
type Setting struct {
	Path  string  `json:"path"`
	Value float64 `json:"value"` // in the knob's unit
}

// Turned is the scenario with these numbers, or why there is none.
type Turned struct {
	Scenario string    `json:"scenario"` // YAML; "" if there are problems
	Problems []Problem `json:"problems"`
}

// Turn sets knobs. The expected verdicts were of the scenario as it stood, so the result has none,
// unless nothing was changed.
func Turn(q TurnRequest) (Turned, error) {
	e, err := prepare(q.Scenario)
	if err != nil {
		return Turned{}, err
	}
	known, err := Knobs(ScenarioText{q.Scenario})
	if err != nil {
		return Turned{}, err
	}
	changed, err := turn(e.Scenario(), known.Knobs, q.Settings)
	if problem := new(turnError); errors.As(err, &problem) {
		return Turned{Problems: []Problem{{Text: problem.Error()}}}, nil
	}
	if err != nil {
		return Turned{}, err
	}
	text, err := printed(changed)
	if err != nil {
		return Turned{}, err
	}
	if _, err := prepare(text); err != nil {
		return Turned{Problems: problemsOf(err)}, nil
	}
	return Turned{Scenario: text, Problems: []Problem{}}, nil
}

// turnError says that numbers do not go together.
type turnError struct{ error }

// turn sets knobs of a scenario.
func turn(s scenarios.Scenario, knobs []Knob, settings []Setting) (scenarios.Scenario, error) {
	var fields []scenarios.FieldValue
	clients := len(s.Clients)
	for _, set := range settings {
		i := slices.IndexFunc(knobs, func(k Knob) bool { return k.Path == set.Path })
		switch {
		case i < 0:
			return s, fmt.Errorf("the scenario has no knob %q", set.Path)
		case set.Value == knobs[i].Value:
		case set.Path == clientsPath:
			clients = int(set.Value)
		default:
			fields = append(fields, scenarios.FieldValue{Path: set.Path, Value: valueOf(knobs[i], set.Value)})
		}
	}
	if len(fields) == 0 && clients == len(s.Clients) {
		return s, nil
	}
	s.Clients, s.Expect, s.Limits = clientsOf(s.Clients, clients), nil, scenarios.Limits{}
	changed, err := s.WithAll(append(fields, latencies(s, fields)...)...)
	if err != nil {
		return s, &turnError{err}
	}
	return changed, nil
}

// latencies lowers the smallest latency to the largest, if that is set lower.
func latencies(s scenarios.Scenario, fields []scenarios.FieldValue) []scenarios.FieldValue {
	for _, f := range fields {
		if most, err := time.ParseDuration(f.Value); f.Path == "latency.max" && err == nil && most < s.Latency.Min {
			return []scenarios.FieldValue{{Path: "latency.min", Value: f.Value}}
		}
	}
	return nil
}

// clientsOf returns n clients: the first ones, or all and copies of the last.
func clientsOf(clients []scenarios.Client, n int) []scenarios.Client {
	n = max(n, 1)
	if n <= len(clients) {
		return clients[:n:n]
	}
	more := slices.Clone(clients)
	for len(more) < n {
		more = append(more, clients[len(clients)-1])
	}
	return more
}

// valueOf is the position of a knob as YAML.
func valueOf(k Knob, value float64) string {
	switch k.Unit {
	case "ms":
		return time.Duration(math.Round(value * float64(time.Millisecond))).String()
	case "%":
		return strings.TrimSuffix(strconv.FormatFloat(value/100, 'f', 6, 64), "0")
	}
	return strconv.FormatInt(int64(math.Round(value)), 10)
}
