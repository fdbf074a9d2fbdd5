package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/runner/simulated"
	"github.com/lockstorm/lockstorm/internal/servers/container"
	"github.com/lockstorm/lockstorm/internal/servers/process"
	"github.com/lockstorm/lockstorm/internal/show/report"
	"github.com/lockstorm/lockstorm/internal/show/summary"
	"github.com/lockstorm/lockstorm/internal/textfmt"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/results"
	"github.com/lockstorm/lockstorm/scenarios"
	"github.com/lockstorm/lockstorm/stores"
)

// storeLocks are the locks of the comparison that a store keeps.
const storeLocks = "database-row,database-row-asynchronous,advisory,advisory-checked,advisory-transaction,redis-sentinel,redis-cluster,kubernetes-lease,kubernetes-lease-fenced,zookeeper,zookeeper-fenced,etcd,etcd-unchecked,fenced"

// realBackends have servers.
var realBackends = []string{"process", "container"}

// measureAgreement runs the debate on each backend that this machine has, and the locks in a store. It
// stores nothing if a difference has no known reason.
func measureAgreement(ctx context.Context, c *checkout) error {
	if c.missing {
		return c.measureMissing(ctx)
	}
	sides := map[string]string{}
	for _, backend := range realBackends {
		sides[backend] = c.path("results", backend)
		dir := filepath.Join(c.temp, backend)
		if _, _, err := c.lockstorm(ctx, "debate", "--backend", backend, "--out", dir); err != nil {
			fmt.Fprintln(os.Stderr, "not run on", backend, err)
			continue
		}
		sides[backend] = dir
	}
	stores := filepath.Join(c.temp, "stores")
	if _, _, err := c.lockstorm(ctx, "compare", "--lock", storeLocks, "--backend", "process", "--runs", "2", "--out", stores); err != nil {
		return err
	}
	if _, err := c.agreementOf(sides, stores); err != nil {
		return err
	}
	for backend, dir := range sides {
		if err := c.move(filepath.Join(dir, results.DebateFile), "results", backend, results.DebateFile); err != nil {
			return err
		}
	}
	return c.move(filepath.Join(stores, results.CompareFile), "results", "stores", results.CompareFile)
}

// measureMissing runs the rows of the debate that a backend could run and of which nothing is stored, and stores them
// beside the others.
func (c *checkout) measureMissing(ctx context.Context) error {
	for _, backend := range realBackends {
		dir := c.path("results", backend)
		side, err := loadSide(dir, ableBackend(backend))
		if err != nil {
			return err
		}
		var rows []string
		for _, r := range report.Agree(scenarios.Topics(), []report.Side{side}, nil).Rows {
			if r.Cells[0].ComparisonStatus == report.NotRun {
				rows = append(rows, r.Name)
			}
		}
		if len(rows) == 0 {
			continue
		}
		temp := filepath.Join(c.temp, backend)
		if _, _, err := c.lockstorm(ctx, append([]string{"debate", "--backend", backend, "--out", temp}, rows...)...); err != nil {
			fmt.Fprintln(os.Stderr, "not run on", backend, err)
			continue
		}
		stored, err := results.LoadReference(dir, results.DebateFile)
		if err != nil {
			return err
		}
		added, err := results.LoadReference(temp, results.DebateFile)
		if err != nil {
			return err
		}
		added.Rows = slices.DeleteFunc(added.Rows, func(r results.Row) bool { return !slices.Contains(rows, r.Scenario) }) // points of series
		stored.Rows = results.InOrder(append(stored.Rows, added.Rows...))
		maps.Copy(stored.Versions, added.Versions)
		if err := stored.Save(dir, results.DebateFile); err != nil {
			return err
		}
	}
	return nil
}

func writeAgreement(c *checkout) (string, error) {
	sides := map[string]string{}
	for _, backend := range realBackends {
		sides[backend] = c.path("results", backend)
	}
	return c.agreementOf(sides, c.path("results", "stores"))
}

