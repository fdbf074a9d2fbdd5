package main

import (
	"fmt"
	"math"
	"path"
	"slices"
	"strings"

	"github.com/lockstorm/lockstorm/internal/textfmt"
)

// falseAlarm is the probability that the page has a disagreement although every figure is right, at
// most. Each of n comparisons of rates gets falseAlarm/n of it (Bonferroni), whatever they have
// to do with each other.
const falseAlarm = 0.01

// judged is a claim with its results.
type judged struct {
	Claim
	results []result
}

// limit returns the chance below which two rates disagree.
func limit(all []judged) float64 {
	n := 0
	for _, c := range all {
		for _, r := range c.results {
			for _, f := range r.Found {
				if !f.Exact {
					n++
				}
			}
		}
	}
	return falseAlarm / float64(max(n, 1))
}

// agrees reports whether a figure agrees with the committed one.
func (c comparison) agrees(limit float64) bool {
	if c.Exact {
		return c.Chance == 1
	}
	return c.Chance >= limit
}

// disagreements lists the figures that disagree.
func disagreements(all []judged) (list []string) {
	limit := limit(all)
	for _, c := range all {
		for _, r := range c.results {
			for _, f := range r.Found {
				if !f.agrees(limit) {
					list = append(list, fmt.Sprintf("%s: %s: committed %s, recomputed %s (probability by chance %.2g)", c.Name, f.Of, f.Committed, f.Again, f.Chance))
				}
			}
		}
	}
	return list
}

// paperPage returns the page of a recomputation.
func paperPage(all []judged, made string) string {
	var b strings.Builder
	limit := limit(all)
	exact, statistical, cpu := 0, 0, 0.0
	for _, c := range all {
		for _, r := range c.results {
			cpu += r.CPU
			for _, f := range r.Found {
				if f.Exact {
					exact++
				} else {
					statistical++
				}
			}
		}
	}
	fmt.Fprintf(&b, `# The figures, recomputed

Made by `+"`make paper`"+` with %s. [claims.yaml](claims.yaml) lists every claim with a figure, the texts of the pages that show it, and the command below; [artifact.md](../artifact.md) explains the procedure.

%s were recomputed in %s of processor time: %d exact ones, which have to be equal, and %d rates, from a tenth of the runs where nothing else is said, with other seeds. Two rates disagree if Fisher's exact test gives a difference as unlikely as theirs a probability below %.2g: %g divided by the number of rates. So the probability of one false alarm or more on this page is at most %g %%.

%s*Shown* is the exact figure that disagrees, if one does, or the rate whose difference is the least likely of all of its command, with that probability. *Seconds* are those of the clock, on a machine with other work; *CPU* those of the processors.

| claim | figures | committed | recomputed | shown | agreement | seconds | CPU |
|---|---|---|---|---|---|---|---|
`, made, textfmt.Count(exact+statistical, "figure"), spell(cpu), exact, statistical, limit, falseAlarm, 100*falseAlarm, stoppedNote(all))
	writeRows(&b, all)
	writeDisagreements(&b, disagreements(all))
	b.WriteString("\n## Commands\n\nDIR and FILE are a directory and a file of the command's own. What makes the figures at full size stands behind.\n\n")
	writeCommands(&b, all)
	var claims []Claim
	for _, c := range all {
		claims = append(claims, c.Claim)
	}
	b.WriteString(withoutResults(claims))
	return b.String()
}

// writeRows writes a row for each command that was run.
func writeRows(b *strings.Builder, all []judged) {
	limit := limit(all)
	for _, c := range all {
		for _, r := range c.results {
			worst := leastLikely(r.Found)
			fmt.Fprintf(b, "| [%s](%s) | %d | %s | %s | %s | %s | %.0f | %.0f |\n", c.Claim.Claim, c.Evidence, len(r.Found), cell(worst.Committed), cell(worst.Again), cell(shown(worst)), verdict(r.Found, limit), r.Seconds, r.CPU)
		}
	}
}

// linesOf returns the lines that the page has of claims: rows and commands.
func linesOf(all []judged) string {
	var b strings.Builder
	writeRows(&b, all)
	writeCommands(&b, all)
	return b.String()
}

