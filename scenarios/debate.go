package scenarios

import (
	"cmp"
	"embed"
	"fmt"
	"path"
	"slices"
	"sync"

	"go.yaml.in/yaml/v3"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/form"
	"github.com/lockstorm/lockstorm/nemesis"
)

// The rows of the debate are scenario files: debate/NAME.yaml. Each contains a scenario, which
// can be copied and run, and the block "debate" with what is known of the row.
//
//go:embed debate
var debateFiles embed.FS

// File is the content of a scenario file: a scenario, and what is known of it. The tests of
// internal/runner check that.
type File struct {
	Scenario `yaml:",inline"`

	// Debate is what is known of a row of the debate. It changes nothing in a run.
	Debate `yaml:"debate,omitempty"`

	// Published is a result that others have published on the scenario. It changes nothing in a run.
	Published *Publication `yaml:"published,omitempty"`
}

// Debate is what is known of a row of the debate, besides its scenario.
type Debate struct {
	// VariantOf is the row of the same topic that this one varies. Short tables leave variants
	// out.
	VariantOf string `yaml:"variant_of,omitempty"`

	// Claims are what others say about the row, with their sources. Without claims the row is ours.
	Claims []Claim `yaml:"claims,omitempty"`

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

// Keep implements [form.Raw].
func (f *Fields) Keep(n *yaml.Node) { f.node = n }

// As implements [form.Raw].
func (*Fields) As() any { return new(Scenario) }

// IsZero reports whether there are no fields.
func (f Fields) IsZero() bool { return f.node == nil }

// MarshalYAML implements [yaml.Marshaler].
func (f Fields) MarshalYAML() (any, error) { return f.node, nil }

// Apply changes a scenario. The fields have been checked when the file was read, so an error is
// a defect.
func (e Edit) Apply(s *Scenario) {
	s.Plan = slices.DeleteFunc(slices.Clone(s.Plan), func(f nemesis.Fault) bool { return slices.Contains(e.Without, f.Action.Kind()) })
	s.Plan = append(s.Plan, e.Also...)
	if e.Set.node == nil {
		return
	}
	*s = form.Clone(*s) // maps and pointers are changed in place
	if err := form.Apply(e.Set.node, "scenario", s); err != nil {
		panic(fmt.Sprintf("scenario %s: %v", s.Name, err))
	}
}

// validateNotes returns an error if the notes on a valid scenario are incomplete, or if a change names
// an unknown kind of fault or makes the scenario invalid.
func (f File) validateNotes() error {
	if err := cmp.Or(form.In("debate", form.Check(&f.Debate)), form.In("published", form.Check(f.Published))); err != nil {
		return err
	}
	for i, c := range f.Cures {
		if err := c.validate(f.Scenario); err != nil {
			return form.In(fmt.Sprintf("debate.cures[%d]", i), err)
		}
	}
	for i, b := range f.Damages {
		if err := b.validate(f.Scenario); err != nil {
			return form.In(fmt.Sprintf("debate.damages[%d]", i), err)
		}
	}
	return nil
}

func (e Edit) validate(s Scenario) error {
	for _, k := range e.Without {
		if !k.Known() {
			return &nemesis.FieldError{Path: "without", Err: nemesis.UnknownKind(k)}
		}
	}
	e.Apply(&s)
	return s.Validate()
}

// topicsFile lists the topics and their rows in the order of the debate, and the claims without a row.
const topicsFile = "debate/topics.yaml"

// readDebate reads the rows by topic, and the claims without a row.
func readDebate() (topics []Topic, untested []UntestedClaim, err error) {
	text, err := debateFiles.ReadFile(topicsFile)
	if err != nil {
		return nil, nil, err
	}
	var list struct {
		Topics []struct {
			Name string   `yaml:"name"`
			Rows []string `yaml:"rows"`
		} `yaml:"topics"`
		Untested []UntestedClaim `yaml:"untested"`
	}
	if err := form.Decode(text, "list of topics", &list); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", topicsFile, err)
	}
	if err := form.Check(&list); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", topicsFile, err)
	}
	for _, t := range list.Topics {
		topic := Topic{Name: t.Name}
		for _, name := range t.Rows {
			row, err := readFile(debateFiles, "debate", name)
			if err != nil {
				return nil, nil, err
			}
			topic.Rows = append(topic.Rows, row)
		}
		topics = append(topics, topic)
	}
	return topics, list.Untested, nil
}

// readFile reads NAME.yaml in a folder.
func readFile(files embed.FS, folder, name string) (File, error) {
	file := path.Join(folder, name+".yaml")
	text, err := files.ReadFile(file)
	if err != nil {
		return File{}, err
	}
	f, err := parseFile(text)
	if err == nil && f.Name != name {
		err = fmt.Errorf("name: %s: the file has another name", f.Name)
	}
	if err != nil {
		return File{}, fmt.Errorf("%s: %w", file, err)
	}
	f.Expect = f.Expect.complete()
	return f, nil
}

// UntestedClaim is a claim on locks that no row, series or lock here can test.
type UntestedClaim struct {
	Claim `yaml:",inline"`

	// Why is what is missing for a test.
	Why string `yaml:"why"`
}

// UntestedClaims returns the claims that are not tested.
func UntestedClaims() []UntestedClaim { return debated().untested }

// debated is the rows by topic, and the claims without a row. A file that cannot be read is a defect of
// this package.
var debated = sync.OnceValue(func() (d struct {
	topics   []Topic
	untested []UntestedClaim
}) {
	var err error
	if d.topics, d.untested, err = readDebate(); err != nil {
		panic("scenarios: " + err.Error())
	}
	return d
})

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
			for _, d := range r.Differences {
				for _, backend := range d.Backends {
					all = append(all, Difference{r.Name, backend, d.Property, d.Reason})
				}
			}
		}
	}
	return all
}
