package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/lockstorm/lockstorm/storm"
)

// printMeasured prints a short block of measurements: of what did not happen, no
// line.
func printMeasured(out io.Writer, a *storm.Aggregate) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(w)
	for _, line := range measured(a) {
		_, _ = fmt.Fprintf(w, "%s\t%s\n", line.name, strings.Join(line.parts, ", "))
	}
	_ = w.Flush()
}

// inWords makes one sentence of measurements.
func inWords(figures []figure) string {
	parts := make([]string, len(figures))
	for i, f := range figures {
		parts[i] = f.name + " " + strings.Join(f.parts, ", ")
	}
	return strings.Join(parts, "; ")
}

// figure is one line of measurements.
type figure struct {
	name  string
	parts []string
}

func measured(a *storm.Aggregate) []figure {
	m := a.All()
	lines := []figure{{"grants", []string{fmt.Sprintf("%d in %d tries", m.Grants, m.Tries)}}}
	if m.Grants > 0 {
		lines[0].parts = append(lines[0].parts, ratio(m.Tries, m.Grants, "tries a grant"), ratio(m.Requests, m.Grants, "requests a grant"))
		lines = append(lines, figure{"time to acquire", []string{
			"p50 " + short(m.AcquireP50), "p99 " + short(m.AcquireP99), "p99.9 " + short(m.AcquireP999), "longest " + short(m.AcquireMax),
		}})
	}
	if m.Wanted > 0 {
		outage := "longest outage " + short(m.LongestOutage)
		if a.Runs() > 1 {
			outage += " (median of runs " + short(a.MedianOutage()) + ")"
		}
		lines = append(lines, figure{"availability", []string{fmt.Sprintf("%.2f %%", 100*m.Availability), outage}})
	}
	if m.LongestWait > 0 {
		lines = append(lines, figure{"longest wait", []string{short(m.LongestWait), passedOver(m.MostPassedOver)}})
	}
	if m.HolderDeaths > 0 {
		died := figure{"holder's death", []string{fmt.Sprintf("%d of %d followed by a grant", m.GrantsAfterDeath, m.HolderDeaths)}}
		if m.GrantsAfterDeath > 0 {
			died.parts = append(died.parts, "within "+short(m.NextGrantAfterDeath))
		}
		lines = append(lines, died)
	}
	return append(lines, rarities(a)...)
}

// rarities are the measurements that are 0 in most runs.
func rarities(a *storm.Aggregate) []figure {
	m := a.All()
	var lines []figure
	if m.SplitRounds > 0 {
		split := []string{fmt.Sprint(m.SplitRounds)}
		if m.RoundsToFirstGrant > 0 {
			split = append(split, fmt.Sprintf("first grant with try %d at the latest", m.RoundsToFirstGrant))
			if a.Runs() > 1 {
				split = append(split, fmt.Sprintf("median of runs %d", a.MedianRounds()))
			}
		}
		lines = append(lines, figure{"split votes", split})
	}
	if m.Woken > 0 {
		lines = append(lines, figure{"woken", []string{count(m.Woken, "time"), fmt.Sprintf("at most %s between two grants", count(m.Herd, "client"))}})
	}
	var also []string
	for _, c := range []struct {
		n    int
		what string
	}{
		{m.OrphanKeys, "orphan key"},
		{m.StaleApplies, "stale write"},
		{m.Rejected, "rejected access"},
		{m.WronglyRejected, "wrongly rejected access"},
	} {
		if c.n > 0 {
			also = append(also, count(c.n, c.what))
		}
	}
	if len(also) > 0 {
		lines = append(lines, figure{"also", also})
	}
	return lines
}

func passedOver(times int) string {
	if times == 0 {
		return "passed over by nobody"
	}
	return fmt.Sprintf("passed over by up to %s", count(times, "grant"))
}

func ratio(n, of int, what string) string {
	return fmt.Sprintf("%.3g %s", float64(n)/float64(of), what)
}

// short prints a duration to three digits or so.
func short(d time.Duration) string {
	for unit := time.Second; unit > 1; unit /= 10 {
		if d >= 100*unit {
			return d.Round(unit).String()
		}
	}
	return d.String()
}
