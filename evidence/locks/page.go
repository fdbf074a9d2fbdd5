package locks

import (
	"fmt"
	"runtime"
	"slices"
	"strings"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/files"
	"github.com/lockstorm/lockstorm/internal/textfmt"
)

// goRedis is the client of Redis that several of the locks are tried over.
const goRedis = "github.com/redis/go-redis/v9"

// Write writes the page of the board, of which nothing may be missing, with the
// versions of the libraries by their paths.
func (b *Board) Write(path string, versions map[string]string) error {
	b.order()
	if err := b.complete(); err != nil {
		return err
	}
	var page strings.Builder
	b.Page.Head(b, &page)
	b.subjects(&page, versions)
	b.overview(&page)
	b.findings(&page, Defect, "Defects", "A defect breaks what the library's documentation promises, and this project's lock does not show it under the same plan.")
	b.findings(&page, Limit, "Limits", "A limit is not a defect: this project's lock has it too, or the library does not promise otherwise.")
	b.outages(&page)
	b.storms(&page)
	b.verdicts(&page)
	return files.WriteWhole(path, []byte(page.String()))
}

// Page is what one page says otherwise than another.
type Page struct {
	Head func(b *Board, out *strings.Builder) // title and introduction

	// Setting has the times and the versions of clients and servers.
	Setting func(versions map[string]string) string

	Outages     []string // the storms whose outages are listed
	OutagesMean string   // what they come from
	Works       string   // what clients do
	Args        string   // of the test, to try these locks
}

// RedisPage is the page about locks on Redis.
var RedisPage = Page{
	Head: (*Board).redisHead,
	Setting: func(versions map[string]string) string {
		return fmt.Sprintf("The TTL is %s, that of redsync by default; in *brief* storms and on the real server %s. go-redis is %s.",
			textfmt.Duration(Subject{}.ttl()), textfmt.Duration(briefTTL), versions[goRedis])
	},
	Outages:     []string{"holder-dies", "cancelled-unheard", "minority-cut-off", "node-off", "node-off-brief", "node-stands-still", "slow-network", "holder-cut-off"},
	OutagesMean: outagesMean,
	Works:       "Of *short* and *brief* work three clients do a tenth of a TTL at a time; of *long* work two do one to two TTLs, and extend each quarter of it, unless the lock does so by itself.",
}

// order puts the trials, which ran side by side, into that of the subjects, and the witnesses
// into that of the findings.
func (b *Board) order() {
	subjects := b.Subjects
	place := func(t *Trial) int {
		return slices.IndexFunc(subjects, func(s Subject) bool { return s.Name == t.Subject.Name })
	}
	slices.SortStableFunc(b.Trials, func(x, y *Trial) int { return place(x) - place(y) })
}

func (b *Board) complete() error {
	for _, s := range b.Subjects {
		for _, series := range s.Series() {
			for _, in := range series.Storms {
				if t := b.trial(s.Name, in.Name); t == nil || t.Decided() == 0 {
					return fmt.Errorf("%s has not been tried in %s, or the machine was too slow: the page is written of all locks and storms", s.Name, in.Name)
				}
			}
		}
	}
	return nil
}

func (b *Board) redisHead(out *strings.Builder) {
	runs := 0
	for _, t := range b.Trials {
		runs += t.Tally.Runs
	}
	fmt.Fprintf(out, `# The scoreboard: what other locks hold

Made by `+"`make scoreboard`"+` with %s: %s runs of %d locks in the storms of [locktest](../../locktest), on nodes in memory in virtual time, or on a real redis-server where noted. [bench/locks](../../bench/locks) has the locks, the storms and the findings; the adapters of most are [modules for your own tests](../test-your-lock.md#test-a-lock-library). Its test, `+"`go -C bench test ./locks`"+`, runs all storms a few times and fails if a verdict differs from this page.

A property is *violated* if some run violated it, and *holds* if no run violated it, which is no proof. The codes are those of the [properties](../../README.md#properties). V1 counts a hold until its reported end of validity or, if the lock reports none, until it notifies the holder of the loss. V2 counts a hold until its release or the notice of its loss, whatever its validity. V3 asks whether an update of the guarded resource was lost by holders that ask the lock just before they write. C limits each extension and each release to one TTL. L3 requires that a reachable node keeps no key of an abandoned try for longer than a quarter of the TTL; this is judged only in memory, where keys are recorded, and an earlier try of a call counts as abandoned once a later try has set a key. V4 is omitted, because none of these locks has a fence.

`, runtime.Version(), textfmt.Grouped(runs), len(b.Subjects))
}

