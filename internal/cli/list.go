package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/docs"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/show/report"
	"github.com/lockstorm/lockstorm/internal/terminal"
	"github.com/lockstorm/lockstorm/internal/textfmt"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
	"github.com/spf13/cobra"
)

func newList() *cobra.Command {
	var format string
	var schema bool
	cmd := &cobra.Command{
		Use:   "list [SECTION | SCENARIO]",
		Short: "List scenarios, locks, faults, properties and other names, or print a scenario",
		Long: `List the names that other commands know. A SECTION, such as scenarios, locks, faults,
backends or properties, lists those alone. A SCENARIO is printed as YAML: save it, change
a number, and run the file. docs/scenario-format.md describes the format.`,
		Example: `  lockstorm list faults
  lockstorm list delayed-restart >mine.yaml && lockstorm run mine.yaml
  lockstorm list --schema >scenario.schema.json`,
		Args: takes(0, 1),
	}
	formatFlag(cmd, &format, []string{asText, asJSON}, ": one object with all sections and the versions of this program")
	cmd.Flags().BoolVar(&schema, "schema", false, "print the JSON schema of scenario files (draft 2020-12)")
	cmd.MarkFlagsMutuallyExclusive("format", "schema")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		all, err := sections()
		if err != nil {
			return err
		}
		switch out := cmd.OutOrStdout(); {
		case len(args) > 0 && (schema || format == asJSON):
			return fmt.Errorf("unexpected argument %q: --format json and --schema print everything", args[0])
		case schema:
			_, err := out.Write(docs.ScenarioSchema)
			return err
		case format == asJSON:
			return listJSON(out, all)
		case len(args) == 0:
			listText(out, all)
			return nil
		default:
			return listOne(out, all, args[0])
		}
	}
	return cmd
}

// section is a list of names of one kind.
type section struct {
	title   string
	entries []entry
}

type entry struct {
	Name     string   `json:"name"`
	Code     string   `json:"code,omitempty"` // of a property
	Text     string   `json:"text"`
	Backends []string `json:"backends,omitempty"` // that can inject a fault
}

// key is the name of the section in JSON.
func (s section) key() string { return strings.ToLower(strings.ReplaceAll(s.title, " ", "-")) }

// name is the name of the section on the command line. Sections of the same name are printed together.
func (s section) name() string {
	name, _, _ := strings.Cut(s.key(), "-")
	return name
}

// sections returns all names.
func sections() ([]section, error) {
	var all []section
	title := func(text string) { all = append(all, section{title: text}) }
	add := func(e entry) { s := &all[len(all)-1]; s.entries = append(s.entries, e) }
	described := func(names []string, what map[string]string) {
		for _, n := range names {
			add(entry{Name: n, Text: what[n]})
		}
	}

	title("Scenarios")
	for _, s := range scenarios.All() {
		add(entry{Name: s.Name, Text: s.Summary})
	}
	title("Suites")
	for _, s := range suites {
		add(entry{Name: suiteMark + s.name, Text: s.what})
	}
	title("Published results")
	for _, s := range scenarios.Published() {
		add(entry{Name: s.Name, Text: s.Summary})
	}
	title("Series")
	for _, s := range scenarios.AllSeries() {
		add(entry{Name: s.Name, Text: s.Summary})
	}
	title("Sweeps")
	for _, known := range sweeps {
		s := known.Make()
		add(entry{Name: s.Name, Text: s.Summary})
	}
	title("Trials of compare")
	for _, t := range scenarios.Trials() {
		add(entry{Name: t.Name, Text: t.Summary})
	}
	title("Locks of compare")
	for _, c := range scenarios.Contenders() {
		add(entry{Name: c.Name, Text: c.Summary})
	}
	title("Locks")
	described(runner.Locks())
	title("Workloads")
	described(runner.Workloads())
	title("Faults")
	kinds, does := nemesis.Kinds()
	for _, k := range kinds {
		add(entry{Name: string(k), Text: does[k], Backends: able(k)})
	}
	title("Backends")
	for _, b := range backends {
		add(entry{Name: b.Name, Text: b.what})
	}
	title("Clients on real servers")
	for _, c := range whatClientsAre {
		add(entry{Name: c.name, Text: c.what})
	}
	title("Advice")
	for _, a := range scenarios.AdviceList() {
		add(entry{Name: a.Row, Text: a.Bites + " " + a.Remedy})
	}
	title("Properties")
	for _, p := range checker.Properties() {
		add(entry{Name: p.String(), Code: p.Code(), Text: p.Title()})
	}
	title("Assumptions")
	for _, a := range checker.Assumptions() {
		add(entry{Name: string(a), Text: a.Text()})
	}
	return all, nil
}

