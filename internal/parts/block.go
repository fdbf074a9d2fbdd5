package parts

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/results"
)

// The format of a stored block and its version.
const (
	BlockFormat  = "lockstorm-block"
	BlockVersion = 1
)

// block is the result of the runs of a task, stored so that blocks can be joined.
type block struct {
	Backend  string        `json:"backend"`
	Contents string        `json:"contents"` // hash of the scenario
	Row      results.Row   `json:"row"`
	Spread   runner.Spread `json:"spread"`

	// As in a [runner.Tally].
	Faultless      int `json:"faultless,omitempty"`
	UntriedReturns int `json:"return_untried,omitempty"`
	Discarded      int `json:"discarded,omitempty"`
}

// Store stores the tally of the task's runs as a block. In virtual time the bytes depend on the
// task alone.
func (t Task) Store(b runner.Backend, tally runner.Tally) ([]byte, error) {
	contents, err := Hash(t.Scenario)
	if err != nil {
		return nil, err
	}
	return Seal(BlockFormat, BlockVersion, block{
		Backend: b.Name, Contents: contents, Row: results.RowOf(tally, t.First), Spread: tally.Measured.Spread(),
		Faultless: tally.Faultless, UntriedReturns: tally.UntriedReturns, Discarded: tally.Discarded,
	})
}

// decode reads a block of the task. It trusts nothing in it: a block of another task or backend,
// and one whose numbers contradict each other, is an error.
func (t Task) decode(on runner.Backend, contents string, text []byte) (runner.Tally, error) {
	var b block
	if err := Unseal(text, BlockFormat, BlockVersion, &b); err != nil {
		return runner.Tally{}, err
	}
	switch r := b.Row; {
	case b.Backend != on.Name:
		return runner.Tally{}, fmt.Errorf("it is of the %s backend, and not of %s", b.Backend, on.Name)
	case r.Scenario != t.Scenario.Name:
		return runner.Tally{}, fmt.Errorf("it is of the scenario %q, and not %q", r.Scenario, t.Scenario.Name)
	case b.Contents != contents:
		return runner.Tally{}, fmt.Errorf("it is of another scenario that is also called %q", r.Scenario)
	case r.First != t.First || r.Runs != t.Runs:
		return runner.Tally{}, fmt.Errorf("it has %d runs from seed %d on, and not %d from %d on", r.Runs, r.First, t.Runs, t.First)
	}
	return b.tally(t)
}

// tally returns the tally of the task from its block, and an error if no runs have it.
func (b block) tally(t Task) (tally runner.Tally, err error) {
	if err := b.Row.Validate(); err != nil {
		return tally, err
	}
	tally = b.Row.Tally(t.Scenario)
	runs := tally.Measured.Runs()
	switch {
	case b.Faultless < 0 || b.Faultless > runs:
		return tally, fmt.Errorf("%d of %d runs without a fault", b.Faultless, runs)
	case b.UntriedReturns < 0 || b.UntriedReturns > runs:
		return tally, fmt.Errorf("%d of %d runs without the return of a node", b.UntriedReturns, runs)
	case b.Discarded < 0:
		return tally, fmt.Errorf("%d runs discarded", b.Discarded)
	}
	tally.Faultless, tally.UntriedReturns, tally.Discarded = b.Faultless, b.UntriedReturns, b.Discarded
	tally.Measured, err = runner.RestoredAggregate(runs, b.Row.Measured, b.Spread)
	return tally, err
}

// Hash returns the SHA-256 of a value's JSON.
func Hash(v any) (string, error) {
	text, err := json.Marshal(v)
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:]), err
}
