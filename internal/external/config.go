// Package external puts a lock that is not of this program to the test: the configuration and the
// default storms, the calls of the lock as a run records them, and what is promised of it under
// a plan. Package locktest does that to locks in Go, in tests; the test command to programs in
// any language.
package external

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/guard"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/form"
	"github.com/lockstorm/lockstorm/internal/textfmt"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// Config is the part of locktest.Config that says what is run. That documents the fields. The workloads
// are those that use a lock correctly.
type Config struct {
	Name        string              `yaml:"name,omitempty"`
	Store       *nemesis.Store      `yaml:"-"`
	Nodes       int                 `yaml:"-"`
	Clients     int                 `yaml:"clients,omitempty" want:"0..1000"`
	Capacity    int                 `yaml:"capacity,omitempty" want:"0..1000000"`
	Callers     int                 `yaml:"-"` // in the storms in which callers share a lock; 1: there are none
	TTL         time.Duration       `yaml:"-"`
	Rounds      int                 `yaml:"rounds,omitempty" want:"0..100000"`
	Work        time.Duration       `yaml:"work,omitempty" want:"0s..1000h"`
	Think       time.Duration       `yaml:"think,omitempty" want:"0s..1000h"`
	Extend      time.Duration       `yaml:"extend,omitempty" want:"0s..1000h"`
	Workload    string              `yaml:"workload,omitempty" want:"section|checked|posted|hold"`
	Guard       guard.Mode          `yaml:"guard,omitempty" want:"plain|fenced-writes|fenced|token"`
	Persistence nemesis.Persistence `yaml:"persistence,omitempty" want:"none|aof-everysec|aof-always"`
	Patience    time.Duration       `yaml:"patience,omitempty" want:"0s..1000h"`
	Bounds      history.Bounds      `yaml:"bounds,omitempty"`

	Clocks  bool `yaml:"-"` // the lock may read a clock of its client, which faults can set
	Virtual bool `yaml:"-"` // time is virtual, so that long storms cost little
}

// Filled returns the configuration with its defaults, but for the name.
func (c Config) Filled() Config {
	if c.Store != nil {
		c.Nodes = cmp.Or(c.Nodes, 3)
		c.Persistence = cmp.Or(c.Persistence, nemesis.Always)
	}
	c.Nodes = cmp.Or(c.Nodes, 5)
	c.Capacity = cmp.Or(c.Capacity, 1)
	c.Clients = cmp.Or(c.Clients, min(c.Capacity+2, 6)) // more than there are permits
	c.Callers = cmp.Or(c.Callers, 1)
	c.TTL = cmp.Or(c.TTL, c.usualTTL())
	c.Rounds = cmp.Or(c.Rounds, 40)
	c.Work = cmp.Or(c.Work, c.TTL/10)
	c.Think = cmp.Or(c.Think, c.TTL/5)
	c.Workload = cmp.Or(c.Workload, "section")
	c.Guard = cmp.Or(c.Guard, guard.Plain)
	c.Persistence = cmp.Or(c.Persistence, nemesis.Nothing)
	c.Patience = cmp.Or(c.Patience, 5*c.TTL)
	c.Bounds = c.bounds()
	return c
}

// usualTTL is the default of the TTL. On Redis it is no whole number of seconds, because locks cut it to
// one; some stores have no other.
func (c Config) usualTTL() time.Duration {
	if c.Store != nil {
		return 2 * time.Second
	}
	return 2500 * time.Millisecond
}