// agreementOf makes the page of the results in directories. A difference without a known reason is an
// error.
func (c *checkout) agreementOf(sides map[string]string, stores string) (string, error) {
	simulator, err := loadSide(c.path("results", "reference"), simulated.Backend())
	if err != nil {
		return "", err
	}
	list := []report.Side{simulator}
	for _, backend := range realBackends {
		side, err := loadSide(sides[backend], ableBackend(backend))
		if err != nil {
			return "", err
		}
		list = append(list, side)
	}
	a := agreement{report.Agree(scenarios.Topics(), list, scenarios.Differences())}
	p := &text{}
	a.page(p)
	err = nil
	if conclusion := a.Conclusion(); conclusion != runner.AsExpected {
		err = fmt.Errorf("the debate: %v", conclusion)
	}
	beside, failed := c.storesBeside(p, stores)
	if failed == nil && beside.Conclusion() != runner.AsExpected {
		failed = errors.New("locks in stores: a difference has no known reason")
	}
	if err = errors.Join(err, failed); err != nil {
		return "", fmt.Errorf("%w\n%s", err, p)
	}
	return p.String(), nil
}

// ableBackend returns a backend for its abilities. That of processes has the servers of stores, too.
func ableBackend(name string) runner.Backend {
	if name == "container" {
		return able(container.Backend{})
	}
	b := able(process.Backend{})
	b.InStore = func(product string) (runner.Backend, bool) {
		for _, s := range stores.Products() {
			if s.Product == product {
				in := able(s)
				in.Keys, in.Watched, in.Product = s.Watched, s.Watched, product
				return in, true
			}
		}
		return runner.Backend{}, false
	}
	return b
}

// able returns a backend for the faults that it can inject.
func able(b interface{ Ability() nemesis.Ability }) runner.Backend {
	return runner.Backend{Ability: b.Ability(), Keys: true, Watched: true}
}

// loadSide reads a stored debate of a backend.
func loadSide(dir string, b runner.Backend) (report.Side, error) {
	reference, err := results.LoadReference(dir, results.DebateFile)
	if err != nil {
		return report.Side{}, err
	}
	found, err := report.TalliesOf(reference)
	return report.Side{Backend: b, Found: found, First: report.FirstSeeds(reference), Versions: reference.Versions}, err
}

// agreement is an agreement as it is printed.
type agreement struct{ report.Agreement }

func (a agreement) page(p *text) {
	first := a.Sides[0].Name
	p.say(`# Agreement: the same rows on different backends

Made by `+"`go -C evidence run . agreement`"+` from results.

Each backend runs each row of [the debate](debate.md) from the same scenario with the same plan. A backend agrees with the first, %s, on a row if each property that the row expects something of, and that both can judge, got the same verdict over all runs (violated if one run violated it). If the machine was too slow for the plan, the run is discarded and repeated. Series are omitted: their points are closer together than real time on a machine is exact.
`, first)
	for _, s := range a.Sides {
		p.say("- %s: %s", s.Name, madeWith(s.Versions))
	}
	p.say("\n## Which rows can be decided\n\nA backend can decide a row if it can carry out the plan and its verdicts are those of %s.", first)
	p.table(a.shares())
	a.decidable(p)
	p.say("\n## Row by row")
	p.table(a.table())
	p.say("%s. %s.", agreementLegend, summary.Codes())
	a.open(p, "\n## %s\n")
}

const agreementLegend = `✗ or ? with the number of runs in which the properties before it were violated or left open; ✓: everything expected of the row holds; ·: nothing to judge`

// Count counts the rows of a side with some statuses.
func (a agreement) Count(side int, to ...report.ComparisonStatus) (n int) {
	for _, r := range a.Rows {
		if slices.Contains(to, r.Cells[side].ComparisonStatus) {
			n++
		}
	}
	return n
}

// Conclusion sums up all rows and reasons.
func (a agreement) Conclusion() runner.Conclusion {
	undecided := false
	for i := range a.Sides {
		if a.Count(i, report.Unexplained) > 0 {
			return runner.Contradiction
		}
		undecided = undecided || a.Count(i, report.TooSlow, report.NotRun) > 0
	}
	switch {
	case len(a.Obsolete) > 0:
		return runner.Contradiction
	case undecided:
		return runner.Undecided
	}
	return runner.AsExpected
}