// listText prints sections one below the other.
func listText(out io.Writer, all []section) {
	terminal.Fit(out)
	for i, s := range all {
		if i > 0 {
			_, _ = fmt.Fprintln(out)
		}
		_, _ = fmt.Fprintln(out, terminal.On(out).Strong(s.title))
		t := &textfmt.Table{}
		for _, e := range s.entries {
			cells := []string{"  " + e.Name, e.Text}
			switch {
			case e.Code != "":
				cells = []string{"  " + e.Name, e.Code, e.Text}
			case e.Backends != nil:
				cells[1] += " (" + strings.Join(e.Backends, ", ") + ")"
			}
			t.Add(cells...)
		}
		printTable(out, t)
	}
}

func listJSON(out io.Writer, all []section) error {
	object := map[string]any{"versions": versions(runner.Backend{})}
	for _, s := range all {
		object[s.key()] = s.entries
	}
	return writeJSON(out, object)
}

// listOne prints the sections of a name, or else a scenario.
func listOne(out io.Writer, all []section, name string) error {
	var names []string
	for _, s := range all {
		names = append(names, s.name())
	}
	if name == "rows" { // of the debate: each is a scenario or a series
		listText(out, slices.DeleteFunc(all, func(s section) bool { return s.title != "Scenarios" && s.title != "Series" }))
		return nil
	}
	if slices.Contains(names, name) {
		listText(out, slices.DeleteFunc(all, func(s section) bool { return s.name() != name }))
		return nil
	}
	s, err := findScenario(name)
	if near := textfmt.Nearest(name, names, 1); err != nil && len(near) > 0 {
		err = fmt.Errorf("%w; did you mean the section %s?", err, near[0])
	}
	if err != nil {
		return err
	}
	return s.Print(out)
}

// listOf returns the command that lists all things of a kind.
func listOf(kind string) string {
	all, _ := sections() // list itself reports the error
	if kind == "row" {
		return "list rows"
	}
	if slices.ContainsFunc(all, func(s section) bool { return s.name() == kind+"s" }) {
		return "list " + kind + "s"
	}
	return "list"
}

// able names the backends that can carry out a kind of fault.
func able(k nemesis.Kind) []string {
	var list []string
	for _, b := range backends {
		if slices.Contains(b.Kinds, k) {
			list = append(list, b.Name)
		}
	}
	return list
}

// suites are those of "run @NAME".
var suites = []struct {
	name, what string
	subject    func() subject
}{
	{"debate", "the rows and series of the debate, as the command debate runs them", func() subject { return &debate{topics: scenarios.Topics()} }},
	{"compare", "all locks in all trials, as the command compare runs them", func() subject {
		return &comparison{Comparison: report.Comparison{Locks: scenarios.Contenders(), Trials: scenarios.Trials()}}
	}},
	{"published", "results that others have published on locks", func() subject { return newPublications() }},
}

// suiteMark precedes the name of a suite where a scenario could also stand.
const suiteMark = "@"

// findSuite returns the suite that @NAME names.
func findSuite(word string) (subject, error) {
	var known []string
	for _, s := range suites {
		if word == suiteMark+s.name {
			return s.subject(), nil
		}
		known = append(known, suiteMark+s.name)
	}
	return nil, fmt.Errorf("unknown suite %q: want %s", word, strings.Join(known, ", "))
}
