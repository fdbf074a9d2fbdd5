package languages

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
)

// Board is what was seen of all subjects, as it is stored.
type Board struct {
	Subjects map[string]Seen    `json:"subjects"`
	Findings map[string]Example `json:"findings"`
}

// Seen is what was seen of a subject.
type Seen struct {
	Library string `json:"library"` // with its version
	Runs    []Run  `json:"runs"`    // one in each storm
}

// Example is a run that shows a finding.
type Example struct {
	Run      Run `json:"run"`
	Violated int `json:"violated"` // how many runs show it
	Runs     int `json:"runs"`     // of so many
	Control  Run `json:"control"`  // of the lock that does not
}

// Stored is the file of the board.
const Stored = "testdata/board.json"

// Load returns what is stored in a file.
func Load(path string) (b Board, err error) {
	b = Board{map[string]Seen{}, map[string]Example{}}
	text, err := os.ReadFile(path)
	if err != nil {
		return b, err
	}
	if err := json.Unmarshal(text, &b); err != nil {
		return b, fmt.Errorf("%s: %w", path, err)
	}
	return b, nil
}

func (b Board) store(path string) error {
	text, err := json.MarshalIndent(b, "", "\t")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(text, '\n'), 0o644)
}

// Text returns the page of what was seen.
func (b Board) Text() (string, error) {
	for _, s := range Subjects {
		if len(b.Subjects[s.Name].Runs) == 0 {
			return "", fmt.Errorf("%s has not been measured", s.Name)
		}
	}
	for _, f := range Findings {
		if b.Findings[f.Name].Run.Scenario == "" {
			return "", fmt.Errorf("%s has not been measured", f.Name)
		}
	}
	var w strings.Builder
	fmt.Fprintf(&w, "# The scoreboard of locks in other languages\n\nMade by `go -C evidence run . scoreboard-languages`: each lock once in each storm, on real redis-servers. The programs are the [examples](../../examples) and [client.mjs](../../evidence/languages/npm/client.mjs), the storms those of [`lockstorm test`](../other-languages.md) with `%s`, which are the ones of `locktest`. Real time does not repeat: another run can differ where a verdict depends on a race. [The scoreboard of Go locks](scoreboard.md) is measured in memory, with more storms.\n\n", "--ttl "+usualTTL+" --config evidence/languages/config.yaml "+strings.Join(flags, " "))
	w.WriteString("## The locks\n\n| lock | library | how |\n|---|---|---|\n")
	for _, s := range Subjects {
		fmt.Fprintf(&w, "| %s | %s | %s |\n", s.Name, b.Subjects[s.Name].Library, s.How)
	}
	b.findings(&w)
	b.storms(&w)
	w.WriteString("\nBeside the findings: *redlock-npm* and what derives from it violate L1 where tries split the votes. A try that fails leaves its keys until the last try has failed, too, and the script counts a client's own key as a refusal, so that nobody is granted the lock until the keys expire.\n")
	w.WriteString("\n## Details\n\nEach finding has its cause in the library's source, and a control that does not show it in the same storm.\n")
	for _, f := range Findings {
		b.finding(&w, f)
	}
	return w.String(), nil
}

// findings writes a row for each finding.
func (b Board) findings(w *strings.Builder) {
	w.WriteString("\n## Findings\n\nThe codes are those of the [properties](../../README.md#properties). The rate counts the runs that showed the finding, of those for which the machine was fast enough.\n\n| finding | library | property, storm | rate | remedy |\n|---|---|---|---|---|\n")
	for _, f := range Findings {
		e := b.Findings[f.Name]
		fmt.Fprintf(w, "| [%s](#%s) | %s | %s in %s | %d of %d | %s |\n", f.Name, f.Name, b.Subjects[f.Subjects[0]].Library, f.Code, e.Run.Scenario, e.Violated, e.Runs, f.Remedy)
	}
}

