package locks

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockstorm/lockstorm/internal/textfmt"
)

// goRedis is the client of Redis that several of the locks are tried over.
const goRedis = "github.com/redis/go-redis/v9"

// Page is what one page says otherwise than another.
type Page struct {
	File     string // of the stored results, in this package
	Subjects func() []Subject

	Title string
	Head  string              // what is judged
	On    string              // what the locks ran on
	Time  func(Stored) string // the TTL, and versions
	Args  string              // of the test, to try these locks

	Servers func() string // with versions; nil: there are none

	Outages     []string // the storms whose outages are listed
	OutagesMean string   // what they come from
	Works       string   // what clients do
}

// RedisPage is the page about locks on Redis.
var RedisPage = Page{
	File: "testdata/redis.json", Subjects: Subjects,
	Title: "The scoreboard: what other locks hold",
	On:    "on nodes in memory in virtual time, or on a real redis-server where noted",
	Head:  "V1 counts a hold until its reported end of validity or, if the lock reports none, until it notifies the holder of the loss. V2 counts a hold until its release or the notice of its loss, whatever its validity. V3 asks whether an update of the guarded resource was lost by holders that ask the lock just before they write. C limits each extension and each release to one TTL. L3 requires that a reachable node keeps no key of an abandoned try for longer than a quarter of the TTL; this is judged only in memory. V4 is omitted, because none of these locks has a fence.",
	Time: func(s Stored) string {
		return fmt.Sprintf("The TTL is %s, that of redsync by default; in *brief* storms and on the real server %s. go-redis is %s.", textfmt.Duration(Subject{}.ttl()), textfmt.Duration(briefTTL), s.Versions[goRedis])
	},
	Outages: []string{"holder-dies", "cancelled-unheard", "minority-cut-off", "node-off", "node-off-brief", "node-stands-still"},
	Works:   "In *short* and *brief* storms three clients work for a tenth of a TTL at a time; in *long* storms two work for one to two TTLs, and extend each quarter of it, unless the lock does so by itself.",
}

// Text makes the page of stored results.
func (p Page) Text(s Stored) string {
	out := &strings.Builder{}
	name := strings.TrimSuffix("scoreboard-"+strings.TrimSuffix(strings.TrimPrefix(p.File, "testdata/"), ".json"), "-redis")
	fmt.Fprintf(out, "# %s\n\nMade by `go -C evidence run . %s` with %s: %s runs of %d locks in the storms of [locktest](../../locktest), %s. [evidence/locks](../../evidence/locks) has the locks, the storms and the findings; the adapters of most are [modules for your own tests](../test-your-lock.md#test-a-lock-library).\n\nThe codes are those of the [properties](../../README.md#properties). %s\n\n",
		p.Title, name, s.Go, textfmt.Grouped(s.runs()), len(s.locks()), p.On, p.Head)
	p.subjects(out, s)
	p.verdicts(out, s)
	fmt.Fprintf(out, "## Findings\n\n*Run* is a stored run that shows the finding, and *again* how many re-runs did. `go -C evidence test ./locks -run '^TestScoreboard$/^LOCK$/^SERIES$'%s -locktest.witness=DIR` runs it again.\n\n", p.Args)
	p.findings(out, s, Defect, "A **defect** breaks what the library's documentation promises, and this project's lock does not show it under the same plan.")
	p.findings(out, s, Limit, "A **limit** is not a defect: this project's lock has it too, or the library does not promise otherwise.")
	p.outages(out, s)
	return out.String()
}

func (p Page) subjects(out *strings.Builder, s Stored) {
	t := textfmt.Table{Head: []string{"lock", "library", "how"}}
	names := s.locks()
	for _, subject := range p.Subjects() {
		if slices.Contains(names, subject.Name) {
			library := "Lockstorm"
			if subject.Library != "" {
				library = subject.Library + " " + s.Versions[subject.Library]
			}
			t.Add(subject.Name, library, subject.How)
		}
	}
	t.Markdown(out)
	fmt.Fprintf(out, "\n%s\n\n", p.Time(s))
}

