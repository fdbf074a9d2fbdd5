package scenarios

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/internal/form"
	"github.com/lockstorm/lockstorm/nemesis"
)

// Storm is a plan of faults and how it is run. Its file format is YAML, see [LoadStorm].
type Storm struct {
	// Name is the name of the subtest: up to 64 lower-case letters, digits and hyphens.
	Name string `yaml:"name"`

	// Summary says in a sentence what happens.
	Summary string `yaml:"summary,omitempty"`

	// Work and Think replace those of Config unless they are 0.
	Work  time.Duration `yaml:"work,omitempty" want:"0s.."`
	Think time.Duration `yaml:"think,omitempty" want:"0s.."`

	// Latency replaces the latency of messages without faults, 200 µs to 1 ms, where the network is simulated.
	Latency nemesis.Range `yaml:"latency,omitempty"`

	// Rounds replaces Config.Rounds unless it is 0.
	Rounds int `yaml:"rounds,omitempty" want:"0.."`

	// TTL replaces Config.TTL unless it is 0.
	TTL time.Duration `yaml:"ttl,omitempty" want:"0s.."`

	// Callers makes so many callers share the lock of each client, which is then one program with
	// several tasks. In the history each caller is a client: those of client 1 come first. 0 and 1
	// mean one.
	Callers int `yaml:"callers,omitempty" want:"0..100"`

	// Names makes each round lock one of several resources at random, whose names a lock may confuse:
	// they are prefixes of each other, or differ in case, in brackets or far behind only.
	Names bool `yaml:"names,omitempty"`

	// Claimed makes clients work no longer than the lock claims that they hold it: until the notice
	// of a loss or, if the lock reports no losses, until the end of validity. Where a hold can be
	// extended, they extend it each third of the TTL.
	Claimed bool `yaml:"claimed,omitempty"`

	// Plan is the faults and when they happen.
	Plan nemesis.Plan `yaml:"plan,omitempty"`

	// Generate adds generated faults, different ones in each run. nil: none.
	Generate *nemesis.Generator `yaml:"generate,omitempty"`

	// Runs replaces Config.Runs unless it is 0.
	Runs int `yaml:"runs,omitempty" want:"0.."`
}

// LoadStorm reads a storm from a file:
//
//	name: node-is-killed
//	plan:
//	  - crash: {node: 1}
//	    start: {client: 1, step: granted}
//	    end: {after: 3s}
//
// docs/faults.md describes all faults. An error names the file and the line.
func LoadStorm(path string) (Storm, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return Storm{}, err
	}
	var s Storm
	if err = form.Load(text, "storm", &s); err != nil {
		return Storm{}, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}

// Print writes the storm as LoadStorm reads it.
func (s Storm) Print(w io.Writer) error { return form.Print(w, s) }

// Text returns the storm as Print writes it.
func (s Storm) Text() string {
	var b strings.Builder
	if err := s.Print(&b); err != nil {
		return err.Error()
	}
	return b.String()
}
