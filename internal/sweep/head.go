package sweep

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/runner"
)

// The format and version of a measurement's file.
const (
	Format  = "lockstorm-sweep"
	Version = 1
)

// Head identifies a measurement. It is the first line of its file and does not depend on time and
// place: the same program gives the same measurement the same head. Two heads that differ in
// anything but the shard and the version of this program belong to different measurements, whose
// outcomes must not be mixed. The tag "differs" describes a difference of hashes, whose values mean
// nothing to people.
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
	Contents string `json:"contents" differs:"its scenarios or numbers are others"`
	Traces   string `json:"traces,omitempty" differs:"the same seeds give other runs, so another program has made it"`

	Shard Shard `json:"shard,omitzero"`
}

// Head returns the head of the measurement's file. It makes a run of each unit if runs are
// repeatable.
func (m Measurement) Head(ctx context.Context) (Head, error) {
	h, err := m.Subject()
	h.Command, h.Versions = m.Sweep.Command, m.Versions
	if err == nil && m.Backend.Exact {
		h.Traces, err = m.traces(ctx)
	}
	return h, err
}

// Subject returns the head without what depends on the program, or on where its files are. It makes no
// run.
func (m Measurement) Subject() (Head, error) {
	contents, err := m.contents()
	return Head{
		Format: Format, Version: Version,
		Sweep: m.Sweep.Name, Summary: m.Sweep.Summary, Property: m.Sweep.Property, Params: m.Sweep.Params,
		Total: len(m.chosen()), Only: m.Only, Runs: m.Runs, First: m.First,
		Backend: m.Backend.Name, Contents: contents, Shard: m.Shard,
	}, err
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

// Whole returns the head of the measurement of which this is a shard.
func (h Head) Whole() Head {
	h.Shard = Shard{}
	return h
}

// units returns the numbers of the units of the shard.
func (h Head) units() []int {
	all := h.Only
	if all == nil {
		for n := 1; n <= h.Total; n++ {
			all = append(all, n)
		}
	}
	return shardOf(h.Shard, all)
}

// Units returns the number of outcomes of a complete file.
func (h Head) Units() int { return len(h.units()) }

// differences describes the fields in which two heads differ. Differing hashes are described
// only if no other field explains them.
func (h Head) differences(other Head) []string {
	if h.Sweep != other.Sweep { // then everything else differs too
		return []string{fmt.Sprintf("sweep %s, and not %s", h.Sweep, other.Sweep)}
	}
	var list []string
	h.Versions, other.Versions = runner.WithoutProgram(h.Versions), runner.WithoutProgram(other.Versions)
	a, b := reflect.ValueOf(h), reflect.ValueOf(other)
	for i := range a.NumField() {
		if reflect.DeepEqual(a.Field(i).Interface(), b.Field(i).Interface()) {
			continue
		}
		f := a.Type().Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		text := f.Tag.Get("differs")
		switch {
		case text != "" && len(list) > 0: // explained by the others
			continue
		case text == "":
			text = fmt.Sprintf("%s %s, and not %s", strings.ReplaceAll(name, "_", " "), fieldText(a.Field(i)), fieldText(b.Field(i)))
		}
		list = append(list, text)
	}
	return list
}

// fieldText returns the text of a field for people.
func fieldText(v reflect.Value) string {
	if s, ok := v.Interface().(Shard); ok && s.Of == 0 {
		return "none"
	}
	if v.Kind() == reflect.Slice && v.IsNil() {
		return "all"
	}
	text, err := json.Marshal(v.Interface())
	if err != nil { // heads have been encoded before
		panic(err)
	}
	return strings.Trim(string(text), `"`)
}
