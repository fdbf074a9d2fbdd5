package sweep

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/runner"
)

// The format and version of a measurement's file.
const (
	Format  = "lockstorm-sweep"
	Version = 1
)

// Head identifies a measurement. It is the first line of its file and does not depend on time and
// place: the same program gives the same measurement the same head. Two heads that differ belong to
// different measurements, whose outcomes must not be mixed.
type Head struct {
	Format  string `json:"format"`
	Version int    `json:"version"`

	Sweep    string           `json:"sweep"` // its name
	Summary  string           `json:"summary"`
	Property checker.Property `json:"property"`
	Params   []Param          `json:"params"`
	Command  string           `json:"command,omitempty"` // see [Sweep]

	Total int    `json:"units"`            // the number of units in all shards
	Only  []int  `json:"chosen,omitempty"` // their numbers; omitted: the whole sweep
	Runs  int    `json:"runs"`             // see [Measurement]
	First uint64 `json:"first_seed"`

	Backend  string            `json:"backend"`
	Versions map[string]string `json:"versions"` // of what it is made with

	// Contents is a hash of the scenarios and numbers of all units. Traces is a hash of the
	// traces of their first runs, if runs are repeatable: another version of the program may
	// run the same scenarios differently.
	Contents string `json:"contents"`
	Traces   string `json:"traces,omitempty"`
}

// Head returns the head of the measurement's file. It makes a run of each unit if runs are
// repeatable.
func (m Measurement) Head(ctx context.Context) (Head, error) {
	contents, err := m.contents()
	h := Head{
		Format: Format, Version: Version,
		Sweep: m.Sweep.Name, Summary: m.Sweep.Summary, Property: m.Sweep.Property, Params: m.Sweep.Params, Command: m.Sweep.Command,
		Total: len(m.chosen()), Only: m.Only, Runs: m.Runs, First: m.First,
		Backend: m.Backend.Name, Versions: m.Versions, Contents: contents,
	}
	if err == nil && m.Backend.Exact {
		h.Traces, err = m.traces(ctx)
	}
	return h, err
}

// contents returns a hash of all scenarios and predictions.
func (m Measurement) contents() (string, error) {
	hash := sha256.New()
	enc := json.NewEncoder(hash)
	for _, u := range m.chosen() {
		if err := enc.Encode(u.contents()); err != nil {
			return "", fmt.Errorf("%s: %w", u.name(), err)
		}
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}

// contents returns what defines a unit, to be hashed.
func (u unit) contents() []any {
	numbers, curve, at := any(nil), "", []float64(nil)
	if b := u.boundary; b != nil {
		curve, at = b.Curve, b.At
		numbers = []any{b.Low, b.High, b.Within, b.Predicted, b.Rules}
	} else {
		curve, at = u.point.Curve, u.point.At
		numbers = u.point.Predicted
	}
	return []any{u.number, curve, at, numbers, u.scenarios()}
}

// traces returns a hash of the trace of each unit's first run.
func (m Measurement) traces(ctx context.Context) (string, error) {
	hash := sha256.New()
	var batches []runner.Batch
	for _, u := range m.chosen() {
		b, err := m.batch(u, u.scenarios()[0])
		if err != nil {
			return "", fmt.Errorf("%s: %w", u.name(), err)
		}
		b.Runs, b.Name = 1, u.name()
		b.Each = func(r runner.Result) {
			_ = binary.Write(hash, binary.BigEndian, r.TraceHash) // a hash never fails
		}
		batches = append(batches, b)
	}
	_, err := runner.RunBatches(ctx, m.SideBySide, batches)
	return hex.EncodeToString(hash.Sum(nil)), cmp.Or(err, ctx.Err())
}

// units returns the numbers of the units.
func (h Head) units() []int {
	all := h.Only
	if all == nil {
		for n := 1; n <= h.Total; n++ {
			all = append(all, n)
		}
	}
	return all
}

// Units returns the number of outcomes of a complete file.
func (h Head) Units() int { return len(h.units()) }
