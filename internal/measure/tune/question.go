package tune

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/lockstorm/lockstorm/internal/form"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/textfmt"
	"github.com/lockstorm/lockstorm/nemesis"
)

// Question is what an operator knows and wants.
type Question struct {
	Known `yaml:",inline"`
	Want  Wanted `yaml:"want,omitempty"`

	nodesStated bool     // else Nodes is the default
	replaced    []string // see Replaced
}

// Known is the known facts about nodes, network, clocks and clients.
type Known struct {
	Nodes     int     `yaml:"nodes" want:"1..64"`
	RoundTrip Length  `yaml:"round_trip,omitempty"` // from a request to a node's reply, unless there are zones
	Zones     []Zone  `yaml:"zones,omitempty"`
	Clocks    Clocks  `yaml:"clocks,omitempty"`
	Pauses    []Pause `yaml:"pauses,omitempty"` // none: nothing is known about them
	Crashes   Crashes `yaml:"crashes,omitempty"`
	Hold      Length  `yaml:"hold,omitempty"` // how long a client keeps the lock

	Contention Contention `yaml:"contention,omitempty"`

	// FenceChecked says that the resource rejects reads and writes with a fence below the
	// highest that it has seen, and that fences never go back.
	FenceChecked bool `yaml:"fence_checked,omitempty"`

	TTL         time.Duration `yaml:"ttl,omitempty" want:"0s.."`         // the only one to weigh; 0: any
	LongestTTL  time.Duration `yaml:"longest_ttl,omitempty" want:"0s.."` // how long a dead holder may block the others; 0: 10 minutes
	NoExtension bool          `yaml:"no_extension,omitempty"`            // holds cannot be extended

	Broken []string `yaml:"broken,omitempty"` // assumptions of every advice that the servers break, as doctor finds them
}

// Zone is nodes with the same round trip.
type Zone struct {
	Nodes     int    `yaml:"nodes" want:"1..64"`
	RoundTrip Length `yaml:"round_trip,omitempty"`
}

// Clocks are the bounds of all clocks, of clients and of nodes.
type Clocks struct {
	// RatePPM is the bound of a clock's rate error, in parts per million: NTP slews by up to
	// 500, chrony by up to 83,333 by default.
	RatePPM int64 `yaml:"rate_ppm,omitempty" want:"0..499999"`

	// LargestStep bounds the sum of the steps of a node's wall clock while a key lives.
	LargestStep time.Duration `yaml:"largest_step,omitempty" want:"0s.."`
}

// Pause is a kind of times at which a client does not run: garbage collection, a machine that is migrated.
type Pause struct {
	Every  time.Duration `yaml:"every" want:">0s.."` // mean time between two of a client
	Length Length        `yaml:"length,omitempty"`
}

// Crashes says how often nodes and clients crash: the mean time between two of one. 0: never.
type Crashes struct {
	NodeEvery   time.Duration       `yaml:"node_every,omitempty" want:"0s.."`
	ClientEvery time.Duration       `yaml:"client_every,omitempty" want:"0s.."`
	Persistence nemesis.Persistence `yaml:"persistence,omitempty" want:"none|aof-everysec|aof-always"` // of nodes; omitted: none
}

// Contention is the clients of the same lock, and the time between two holds of a client.
type Contention struct {
	Clients int    `yaml:"clients" want:"1..1000"`
	Think   Length `yaml:"think,omitempty"`
}

// Wanted is what is wished for. Omitted wishes are ignored.
type Wanted struct {
	// Availability is the share of the time in which the lock can be acquired: a majority of
	// the nodes is up, and no dead holder has it.
	Availability float64 `yaml:"availability,omitempty" want:"0..1"`

	// AcquireP99 is the time within which 99 of 100 clients acquire a free lock.
	AcquireP99 time.Duration `yaml:"acquire_p99,omitempty" want:"0s.."`

	// ViolationsPerBillion is how many of 10⁹ grants may end in a violation of effect exclusion.
	ViolationsPerBillion *float64 `yaml:"violations_per_billion,omitempty" want:"0..1e9"`
}