// shares counts the rows that each side has decided, by verdict.
func (a agreement) shares() *textfmt.Table {
	t := &textfmt.Table{Head: []string{"backend", "rows", "can be run", "can be decided", "agree", "differ", "too slow, or not run"}}
	for i, s := range a.Sides {
		rows := len(a.Rows)
		able := rows - a.Count(i, report.Refused)
		decidable := able - a.Count(i, report.Differs, report.Unexplained)
		t.Add(s.Name, fmt.Sprint(rows), share(able, rows), share(decidable, rows), share(a.Count(i, report.Agrees), rows),
			fmt.Sprint(a.Count(i, report.Differs, report.Unexplained)), fmt.Sprint(a.Count(i, report.TooSlow, report.NotRun)))
	}
	return t
}

func share(n, of int) string {
	return fmt.Sprintf("%d, %s", n, runner.Rate{K: n, N: of}.Percent())
}

// table has a line for each row: the verdicts of each side, and whether they agree.
func (a agreement) table() *textfmt.Table {
	t := &textfmt.Table{Head: []string{"row"}}
	for _, s := range a.Sides {
		t.Head = append(t.Head, s.Name)
	}
	t.Head = append(t.Head, "agreement")
	for _, r := range a.Rows {
		t.Section(r.Topic)
		line, words := []string{r.Name}, []string{}
		for i, c := range r.Cells {
			line = append(line, c.String())
			if text := c.Short(); i > 0 && !slices.Contains(words, text) {
				words = append(words, text)
			}
		}
		t.Add(append(line, strings.Join(words, "; "))...)
	}
	return t
}

// decidable lists the rows and properties that a side cannot decide, with the reason.
func (a agreement) decidable(p *text) {
	for i, s := range a.Sides[1:] {
		if missing := a.notJudged(i + 1); len(missing) > 0 {
			p.say("\nNot judged on %s, whose stored histories lack what it takes: %s.", s.Name, strings.Join(missing, ", "))
		}
	}
	a.list(p, "\n%s\n", "What cannot be run:", func(c report.Cell) []string {
		if c.ComparisonStatus != report.Refused {
			return nil
		}
		return []string{c.Refusal.Error()}
	})
	a.list(p, "\n%s\n", "What differs:", func(c report.Cell) (all []string) {
		for _, d := range c.Differences {
			text := fmt.Sprintf("%s %s, and %s on %s", d.Code(), d.Here, d.There, a.Sides[0].Name)
			if d.Reason == "" {
				text += "; NO REASON IS KNOWN"
			} else {
				text += ": " + d.Reason
			}
			all = append(all, text)
		}
		return all
	})
}

// notJudged lists the properties that the first side judges and another does not, with the number of rows.
func (a agreement) notJudged(side int) (list []string) {
	for _, p := range checker.Properties() {
		rows := 0
		for _, r := range a.Rows {
			if here := r.Cells[side]; here.Tally.Runs > 0 && slices.Contains(r.Cells[0].Judged, p) && !slices.Contains(here.Judged, p) {
				rows++
			}
		}
		if rows > 0 {
			list = append(list, fmt.Sprintf("%s %s in %s", p.Code(), p.Title(), textfmt.Count(rows, "row")))
		}
	}
	return list
}

// open lists what is left to do: rows to run again, reasons that no longer apply. heading prints a
// title.
func (a agreement) open(p *text, heading string) {
	a.list(p, heading, "What is undecided", func(c report.Cell) []string {
		switch c.ComparisonStatus {
		case report.TooSlow:
			return []string{summary.Slowness(c.Tally)}
		case report.NotRun:
			return []string{"was not run"}
		}
		return nil
	})
	for i, d := range a.Obsolete {
		if i == 0 {
			p.say(heading, "Reasons for no difference")
		}
		p.say("- %s, %s on %s: %s", d.Row, d.Property.Code(), d.Backend, d.Reason)
	}
}

// list lists the remarks on cells.
func (a agreement) list(p *text, heading, title string, say func(report.Cell) []string) {
	said := false
	for _, r := range a.Rows {
		for i, c := range r.Cells {
			for _, text := range say(c) {
				if !said {
					p.say(heading, title)
					said = true
				}
				p.say("- %s on %s: %s", r.Name, a.Sides[i].Name, text)
			}
		}
	}
}
