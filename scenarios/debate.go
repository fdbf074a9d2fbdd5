package scenarios

import (
	"bytes"
	"cmp"
	"embed"
	"errors"
	"fmt"
	"path"
	"slices"
	"sync"

	"go.yaml.in/yaml/v3"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/textfmt"
	"github.com/lockstorm/lockstorm/nemesis"
)

// The rows of the debate are scenario files: debate/NAME.yaml. Each contains a scenario, which
// can be copied and run, and the block "debate" with what is known of the row.
//
//go:embed debate
var debateFiles embed.FS

// File is the content of a scenario file.
type File struct {
	Scenario `yaml:",inline"`

	// Debate is what is known of a row of the debate. It changes nothing in a run.
	Debate Debate `yaml:"debate,omitempty"`

	// Published is a result that others have published on the scenario. It changes nothing in a run.
	Published *Publication `yaml:"published,omitempty"`
}

// Debate is what is known of a row of the debate, besides its scenario.
type Debate struct {
	// VariantOf is the row of the same topic that this one varies. Short tables leave variants
	// out.
	VariantOf string `yaml:"variant_of,omitempty"`

	// Sources are the articles and sections of the claims.
	Sources []string `yaml:"sources,omitempty"`

	// Remark is what a reader should know besides the verdicts, above all why a verdict is
	// not the predicted one.
	Remark string `yaml:"remark,omitempty"`

	// Cures are changes, each of which alone makes all violated properties of the row hold. A
	// row without cures must hold without its faults.
	Cures []Cure `yaml:"cures,omitempty"`

	// Damages are changes, each of which breaks a property that holds in the row. A row without
	// damages must break when its nodes forget their keys.
	Damages []Breakage `yaml:"damages,omitempty"`

	// Differences are verdicts that differ on real servers, each with the reason.
	Differences []Divergence `yaml:"differences,omitempty"`
}

// Cure is a change with which all violated properties of the row hold.
type Cure struct {
	// What is the difference in words, such as "a node that keeps its keys".
	What string `yaml:"what"`

	Edit `yaml:",inline"`
}

// Breakage is a change that breaks a property.
type Breakage struct {
	// What is the difference in words, such as "no delay".
	What string `yaml:"what"`

	// Breaks is the property that is violated then.
	Breaks checker.Property `yaml:"breaks"`

	Edit `yaml:",inline"`
}

// Divergence is a verdict that differs on real servers.
type Divergence struct {
	// Backends are the backends with the different verdict.
	Backends []string `yaml:"backends"`

	// Property is the property with the different verdict.
	Property checker.Property `yaml:"property"`

	// Reason is the cause of the difference.
	Reason string `yaml:"reason"`
}

// Edit is a change of a scenario.
type Edit struct {
	// Without are the kinds of faults that are removed from the plan.
	Without []nemesis.Kind `yaml:"without,omitempty"`

	// Also are faults that are added to the plan.
	Also nemesis.Plan `yaml:"also,omitempty"`

	// Set are fields of the scenario that are replaced. Of mappings, such as lock, only the
	// given fields change; lists are replaced as a whole.
	Set Fields `yaml:"set,omitempty"`
}

// Fields are some fields of a scenario.
type Fields struct{ node *yaml.Node }

// UnmarshalYAML implements [yaml.Unmarshaler].
func (f *Fields) UnmarshalYAML(n *yaml.Node) error {
	f.node = n
	return nil
}

// IsZero reports whether there are no fields.
func (f Fields) IsZero() bool { return f.node == nil }

// MarshalYAML implements [yaml.Marshaler].
func (f Fields) MarshalYAML() (any, error) { return f.node, nil }

// apply changes a scenario. The fields have been checked when the file was read, so an error is
// a defect.
func (e Edit) apply(s *Scenario) {
	s.Plan = slices.DeleteFunc(slices.Clone(s.Plan), func(f nemesis.Fault) bool { return slices.Contains(e.Without, f.Action.Kind()) })
	s.Plan = append(s.Plan, e.Also...)
	if e.Set.node == nil {
		return
	}
	// Decoding into a copy, because it changes maps and pointers in place.
	var text bytes.Buffer
	err := s.Print(&text)
	if err == nil {
		var copied Scenario
		if copied, err = decode(text.Bytes()); err == nil {
			err = e.Set.node.Decode(&copied)
			*s = copied
		}
	}
	if err != nil {
		panic(fmt.Sprintf("scenario %s: %v", s.Name, err))
	}
}

// validateDebate returns an error if a change of a valid scenario names an unknown kind of fault,
// or makes the scenario invalid.
func (f File) validateDebate() error {
	d := f.Debate
	for i, c := range d.Cures {
		if err := cmp.Or(present("what", c.What != ""), c.Edit.validate(f.Scenario)); err != nil {
			return nemesis.InField(fmt.Sprintf("debate.cures[%d]", i), err)
		}
	}
	for i, b := range d.Damages {
		if err := cmp.Or(present("what", b.What != ""), present("breaks", b.Breaks != ""), b.Edit.validate(f.Scenario)); err != nil {
			return nemesis.InField(fmt.Sprintf("debate.damages[%d]", i), err)
		}
	}
	for i, v := range d.Differences {
		if err := cmp.Or(present("property", v.Property != ""), present("reason", v.Reason != "")); err != nil {
			return nemesis.InField(fmt.Sprintf("debate.differences[%d]", i), err)
		}
	}
	return nil
}