// storms writes a row for each subject.
func (b Board) storms(w *strings.Builder) {
	w.WriteString("\n## Storms\n\n✗ lists the promises that were violated, in brackets are violations that the lock does not promise to prevent, as of V2 and V3 where a holder stands still for longer than the TTL; ? lists what is undecided, as L1 and L2 are where too few tries follow the faults. The other properties hold, or the storm does not judge them. Holders ask just before they write whether the validity is over (workload checked).\n\n| lock |")
	for _, name := range Storms {
		fmt.Fprintf(w, " %s |", name)
	}
	w.WriteString("\n|---|" + strings.Repeat("---|", len(Storms)) + "\n")
	for _, s := range Subjects {
		fmt.Fprintf(w, "| %s |", s.Name)
		for _, name := range Storms {
			fmt.Fprintf(w, " %s |", b.run(s.Name, name).cell())
		}
		w.WriteString("\n")
	}
}

// run returns the run of a subject in a storm.
func (b Board) run(of, storm string) Run {
	runs := b.Subjects[of].Runs
	if i := slices.IndexFunc(runs, func(r Run) bool { return r.Scenario == storm }); i >= 0 {
		return runs[i]
	}
	return Run{}
}

func (r Run) cell() string {
	if r.Slipped {
		return "too slow"
	}
	var violated, limits, unknown []string
	for _, c := range codes {
		switch r.verdict(c.code) {
		case "violated":
			violated = append(violated, c.code)
		case "limit":
			limits = append(limits, c.code)
		case "unknown":
			unknown = append(unknown, c.code)
		}
	}
	var cells []string
	if len(violated) > 0 {
		cells = append(cells, "**✗ "+strings.Join(violated, " ")+"**")
	}
	if len(limits) > 0 {
		cells = append(cells, "("+strings.Join(limits, " ")+")")
	}
	if len(unknown) > 0 {
		cells = append(cells, "? "+strings.Join(unknown, " "))
	}
	return strings.Join(cells, " ")
}

// verdict returns the verdict on a property; a violation that nothing promises is a limit.
func (r Run) verdict(code string) string {
	v := r.Verdicts[nameOf(code)]
	if _, limit := r.Limits[nameOf(code)]; limit && v == "violated" {
		return "limit"
	}
	return v
}

func (b Board) finding(w *strings.Builder, f Finding) {
	e := b.Findings[f.Name]
	fmt.Fprintf(w, "\n### %s\n\n%s\n\nSource: %s\n\n", f.Name, f.Text, f.Source)
	if f.Contradicts != "" {
		fmt.Fprintf(w, "It contradicts the documentation: %s\n\n", f.Contradicts)
	}
	if len(f.Upstream) > 0 {
		fmt.Fprintf(w, "Upstream: %s\n\n", strings.Join(f.Upstream, ", "))
	}
	fmt.Fprintf(w, "Seen in %s. Example run: %s in %s. %s %s in the same storm: %s %s. The run is [stored](../../evidence/languages/testdata/%s), and this runs it again:\n\n```\nlockstorm test --again evidence/languages/testdata/%s -- %s\n```\n", strings.Join(f.Subjects, ", "), f.Code, e.Run.Scenario, firstUpper(e.Run.Stories[nameOf(f.Code)]), f.Control, f.Code, e.Control.verdict(f.Code), f.Name, f.Name, strings.Join(shown(subject(f.Subjects[0]).Command()), " "))
}

// shown returns a command line as a reader has it.
func shown(command []string) []string {
	command = slices.Clone(command)
	command[0] = command[0][strings.LastIndexByte(command[0], '/')+1:]
	return command
}

func firstUpper(text string) string {
	if text == "" {
		return ""
	}
	return strings.ToUpper(text[:1]) + text[1:] + "."
}

func subject(name string) Subject {
	return Subjects[slices.IndexFunc(Subjects, func(s Subject) bool { return s.Name == name })]
}