// Options are the parameters of [Advise].
type Options struct {
	Backend runner.Backend // the simulator
	Runs    int            // of each trial that validates a setting, at least 1
	Seed    uint64         // the same seed gives the same advice

	// Progress, unless nil, is called before the first run of a trial and after each run, with
	// the name of the trial, the number of its runs and the number of those done.
	Progress func(what string, runs, done int)

	maxRequests int // of a trial, about; 0 means defaultMaxRequests
}

// step returns a function that counts a run and calls Progress.
func (o Options) step(what string, runs int) func() {
	done := 0
	if o.Progress != nil {
		o.Progress(what, runs, 0)
	}
	return func() {
		if done++; o.Progress != nil {
			o.Progress(what, runs, done)
		}
	}
}

// Validate returns a [nemesis.FieldError] for the first value that is missing, invalid, or in
// contradiction with another.
func (q Question) Validate() error {
	if err := form.Check(&q); err != nil {
		return err
	}
	k, inZones := q.Known, 0
	for i, z := range k.Zones {
		if inZones += z.Nodes; z.RoundTrip.isZero() {
			return wrong(fmt.Sprintf("zones[%d].round_trip", i), "missing: how long a node of this zone takes to answer")
		}
	}
	for i, p := range k.Pauses {
		if p.Length.Max == 0 {
			return wrong(fmt.Sprintf("pauses[%d].length.max", i), "missing: the longest such pause")
		}
	}
	switch {
	case inZones == 0 && k.RoundTrip.isZero():
		return wrong("round_trip", "missing: how long a node takes to answer")
	case inZones > 0 && !k.RoundTrip.isZero():
		return wrong("round_trip", "zones have round trips of their own")
	case inZones > 0 && inZones != k.Nodes:
		return wrong("zones", "they have %s together, and nodes is %d", textfmt.Count(inZones, "node"), k.Nodes)
	case k.Hold.isZero():
		return wrong("hold", "missing: how long a client keeps the lock")
	case k.TTL%time.Millisecond != 0:
		return wrong("ttl", "%v: want whole milliseconds, the unit of expiry in Redis", k.TTL)
	case k.LongestTTL > 0 && k.TTL > k.LongestTTL:
		return wrong("ttl", "%v is longer than longest_ttl, %v", textfmt.Whole(k.TTL), textfmt.Whole(k.LongestTTL))
	case k.Clocks.LargestStep >= k.longestTTL():
		return wrong("clocks.largest_step", "a step of %v outlasts every TTL, %v at most", textfmt.Whole(k.Clocks.LargestStep), textfmt.Whole(k.longestTTL()))
	case q.Want.ViolationsPerBillion != nil && len(k.Pauses) == 0 && !k.FenceChecked:
		return wrong("pauses", "missing: whatever the TTL, a holder may stand still for longer and write after it, so no goal for violations can be met. State how often clients stand still and for how long, or have the resource check fences (fence_checked)")
	}
	return nil
}

func wrong(path, format string, args ...any) error {
	return &nemesis.FieldError{Path: path, Err: fmt.Errorf(format, args...)}
}

// longestTTL returns the upper limit of these.
func (k Known) longestTTL() time.Duration {
	return cmp.Or(k.TTL, k.LongestTTL, 10*time.Minute)
}

// quorum is how many nodes hold the lock, and spare how many may be down.
func (k Known) quorum() int { return k.Nodes/2 + 1 }

func (k Known) spare() int { return k.Nodes - k.quorum() }

// forgets reports whether a crashed node may return without a key.
func (k Known) forgets() bool { return k.Crashes.Persistence != nemesis.Always }

// Usual returns the defaults of fields that must not be 0.
func Usual() Question {
	return Question{Known: Known{Nodes: 5, Contention: Contention{Clients: 1}}}
}

