package doctor

import (
	"slices"
	"time"
)

// Facts are what "lockstorm tune" can use, in the form of its files.
type Facts struct {
	Nodes     int        `json:"nodes,omitempty"` // different servers that replied
	RoundTrip *Samples   `json:"round_trip,omitempty"`
	Crashes   *Crashes   `json:"crashes,omitempty"` // nil: the persistence of a server is not known
	Clocks    *ClockFact `json:"clocks,omitempty"`  // nil: no clock is known to be wrong
}

// Samples are the round-trip times of all servers.
type Samples struct {
	Samples []Duration `json:"samples"`
}

// Crashes says what servers keep over a restart: the least of any server.
type Crashes struct {
	Persistence string `json:"persistence"`
}

// ClockFact has the step that puts the clocks right.
type ClockFact struct {
	LargestStep Duration `json:"largest_step"`
}

func facts(read []reading) Facts {
	var f Facts
	var times []Duration
	var clocked []*reading
	runs, kept, known := map[string]bool{}, "aof-always", true
	for i := range read {
		r := &read[i]
		if r.err != nil || r.settings["redis_mode"] == "sentinel" {
			continue
		}
		id := r.settings["run_id"]
		if id != "" && runs[id] {
			continue
		}
		runs[id] = true
		f.Nodes++
		for _, t := range r.pings {
			times = append(times, Duration(t.Round(time.Microsecond)))
		}
		if r.clock != nil {
			clocked = append(clocked, r)
		}
		order := []string{"none", "aof-everysec", "aof-always"}
		if k := r.kept(); k == "" {
			known = false
		} else if slices.Index(order, k) < slices.Index(order, kept) {
			kept = k
		}
	}
	if len(times) > 0 {
		f.RoundTrip = &Samples{times}
	}
	if known && f.Nodes > 0 {
		f.Crashes = &Crashes{kept}
	}
	if len(clocked) > 1 {
		if apart, within := spread(clocked); time.Duration(apart-within) >= stepThreshold {
			f.Clocks = &ClockFact{Duration(time.Duration(apart + within).Round(time.Millisecond))}
		}
	}
	return f
}