func (b *Board) subjects(out *strings.Builder, versions map[string]string) {
	fmt.Fprint(out, "## The locks\n\n")
	t := textfmt.Table{Head: []string{"lock", "library", "how"}}
	for _, s := range b.Subjects {
		library := "Lockstorm"
		if s.Library != "" {
			library = s.Library + " " + versions[s.Library]
		}
		t.Add(s.Name, library, s.How)
	}
	t.Markdown(out)
	fmt.Fprintf(out, "\n%s\n\n", b.Page.Setting(versions))
}

// overview says of each lock in how many storms it has held what.
func (b *Board) overview(out *strings.Builder) {
	fmt.Fprint(out, "## In short\n\nEach cell is the number of storms with a violation, of the storms in which the property was judged. Not every storm is the same for every lock: [all verdicts](#all-verdicts) are below.\n\n")
	t := textfmt.Table{Head: []string{"lock"}}
	for _, p := range judged {
		t.Head = append(t.Head, p.Code())
	}
	t.Head = append(t.Head, "defects")
	for _, s := range b.Subjects {
		line := []string{s.Name}
		for _, p := range judged {
			line = append(line, b.count(s, p))
		}
		t.Add(append(line, b.defects(s))...)
	}
	t.Markdown(out)
	fmt.Fprintln(out)
}

func (b *Board) count(s Subject, p checker.Property) string {
	violated, tried := 0, 0
	for _, t := range b.Trials {
		if t.Subject.Name != s.Name {
			continue
		}
		if t.Tally.Rate(p).N > 0 {
			tried++
		}
		if t.Violates(p) {
			violated++
		}
	}
	switch {
	case tried == 0:
		return "undecided"
	case violated == 0:
		return fmt.Sprintf("holds in %d", tried)
	}
	return fmt.Sprintf("**%d** of %d", violated, tried)
}

// defects are links to those that a lock has shown.
func (b *Board) defects(s Subject) string {
	var list []string
	for i := range findings {
		f := &findings[i]
		if f.Kind == Defect && slices.ContainsFunc(b.Trials, func(t *Trial) bool { return t.Subject.Name == s.Name && len(t.of(f)) > 0 }) {
			list = append(list, fmt.Sprintf("[%s](#%s)", f.Name, f.Name))
		}
	}
	return textfmt.Dash(strings.Join(list, ", "))
}

// of are the properties that are violated here and that a finding is about.
func (t *Trial) of(f *Finding) (list []checker.Property) {
	for _, p := range judged {
		if known, _ := Known(t.Subject.Name, t.Storm.Name, p); known == f && t.Violates(p) {
			list = append(list, p)
		}
	}
	return list
}

func (b *Board) findings(out *strings.Builder, kind Kind, title, what string) {
	fmt.Fprintf(out, "## %s\n\n%s\n\n", title, what)
	for i := range findings {
		if f := &findings[i]; f.Kind == kind && slices.ContainsFunc(b.Subjects, f.about) {
			b.finding(out, f)
		}
	}
}

func (b *Board) finding(out *strings.Builder, f *Finding) {
	fmt.Fprintf(out, "### %s\n\n%s\n\n", f.Name, f.What)
	if f.Says != "" {
		fmt.Fprintf(out, "Documentation: %s\n\n", f.Says)
	}
	if f.Link != "" {
		fmt.Fprintf(out, "Upstream: <%s>\n\n", f.Link)
	}
	t := textfmt.Table{Head: []string{"lock", "storm", "violations"}}
	for _, trial := range b.Trials {
		var rates []string
		for _, p := range trial.of(f) {
			rates = append(rates, fmt.Sprintf("%s %d of %d", p.Code(), trial.Tally.Rate(p).K, trial.Tally.Rate(p).N))
		}
		if len(rates) > 0 {
			t.Add(trial.Subject.Name, trial.Storm.Name, strings.Join(rates, ", "))
		}
	}
	if len(t.Lines) == 0 {
		fmt.Fprintf(out, "It is seldom seen, and was not in these runs.\n\n")
		return
	}
	t.Markdown(out)
	fmt.Fprintln(out)
	if w := b.witness(f); w != nil {
		b.tell(out, w)
	}
}

