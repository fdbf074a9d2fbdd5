package sweep

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/lockstorm/lockstorm/checker"
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
	Formula  string           `json:"formula,omitempty"` // see [Sweep]
	Command  string           `json:"command,omitempty"`

	Total int    `json:"units"`            // the number of units in all shards
	Only  []int  `json:"chosen,omitempty"` // their numbers; omitted: the whole sweep
	Runs  int    `json:"runs"`             // see [Measurement]
	First uint64 `json:"first_seed"`

	Backend  string            `json:"backend"`
	Versions map[string]string `json:"versions"` // of what it is made with

	Contents string `json:"contents"` // hash of the scenarios and numbers of all units
}

// Head returns the head of the measurement's file.
func (m Measurement) Head() (Head, error) {
	hash := sha256.New()
	enc := json.NewEncoder(hash)
	for _, u := range m.chosen() {
		if err := enc.Encode(u.contents()); err != nil {
			return Head{}, fmt.Errorf("%s: %w", u.name(), err)
		}
	}
	return Head{
		Format: Format, Version: Version,
		Sweep: m.Sweep.Name, Summary: m.Sweep.Summary, Property: m.Sweep.Property, Params: m.Sweep.Params, Formula: m.Sweep.Formula, Command: m.Sweep.Command,
		Total: len(m.chosen()), Only: m.Only, Runs: m.Runs, First: m.First,
		Backend: m.Backend.Name, Versions: m.Versions, Contents: hex.EncodeToString(hash.Sum(nil)),
	}, nil
}

// contents returns what defines a unit, to be hashed.
func (u unit) contents() []any {
	if b := u.boundary; b != nil {
		return []any{u.number, b.Curve, b.At, []any{b.Low, b.High, b.Within, b.Predicted, b.Rules}, u.scenarios()}
	}
	return []any{u.number, u.point.Curve, u.point.At, u.point.Predicted, u.scenarios()}
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