func (c Config) bounds() history.Bounds {
	b, call := c.Bounds, c.Patience+30*time.Second
	b.Acquire, b.Extend, b.Release = cmp.Or(b.Acquire, call), cmp.Or(b.Extend, call), cmp.Or(b.Release, call)
	b.Grant = cmp.Or(b.Grant, 10*time.Second+5*c.TTL)
	free := max(c.TTL/5, 200*time.Millisecond) // common libraries poll every 250ms at most
	if !c.Virtual {                            // and a machine, or a server, can be late
		free = max(c.TTL/2, time.Second)
	}
	b.Free = cmp.Or(b.Free, free)
	if c.Virtual { // elsewhere a program need not hear that its caller gives up
		b.Cancel = cmp.Or(b.Cancel, free)
		b.Loss = cmp.Or(b.Loss, free)
	}
	if c.Nodes > 2 { // otherwise there is no minority that could be gone
		b.Tries = cmp.Or(b.Tries, 5)
	}
	b.Cleanup = cmp.Or(b.Cleanup, c.TTL/4)
	return b
}

func wrong(field, format string, args ...any) error {
	return &nemesis.FieldError{Path: field, Err: fmt.Errorf(format, args...)}
}

// The maxima of a configuration, besides those in its table.
const (
	maxNodes   = 64
	maxCallers = 100
	MaxTime    = 1000 * time.Hour // the longest of any time, also of a validity
)

// Validate returns a [nemesis.FieldError], whose path is a field of locktest.Config, for the first invalid field of a filled configuration.
func (c Config) Validate() error {
	switch {
	case c.Nodes < 1 || c.Nodes > maxNodes:
		return wrong("Nodes", "%d: want 1 to %d", c.Nodes, maxNodes)
	case c.Callers < 1 || c.Callers > maxCallers:
		return wrong("Callers", "%d: want 1 to %d", c.Callers, maxCallers)
	case checkTTL(c.TTL) != nil:
		return wrong("TTL", "%w", checkTTL(c.TTL))
	}
	var in *nemesis.FieldError
	if err := form.Check(&c); !errors.As(err, &in) {
		return err
	}
	name, rest, _ := strings.Cut(in.Path, ".")
	rows := form.Rows(reflect.TypeOf(c))
	field := rows[slices.IndexFunc(rows, func(f *form.Field) bool { return f.Name == name })].Go
	if rest != "" {
		return wrong(field, "%s: %w", rest, in.Err)
	}
	return &nemesis.FieldError{Path: field, Err: in.Err}
}

// checkTTL returns an error unless a lock can have that TTL.
func checkTTL(ttl time.Duration) error {
	if ttl < 10*time.Millisecond || ttl > MaxTime || ttl%time.Millisecond != 0 {
		return fmt.Errorf("%v: want whole milliseconds, from 10ms to %s", ttl, textfmt.Whole(MaxTime))
	}
	return nil
}

// ValidateTime returns a [nemesis.FieldError] if the time in a field is negative or too long.
func ValidateTime(field string, d time.Duration) error {
	if d < 0 {
		return wrong(field, "%v is negative", d)
	}
	if d > MaxTime {
		return wrong(field, "%v: want at most %s", d, textfmt.Whole(MaxTime))
	}
	return nil
}

// ValidatePromises returns a [nemesis.FieldError] if a promise cannot be judged. keys says whether runs
// record the nodes' keys.
func ValidatePromises(promises []checker.Property, keys bool) error {
	for _, p := range promises {
		if err := ValidateProperty(p); err != nil {
			return wrong("Promises", "%w", err)
		}
		if p == checker.Cleanup && !keys {
			return wrong("Promises", "%s is not judged in a store, whose changes are not recorded", p)
		}
	}
	return nil
}

// constants lists the properties as a configuration in Go names them.
func constants() string {
	names := make([]string, len(checker.Properties()))
	for i, p := range checker.Properties() {
		words := strings.Split(p.String(), "_")
		for j, w := range words {
			words[j] = strings.ToUpper(w[:1]) + w[1:]
		}
		names[i] = fmt.Sprintf("checker.%s (%s)", strings.Join(words, ""), p.Code())
	}
	return strings.Join(names, ", ")
}

// ValidateProperty returns an error if there is no such property.
func ValidateProperty(p checker.Property) error {
	if !slices.Contains(checker.Properties(), p) {
		return fmt.Errorf("unknown property %q: want one of %s", string(p), constants())
	}
	return nil
}