// Read adds a YAML file to the question: its values replace earlier ones. The JSON of "lockstorm doctor" is
// such a file: its facts are read. The question may be incomplete: call [Question.Validate] at the end.
// Errors name the file and, if possible, the line.
func (q *Question) Read(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	text, err := form.ReadText(file)
	_ = file.Close()
	if err == nil {
		err = q.add(text, path, "")
	}
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// Replaced says which facts about the servers an argument replaced that an earlier one had stated. Doctor
// measures them from one place and only those servers that it is given, so a replacement may be a mistake.
func (q Question) Replaced() []string { return q.replaced }

// replaces says which facts about the servers differ from earlier ones.
func (q Question) replaces(earlier Question) (list []string) {
	nodes := func(q Question) string {
		text := textfmt.Count(q.Nodes, "node")
		switch {
		case len(q.Zones) > 0:
			return "zones (" + text + ")"
		case len(earlier.Zones) > 0:
			return "round_trip (" + text + ")"
		}
		return text
	}
	if was, is := nodes(earlier), nodes(q); earlier.nodesStated && was != is {
		list = append(list, was+" by "+is)
	}
	if was, is := earlier.Crashes.Persistence, q.Crashes.Persistence; was != "" && was != is {
		list = append(list, fmt.Sprintf("persistence %s by %s", was, is))
	}
	return list
}

// Set is Read for one field, such as contention.clients, and its value in YAML. A field of a length, such as
// hold.p99, leaves the others.
func (q *Question) Set(path, text string) error {
	var value any
	if err := yaml.Unmarshal([]byte(text), &value); err != nil {
		return fmt.Errorf("%s: %q is no YAML", path, text)
	}
	names := strings.Split(path, ".")
	for i := range names {
		value = map[string]any{names[len(names)-1-i]: value}
	}
	line, err := json.Marshal(value)
	if err == nil {
		err = q.add(line, textfmt.Clip(path+"="+text, 40), path)
	}
	if err != nil {
		return fmt.Errorf("%s", strings.ReplaceAll(err.Error(), "line 1: ", ""))
	}
	return nil
}

// add reads the text of a file into the question, or of the field of that path. source names it.
func (q *Question) add(text []byte, source, path string) error {
	var report struct{ Facts json.RawMessage }
	if json.Unmarshal(text, &report) == nil && report.Facts != nil {
		text = report.Facts
	}
	var given Question
	if err := form.Decode(text, "question", &given); err != nil {
		return err
	}
	earlier := *q
	q.forget(given.Known, path)
	if err := form.Decode(text, "question", q); err != nil {
		return err
	}
	for _, text := range q.replaces(earlier) {
		q.replaced = append(q.replaced, source+" replaces "+text)
	}
	q.nodesStated = q.nodesStated || given.Nodes > 0 || len(given.Zones) > 0
	return form.Locate(text, form.Check(q))
}

// forget removes what does not mix with newer facts: other forms of a length, unless path is one of its fields,
// and one round trip with zones.
func (q *Question) forget(newer Known, path string) {
	for _, l := range []struct {
		path       string
		own, newer *Length
	}{
		{"round_trip", &q.RoundTrip, &newer.RoundTrip}, {"hold", &q.Hold, &newer.Hold}, {"contention.think", &q.Contention.Think, &newer.Contention.Think},
	} {
		if !l.newer.isZero() && !strings.HasPrefix(path, l.path+".") {
			*l.own = Length{}
		}
	}
	switch {
	case len(newer.Zones) > 0:
		q.RoundTrip, q.Nodes = Length{}, 0
		for _, z := range newer.Zones {
			q.Nodes += z.Nodes
		}
	case !newer.RoundTrip.isZero():
		q.Zones = nil
	}
}

// MarshalJSON writes the YAML form of the question as JSON, which Read reads too.
func (q Question) MarshalJSON() ([]byte, error) {
	type plain Question // without this method
	return form.JSON(plain(q))
}

// UnmarshalJSON reads the question that MarshalJSON writes.
func (q *Question) UnmarshalJSON(text []byte) error {
	*q = Question{}
	return q.add(text, "", "")
}