// present returns an error if a field is not there.
func present(field string, there bool) error {
	if there {
		return nil
	}
	return &nemesis.FieldError{Path: field, Err: errors.New("missing")}
}

func (e Edit) validate(s Scenario) error {
	kinds, _ := nemesis.Kinds()
	for _, k := range e.Without {
		if !slices.Contains(kinds, k) {
			return &nemesis.FieldError{Path: "without", Err: &textfmt.UnknownError{What: "fault", Name: string(k), Known: texts(kinds)}}
		}
	}
	e.apply(&s)
	return s.Validate()
}

func texts(kinds []nemesis.Kind) []string {
	list := make([]string, len(kinds))
	for i, k := range kinds {
		list[i] = string(k)
	}
	return list
}

// row returns the row of a file.
func (f File) row() Row {
	d := f.Debate
	r := Row{Scenario: f.Scenario, VariantOf: d.VariantOf, Sources: d.Sources, Remark: d.Remark}
	for _, c := range d.Cures {
		r.Cures = append(r.Cures, Change{c.What, c.Edit.apply})
	}
	for _, b := range d.Damages {
		r.Damages = append(r.Damages, Damage{b.Breaks, b.What, b.Edit.apply})
	}
	for _, v := range d.Differences {
		for _, backend := range v.Backends {
			r.Differences = append(r.Differences, Difference{f.Name, backend, v.Property, v.Reason})
		}
	}
	return r
}

// topicsFile lists the topics and their rows in the order of the debate.
const topicsFile = "debate/topics.yaml"

// readDebate reads the rows by topic.
func readDebate() ([]Topic, error) {
	text, err := debateFiles.ReadFile(topicsFile)
	if err != nil {
		return nil, err
	}
	var list struct {
		Topics []struct {
			Name string   `yaml:"name"`
			Rows []string `yaml:"rows"`
		} `yaml:"topics"`
	}
	if err := Decode(text, "list of topics", &list); err != nil {
		return nil, fmt.Errorf("%s: %w", topicsFile, err)
	}
	var topics []Topic
	for _, t := range list.Topics {
		topic := Topic{Name: t.Name}
		for _, name := range t.Rows {
			row, err := readRow(name)
			if err != nil {
				return nil, err
			}
			topic.Rows = append(topic.Rows, row)
		}
		topics = append(topics, topic)
	}
	return topics, nil
}

func readRow(name string) (Row, error) {
	file := path.Join("debate", name+".yaml")
	text, err := debateFiles.ReadFile(file)
	if err != nil {
		return Row{}, err
	}
	f, err := ParseFile(text)
	if err == nil && f.Name != name {
		err = fmt.Errorf("name: %s: the file has another name", f.Name)
	}
	if err != nil {
		return Row{}, fmt.Errorf("%s: %w", file, err)
	}
	f.Expect = f.Expect.complete()
	return f.row(), nil
}

// debateTopics are the rows by topic. A file that cannot be read is a defect of this package.
var debateTopics = sync.OnceValue(func() []Topic {
	topics, err := readDebate()
	if err != nil {
		panic("scenarios: " + err.Error())
	}
	return topics
})

// Row is a scenario of the debate, and what is known of it besides its file. The tests of
// internal/runner check it.
type Row struct {
	Scenario

	// VariantOf is an earlier row of the topic that this one shows in another way. The table in
	// README.md leaves variants out.
	VariantOf string

	// Sources are the articles and sections of the claims.
	Sources []string

	// Remark is what a reader should know besides the verdicts.
	Remark string

	// Differences are verdicts that differ on real servers.
	Differences []Difference

	// Cures are changes, each of which makes all violated properties hold. A row whose
	// violations come from the faults of its plan is cured by removing them,
	// and needs no cures.
	Cures []Change

	// Damages are changes that break what holds in the row. A row that relies only on
	// nodes keeping their keys is damaged by making them forget, and
	// needs no damages.
	Damages []Damage
}

// Change is one difference in a scenario.
type Change struct {
	What  string // there is then, as in "a node that keeps its keys"
	Apply func(s *Scenario)
}

// Damage is a change that violates a property.
type Damage struct {
	Breaks checker.Property
	What   string // there is then, or no longer, as in "no delay"
	Apply  func(s *Scenario)
}

// Difference is the reason why a property gets another verdict on real servers than in the
// simulator. docs/evidence/agreement.md shows it.
type Difference struct {
	Row      string
	Backend  string
	Property checker.Property
	Reason   string
}

// Differences returns all known differences, in the order of the rows.
func Differences() (all []Difference) {
	for _, t := range Topics() {
		for _, r := range t.Rows {
			all = append(all, r.Differences...)
		}
	}
	return all
}
