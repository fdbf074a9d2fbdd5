package languages

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
)

// page is what was seen of all subjects.
type page struct {
	runs     map[string][]Run // by subject
	versions map[string]string
	again    map[string]string // by finding: how often it recurs
	witness  map[string]Run    // by finding
}

func (p page) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# The scoreboard of locks in other languages\n\nMade by `go -C evidence run . scoreboard-languages` with %s: each lock once in each storm, on real redis-servers. The programs are the [examples](../../examples), the storms those of [`lockstorm test`](../other-languages.md) with `%s`, which are the ones of `locktest`; [evidence/languages](../../evidence/languages) has the findings. Real time does not repeat, so another run can differ where a verdict depends on a race.\n\n", runtime.Version(), "--ttl "+usualTTL+" --config evidence/languages/config.yaml "+strings.Join(flags, " "))
	b.WriteString("The codes are those of the [properties](../../README.md#properties). Holders ask just before they write whether the validity is over (workload checked). V2 and V3 are violated where a holder stands still for longer than the TTL: a limit of every lock without fences, and not a defect. L1 and L2 are undecided where too few tries follow the faults. redlock-npm-outside violates C where a majority does not answer, because a release is tried 11 times, each as long as ioredis waits for a reply ([upstream](https://github.com/mike-marcacci/node-redlock/issues/313)): it took 7.6 s there. A dash: the storm does not judge it. [The scoreboard of Go locks](scoreboard.md) is measured in memory, with more storms.\n\n## The locks\n\n| lock | library | how |\n|---|---|---|\n")
	for _, s := range Subjects {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", s.Name, p.versions[s.Name], s.How)
	}
	for _, s := range Subjects {
		fmt.Fprintf(&b, "\n### %s\n\n| storm | grants | %s |\n|---|---|%s\n", s.Name, strings.Join(codeNames(), " | "), strings.Repeat("---|", len(codes)))
		for _, r := range p.runs[s.Name] {
			b.WriteString(r.row())
		}
	}
	b.WriteString("\n## Findings\n\nEach has its cause in the library's source, and a control that does not show it in the same storm.\n")
	for _, f := range Findings {
		p.finding(&b, f)
	}
	return b.String()
}

func codeNames() (list []string) {
	for _, c := range codes {
		list = append(list, c.code)
	}
	return list
}

func (r Run) row() string {
	cells := []string{r.Scenario, fmt.Sprint(r.Grants)}
	for _, c := range codes {
		v := r.Verdicts[c.name]
		switch {
		case r.Slipped:
			v = "too slow"
		case v == "violated":
			v = "**violated**"
		case v == "not-applicable" || v == "":
			v = "–"
		}
		cells = append(cells, v)
	}
	return "| " + strings.Join(cells, " | ") + " |\n"
}

func (p page) finding(b *strings.Builder, f Finding) {
	fmt.Fprintf(b, "\n### %s\n\n%s\n\nSource: %s\n", f.Name, f.Text, f.Source)
	if len(f.Upstream) > 0 {
		fmt.Fprintf(b, "\nUpstream: <%s>\n", strings.Join(f.Upstream, ">, <"))
	}
	w := p.witness[f.Name]
	fmt.Fprintf(b, "\nExample run: %s in %s, %s. %s\n", f.Subjects[0], w.Scenario, f.Code, firstUpper(w.Stories[nameOf(f.Code)]))
	fmt.Fprintf(b, "\nIt recurs in %s. %s in the same storm: %s %s. The run is stored in [evidence/languages/testdata/%s](../../evidence/languages/testdata/%s), and this runs it again:\n\n```\nlockstorm test --again evidence/languages/testdata/%s -- %s\n```\n", p.again[f.Name], f.Control, f.Code, p.verdict(f.Control, w.Scenario, f.Code), f.Name, f.Name, f.Name, strings.Join(shown(subject(f.Subjects[0]).Command()), " "))
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

// verdict returns the verdict on a property of a subject in a storm.
func (p page) verdict(of, storm, code string) string {
	for _, r := range p.runs[of] {
		if r.Scenario == storm && !r.Slipped {
			return r.Verdicts[nameOf(code)]
		}
	}
	return "undecided"
}