// verdicts has a line for each storm in which something is violated, and a column for each lock.
func (p Page) verdicts(out *strings.Builder, s Stored) {
	fmt.Fprintf(out, "## What is violated\n\nThe violated properties, with the number of runs if not all violate it; ✓ if none is violated, which is no proof. A property that no run decided is not shown. An empty cell: the lock was not tried in the storm. %s\n\n", p.Works)
	names := s.locks()
	t := textfmt.Table{Head: append([]string{"storm", "work"}, names...)}
	var calm []string // storms in which nothing is violated
	var summaries strings.Builder
	for _, storm := range s.storms() {
		line, violated := []string{storm.Storm, storm.Series}, false
		for _, lock := range names {
			cell := ""
			if r, tried := s.result(lock, storm.Storm); tried {
				cell, violated = r.cell(), violated || len(r.Violated) > 0
			}
			line = append(line, cell)
		}
		if !violated {
			calm = append(calm, storm.Storm)
			continue
		}
		t.Add(line...)
		fmt.Fprintf(&summaries, "- *%s*: %s\n", storm.Storm, storm.Summary)
	}
	t.Markdown(out)
	fmt.Fprintf(out, "\nNo lock violates anything in %s.\n\n%s\n", strings.Join(calm, ", "), &summaries)
}

// cell is the result in a few characters.
func (r Result) cell() string {
	var parts []string
	for _, p := range judged {
		switch rate := r.Violated[p.Code()]; {
		case rate.Violated == 0:
		case rate.Violated == rate.Decided:
			parts = append(parts, p.Code())
		default:
			parts = append(parts, fmt.Sprintf("%s %d/%d", p.Code(), rate.Violated, rate.Decided))
		}
	}
	if len(parts) == 0 {
		return "✓"
	}
	return strings.Join(parts, " ")
}

func (p Page) findings(out *strings.Builder, s Stored, kind Kind, what string) {
	fmt.Fprintf(out, "%s\n\n", what)
	names := s.locks()
	for i := range findings {
		f := &findings[i]
		if f.Kind != kind || !slices.ContainsFunc(names, func(lock string) bool { return f.about(Subject{Name: lock}) }) {
			continue
		}
		fmt.Fprintf(out, "### %s\n\n%s", f.Name, f.What)
		if f.Says != "" && kind == Defect {
			fmt.Fprintf(out, " Documentation: %s", f.Says)
		}
		if f.Link != "" {
			fmt.Fprintf(out, " ([upstream](%s))", f.Link)
		}
		fmt.Fprintln(out)
		p.seen(out, s, f)
	}
}

// seen says where a finding was seen, and which run shows it.
func (p Page) seen(out *strings.Builder, s Stored, f *Finding) {
	var parts []string
	for _, lock := range s.locks() {
		var codes, storms []string
		for _, r := range s.Results {
			if of := r.of(f); r.Lock == lock && len(of) > 0 {
				codes, storms = append(codes, of...), append(storms, r.Storm)
			}
		}
		if len(storms) > 0 {
			slices.Sort(codes)
			parts = append(parts, fmt.Sprintf("%s (%s): %s", lock, strings.Join(slices.Compact(codes), " "), strings.Join(storms, ", ")))
		}
	}
	if len(parts) == 0 {
		fmt.Fprint(out, "\nIt is seldom seen, and was not in these runs.\n\n")
		return
	}
	if kind := f.Kind; kind == Limit { // many locks show it, in the storms that are about it
		fmt.Fprintf(out, "\nSeen of %s.", strings.Join(onlyNames(parts), ", "))
	} else {
		fmt.Fprintf(out, "\nSeen of %s.", strings.Join(parts, "; "))
	}
	for _, w := range s.Witnesses {
		if w.Finding == f.Name {
			fmt.Fprintf(out, " [Run](../../evidence/locks/%s): %s in %s (%s); again in %s of %d.", w.Dir, w.Lock, w.Storm, w.Series, byCode(w.Again), w.Reruns)
		}
	}
	fmt.Fprint(out, "\n\n")
}

// onlyNames drops what follows the name of each lock.
func onlyNames(parts []string) (names []string) {
	for _, text := range parts {
		name, _, _ := strings.Cut(text, " (")
		names = append(names, name)
	}
	return names
}

// outages tells of the storms in which a property says nothing of how long nobody has the lock.
func (p Page) outages(out *strings.Builder, s Stored) {
	fmt.Fprint(out, "## How long nobody could have the lock\n\nThe median over the runs of the longest outage: a client wanted the lock, no client held it, and none acquired it. No property asks for it to be short.\n\n")
	t := textfmt.Table{Head: append([]string{"lock"}, p.Outages...)}
	for _, lock := range s.locks() {
		line := []string{lock}
		for _, storm := range p.Outages {
			r, _ := s.result(lock, storm)
			line = append(line, textfmt.Dash(r.Outage))
		}
		t.Add(line...)
	}
	t.Markdown(out)
	if p.OutagesMean != "" {
		fmt.Fprintf(out, "\n%s\n", p.OutagesMean)
	}
}