// stoppedNote says that something was not run, if so.
func stoppedNote(all []judged) string {
	for _, c := range all {
		if len(c.results) < len(c.Again) {
			return "It was stopped before its end: what is marked as not run [below](#commands) is missing.\n\n"
		}
	}
	return ""
}

func shown(c comparison) string {
	if c.Exact {
		return c.Of
	}
	return fmt.Sprintf("%s: %.2g", c.Of, c.Chance)
}

// leastLikely returns the comparison with the smallest chance.
func leastLikely(found []comparison) (worst comparison) {
	worst.Chance = math.Inf(1)
	for _, f := range found {
		if f.Chance < worst.Chance {
			worst = f
		}
	}
	return worst
}

func verdict(found []comparison, limit float64) string {
	n := 0
	for _, f := range found {
		if f.agrees(limit) {
			n++
		}
	}
	if n == len(found) {
		return "yes"
	}
	return fmt.Sprintf("**no**: %d of %d", n, len(found))
}

func writeDisagreements(b *strings.Builder, list []string) {
	if len(list) == 0 {
		return
	}
	b.WriteString("\n## Disagreements\n\n")
	for _, d := range list {
		fmt.Fprintf(b, "- %s\n", oneLine(d))
	}
}

// writeCommands lists what was run, and what was not.
func writeCommands(b *strings.Builder, all []judged) {
	for _, c := range all {
		for i, check := range c.Again {
			stopped := ""
			if i >= len(c.results) {
				stopped = " " + notRun
			}
			fmt.Fprintf(b, "%s%s\n", commandLine(c.Claim, check), stopped)
		}
	}
}

// notRun marks a command that was not run.
const notRun = "**Not run**, it was stopped before."

func commandLine(c Claim, check Check) string {
	return fmt.Sprintf("- [%s](%s): `%s` (%s).", c.Name, c.Evidence, check.Command, c.Made)
}

// withoutResults returns the end of the page, which needs no results: why something is not recomputed,
// and the texts of the pages. A test compares it with the claims, and "make bless" renews it: who
// changed a quoted figure would otherwise replace it on the whole page, in the results too.
func withoutResults(claims []Claim) string {
	var b strings.Builder
	b.WriteString(withoutHead + "| claim | made by | why not here |\n|---|---|---|\n")
	for _, c := range claims {
		if c.Without != "" {
			fmt.Fprintf(&b, "| [%s](%s) | %s | %s |\n", c.Claim, c.Evidence, c.Made, c.Without)
		}
	}
	b.WriteString("\n## What the pages say\n\n| claim | page | text |\n|---|---|---|\n")
	for _, c := range claims {
		for _, q := range c.Says {
			fmt.Fprintf(&b, "| [%s](%s) | [%s](%s) | `%s` |\n", c.Name, c.Evidence, path.Base(q.In), path.Join("..", "..", q.In), cell(q.Text))
		}
	}
	return b.String()
}

// withoutHead begins what withoutResults returns.
const withoutHead = "\n## Not recomputed\n\n"

// spell formats a time in minutes.
func spell(seconds float64) string { return fmt.Sprintf("%.0f minutes", math.Ceil(seconds/60)) }

// cell makes a text fit into a cell of a table.
func cell(text string) string { return strings.ReplaceAll(oneLine(text), "|", `\|`) }

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// evidenceTable returns the table of docs/evidence/README.md. A claim of which the page says that a
// command was not run is recomputed in part.
func evidenceTable(claims []Claim, page string) string {
	var b strings.Builder
	b.WriteString("| claim | evidence | made by | [recomputed](paper.md) |\n|---|---|---|---|\n")
	for _, c := range claims {
		again := "no"
		switch {
		case len(c.Again) > 0 && c.Without == "" && !c.stopped(page):
			again = "yes"
		case len(c.Again) > 0:
			again = "in part"
		}
		fmt.Fprintf(&b, "| %s | [%s](%s) | %s | %s |\n", c.Claim, c.Evidence, c.Evidence, c.Made, again)
	}
	return b.String()
}

// stopped reports whether the page says that a command of the claim was not run.
func (c Claim) stopped(page string) bool {
	return slices.ContainsFunc(c.Again, func(check Check) bool {
		return strings.Contains(page, commandLine(c, check)+" "+notRun)
	})
}