// tell tells of the stored run.
func (b *Board) tell(out *strings.Builder, w *Witness) {
	first := w.Shows[0]
	fmt.Fprintf(out, "Example run: %s in %s, %s. %s.\n\n", w.Trial.Subject.Name, w.Trial.Storm.Name, first.Code(), strings.TrimSuffix(textfmt.Sentence(w.Report.Finding(first).Story()), "."))
	var again []string
	for _, p := range w.Shows {
		again = append(again, fmt.Sprintf("%s in %d", p.Code(), w.Again.Rate(p).K))
	}
	fmt.Fprintf(out, "It recurs in %s: %s. It is stored in [bench/locks/%s](../../bench/locks/%s), and this runs it again:\n\n```\n%s\n```\n\n",
		textfmt.Count(w.Again.Runs, "re-run"), strings.Join(again, ", "), w.Dir, w.Dir, w.command(b.Page.Args))
}

// command runs the witness again.
func (w *Witness) command(args string) string {
	return fmt.Sprintf("go -C bench test ./locks -run '^TestScoreboard$/^%s$/^%s$'%s -locktest.witness=%s", w.Trial.Subject.Name, w.Trial.Series, args, w.Dir)
}

// outages tells of the storms in which a property says nothing of how long nobody has the lock.
func (b *Board) outages(out *strings.Builder) {
	fmt.Fprint(out, "## How long nobody could have the lock\n\nThe median over the runs of the longest outage: a client wanted the lock, no client held it, and none acquired it. No property asks for it to be short.\n\n")
	t := textfmt.Table{Head: append([]string{"lock"}, b.Page.Outages...)}
	for _, s := range b.Subjects {
		line := []string{s.Name}
		for _, name := range b.Page.Outages {
			cell := ""
			if trial := b.trial(s.Name, name); trial != nil && trial.Tally.Runs > trial.Tally.Slipped {
				cell = textfmt.Duration(trial.Tally.Measured.All().MedianOutage)
			}
			line = append(line, textfmt.Dash(cell))
		}
		t.Add(line...)
	}
	t.Markdown(out)
	fmt.Fprint(out, "\n"+b.Page.OutagesMean+"\n\n")
}

// outagesMean is what the outages come from, as far as that was found.
const outagesMean = `In *cancelled-unheard* the call that is cancelled has set its keys. Who removes them on the context of the call, as redsync does, removes nothing once that has ended, and who does not remove them at all, as redislock, neither: others wait until the keys expire. (With the defaults of go-redis the call outlasts its cancellation, and returns a lock once the answers come.) In *minority-cut-off*, *node-off*, *node-off-brief* and *node-stands-still* redsync waits for the nodes that do not answer, also when it acquires: go-redis does not heed the deadline that redsync gives it, unless ContextTimeoutEnabled is set.`

// storms tells of each.
func (b *Board) storms(out *strings.Builder) {
	fmt.Fprint(out, "## The storms\n\n")
	t := textfmt.Table{Head: []string{"storm", "work", "what happens"}}
	told := map[string]bool{}
	for _, trial := range b.Trials {
		if !told[trial.Storm.Name] {
			t.Add(trial.Storm.Name, trial.Series, trial.Storm.Summary)
		}
		told[trial.Storm.Name] = true
	}
	t.Markdown(out)
	fmt.Fprintf(out, "\n%s\n\n", b.Page.Works)
}

// verdicts has a table for each lock.
func (b *Board) verdicts(out *strings.Builder) {
	fmt.Fprint(out, "## All verdicts\n\nIn how many of the runs in which it was decided a property was violated; *?* where no run decided it, – where there was nothing to judge.\n\n")
	for _, s := range b.Subjects {
		t := textfmt.Table{Head: []string{"storm", "runs"}}
		for _, p := range judged {
			t.Head = append(t.Head, p.Code())
		}
		for _, trial := range b.Trials {
			if trial.Subject.Name == s.Name {
				t.Add(trial.line()...)
			}
		}
		fmt.Fprintf(out, "### %s\n\n", s.Name)
		t.Markdown(out)
		fmt.Fprintln(out)
	}
}

func (t *Trial) line() []string {
	line := []string{t.Storm.Name, fmt.Sprint(t.Tally.Runs)}
	for _, p := range judged {
		rate := t.Tally.Rate(p)
		switch {
		case rate.K > 0:
			line = append(line, fmt.Sprintf("**%d of %d**", rate.K, rate.N))
		case rate.N > 0:
			line = append(line, "holds")
		case t.Tally.Observed(p) == checker.Unknown:
			line = append(line, "?")
		default:
			line = append(line, "–")
		}
	}
	return line
}