// namePattern matches names of storms. Directories are named after them.
var namePattern = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,63}$`)

// ValidateStorms returns a [nemesis.FieldError] for the first storm that cannot be run by any backend.
func ValidateStorms(storms []scenarios.Storm) error {
	if storms != nil && len(storms) == 0 {
		return wrong("Storms", "the list is empty, so nothing would be tested; nil means the default")
	}
	seen := map[string]bool{}
	for i, s := range storms {
		field, within := fmt.Sprintf("Storms[%d]", i), form.Check(&s)
		switch {
		case !namePattern.MatchString(s.Name):
			return wrong(field, "name %q: want up to 64 lower-case letters, digits and hyphens", s.Name)
		case seen[s.Name]:
			return wrong(field, "the name %q is used twice", s.Name)
		case within != nil:
			return wrong(field, "%s: %w", s.Name, within)
		case s.TTL != 0 && checkTTL(s.TTL) != nil:
			return wrong(field, "%s: ttl: %w", s.Name, checkTTL(s.TTL))
		}
		seen[s.Name] = true
	}
	return nil
}

// resource is the name of the resource that clients lock.
const resource = "invoice-7"

// usualLatency is the latency of messages without faults, on backends whose network is
// simulated.
var usualLatency = nemesis.Range{Min: 200 * time.Microsecond, Max: time.Millisecond}

// Scenario returns the scenario of a storm. Its parameters of the lock do not apply to the
// user's lock.
func (c Config) Scenario(s scenarios.Storm) scenarios.Scenario {
	work, think, rounds, ttl := cmp.Or(s.Work, c.Work), cmp.Or(s.Think, c.Think), cmp.Or(s.Rounds, c.Rounds), cmp.Or(s.TTL, c.TTL)
	extend := c.Extend
	if s.Claimed {
		extend = cmp.Or(extend, ttl/3)
	}
	locked, resources := resource, 0
	if s.Names {
		locked, resources = named, len(names)
	}
	clients := make([]scenarios.Client, c.Clients*max(s.Callers, 1))
	for i := range clients {
		clients[i] = scenarios.Client{
			Workload: c.Workload, Resource: locked, Resources: resources, Rounds: rounds, ExtendEvery: extend, Claimed: s.Claimed,
			Work:  nemesis.Range{Min: work / 2, Max: work},
			Think: nemesis.Range{Min: think / 2, Max: think},
		}
	}
	made := scenarios.Scenario{
		Name: s.Name, Summary: s.Summary, Clients: clients, Bounds: c.Bounds, Generate: s.Generate,
		Lock: scenarios.Lock{Kind: c.Name, TTL: ttl, NodeTimeout: ttl},
		Setting: nemesis.Setting{
			Nodes: c.Nodes, Persistence: c.Persistence, Store: c.Store, Guard: c.Guard, Plan: s.Plan,
			Latency: nemesis.Distribution{Range: cmp.Or(s.Latency, usualLatency)},
		},
	}
	slower := 8 * max(0, made.Latency.Max-usualLatency.Max) // four round trips: a connection takes three
	for _, b := range []*time.Duration{&made.Bounds.Free, &made.Bounds.Cancel, &made.Bounds.Loss, &made.Bounds.Cleanup} {
		if *b > 0 {
			*b += slower
		}
	}
	if extend > 0 {
		work += c.Patience // a client also waits for extensions
	}
	made.Horizon = total(span{20, max(ttl, c.TTL)}, span{1, c.Bounds.Acquire}, span{1, c.Bounds.Grant}, span{float64(rounds), think}, span{float64(rounds) * float64(len(clients)), work})
	return made
}

// span is a duration and a factor.
type span struct {
	times float64
	of    time.Duration
}

// total returns the sum of spans. If a duration cannot hold it, it returns one so long that
// a scenario rejects it.
func total(spans ...span) time.Duration {
	var sum float64
	for _, s := range spans {
		sum += s.times * float64(s.of)
	}
	return time.Duration(min(sum, math.MaxInt64/2))
}
