package checker_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// census counts what the random histories contain, so that a law is known to have been
// tried on every kind of window.
type census struct {
	all  int
	with map[trait]int
}

type trait string

const (
	interrupted       trait = "extended after the lapse, and another held it in between"
	hardlyInterrupted trait = "extended after the lapse, and another had nothing left of it in between"
)

// traits are how many of a hundred histories have to have what.
var traits = []struct {
	trait   trait
	percent float64
}{
	{"lease exclusion broken", 10},
	{"lease exclusion kept", 10},
	{"section exclusion broken", 10},
	{"ended by release", 5},
	{"ended by lapse", 5},
	{"ended by loss", 5},
	{"ended by warning (V2)", 5},
	{"ended by death (V2)", 5},
	{"open at the end", 5},
	{"extended in time", 5},
	{"extended after the lapse", 5},
	{interrupted, 1},
	{hardlyInterrupted, 0.5},
	{"extension not granted", 5},
	{"extension unknown", 5},
	{"extension for less", 5},
	{"over before it began", 5},
	{"unknown outcome that acts", 5},
	{"unknown outcome that does not", 5},
	{"unknown outcome, of several acts not the first", 5},
	{"death in mid-call", 5},
	{"refused", 5},
	{"granted again to the owner", 5},
	{"release of unknown outcome", 5},
	{"windows that touch", 5},
	{"several resources", 5},
	{"several holds of a client", 5},
}

func (c *census) count(scripts []script, lease, section []referenceWindow, kept bool) {
	has := map[trait]bool{"lease exclusion kept": kept, "lease exclusion broken": !kept}
	has["section exclusion broken"] = len(sweep(section)) > 0
	for _, w := range lease {
		has["over before it began"] = has["over before it began"] || w.empty()
		has["open at the end"] = has["open at the end"] || w.open()
		if !w.empty() && !w.open() {
			has[trait("ended by "+w.by)] = true
		}
		has[interrupted] = has[interrupted] || len(w.interruptions(lease)) > 0
		has[hardlyInterrupted] = has[hardlyInterrupted] || w.late && slices.ContainsFunc(lease, func(v referenceWindow) bool {
			return v.empty() && v.hold != w.hold && v.resource == w.resource && v.from > w.over && v.from < w.from
		})
		has["windows that touch"] = has["windows that touch"] || !w.empty() &&
			slices.ContainsFunc(lease, func(v referenceWindow) bool { return v.hold != w.hold && v.resource == w.resource && v.from == w.end })
		has["several resources"] = has["several resources"] || w.resource != lease[0].resource
	}
	for _, w := range section {
		if !w.empty() && !w.open() {
			has[trait("ended by "+w.by+" (V2)")] = true
		}
	}
	for i := range scripts {
		s := &scripts[i]
		s.mark(has)
		has["several holds of a client"] = has["several holds of a client"] ||
			slices.ContainsFunc(scripts[:i], func(o script) bool { return o.client == s.client && max(o.grantedAt(), s.grantedAt()) < never })
	}
	c.add(has)
}

// mark notes what the script has.
func (s *script) mark(has map[trait]bool) {
	note := func(t trait, so bool) { has[t] = has[t] || so }
	note("refused", s.refused)
	note("unknown outcome that acts", s.ret == never && s.acted() < never)
	note("unknown outcome that does not", s.ret == never && s.acted() == never)
	note("unknown outcome, of several acts not the first", s.acted() < never && s.actsBefore(s.acted()))
	note("granted again to the owner", s.again != nil)
	note("death in mid-call", s.cutShort)
	note("release of unknown outcome", s.release < never && s.released == never)
	windows := s.leaseWindows()
	for _, e := range s.extends {
		switch {
		case e.call >= min(s.release, s.lost):
		case e.granted:
			anew := slices.ContainsFunc(windows, func(w referenceWindow) bool { return w.call == e.call && w.from == e.ret && s.call < e.call })
			note("extended after the lapse", anew)
			note("extended in time", !anew && slices.ContainsFunc(windows, func(w referenceWindow) bool { return w.from < e.ret && w.end > e.ret }))
		default:
			note("extension not granted", e.failed())
			note("extension unknown", !e.failed())
		}
		note("extension for less", e.less(s))
	}
}

// actsBefore reports whether there is an act that was called before then.
func (s *script) actsBefore(then int) bool {
	return slices.ContainsFunc(s.writes, func(w access) bool { return w.call < then }) ||
		s.ret == never && slices.ContainsFunc(s.extends, func(e extension) bool { return e.call < then })
}

// less reports whether the extension asked for less than the hold had.
func (e extension) less(s *script) bool {
	return s.ret < never && e.call < min(s.release, s.lost) && e.call < s.until && e.until < s.until && e == s.extends[0]
}

func (c *census) add(has map[trait]bool) {
	if c.with == nil {
		c.with = map[trait]int{}
	}
	c.all++
	for t, so := range has {
		if so {
			c.with[t]++
		}
	}
}

// check prints the shares, and fails if something is too rare.
func (c *census) check(t *testing.T) {
	t.Helper()
	var table strings.Builder
	for _, want := range traits {
		n := c.with[want.trait]
		fmt.Fprintf(&table, "\n%5.1f %% %s", 100*float64(n)/float64(c.all), want.trait)
		if share := 100 * float64(n) / float64(c.all); share < want.percent {
			t.Errorf("%d of %d histories have this: %q; want %v %%", n, c.all, want.trait, want.percent)
		}
	}
	t.Logf("of %d histories:%s", c.all, table.String())
}
