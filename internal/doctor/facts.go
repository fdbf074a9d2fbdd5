package doctor

import (
	"slices"
	"time"

	"github.com/lockstorm/lockstorm/internal/textfmt"
)

// Facts are what "lockstorm tune" can use, in the form of its files. What is not known is empty.
type Facts struct {
	Nodes     int                   `json:"nodes,omitempty"`      // different servers that replied
	RoundTrip map[string][]Duration `json:"round_trip,omitempty"` // "samples": of all servers
	Crashes   map[string]string     `json:"crashes,omitempty"`    // "persistence": the least of any server
	Clocks    map[string]Duration   `json:"clocks,omitempty"`     // "largest_step": puts wrong clocks right

	// Broken has the findings that break an assumption of every advice: all but persistence, against which tune
	// recommends a restart delay. It is written if empty, too, and then overrides an earlier one.
	Broken []string `json:"broken"`
}

// persistences are what a restart keeps, in tune's words, the least first. "": that is not known.
var persistences = []string{"", "none", "aof-everysec", "aof-always"}

func facts(read []reading, findings []Finding) (f Facts) {
	f.Broken = []string{}
	for _, g := range findings {
		if g.Severity == Broken && g.Check != persistenceCheck {
			f.Broken = append(f.Broken, g.Check+" on "+textfmt.List(g.Servers))
		}
	}
	var times []Duration
	var clocked []*reading
	kept := len(persistences) - 1
	nodes := distinct(read)
	f.Nodes = len(nodes)
	for i := range nodes {
		r := &nodes[i]
		for _, t := range r.pings {
			times = append(times, Duration(t.Round(time.Microsecond)))
		}
		if r.clock != nil {
			clocked = append(clocked, r)
		}
		kept = min(kept, slices.Index(persistences, r.kept()))
	}
	if len(times) > 0 {
		f.RoundTrip = map[string][]Duration{"samples": times}
	}
	if kept > 0 && f.Nodes > 0 {
		f.Crashes = map[string]string{"persistence": persistences[kept]}
	}
	if len(clocked) > 1 {
		if apart, within := spread(clocked); time.Duration(apart-within) >= stepThreshold {
			f.Clocks = map[string]Duration{"largest_step": Duration(time.Duration(apart + within).Round(time.Millisecond))}
		}
	}
	return f
}

// distinct returns the servers that replied and keep keys, each once.
func distinct(read []reading) []reading {
	return once(slices.DeleteFunc(slices.Clone(read), func(r reading) bool { return r.err != nil || r.settings["redis_mode"] == "sentinel" }))
}
