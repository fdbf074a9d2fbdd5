package tune

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/internal/textfmt"
)

// refusal says why no setting meets the goals.
func (m *model) refusal(w Wanted, all []Weighed) string {
	whole := textfmt.Whole
	limit := "longest_ttl is " + whole(m.longestTTL())
	if m.TTL > 0 {
		limit = "ttl is " + whole(m.TTL)
	}
	if len(all) == 0 {
		return fmt.Sprintf("no TTL leaves any validity (%s) with clock errors of %d ppm, steps of %v and a node timeout of %v", limit, m.Clocks.RatePPM, whole(m.Clocks.LargestStep), m.timeouts()[0])
	}
	best := func(of func(Weighed) float64) Weighed {
		return slices.MinFunc(all, func(a, b Weighed) int { return cmp.Or(cmp.Compare(of(a), of(b)), cmp.Compare(b.TTL, a.TTL)) })
	}
	late := best(func(s Weighed) float64 { return s.Late })
	there := best(func(s Weighed) float64 { return -s.Availability })
	quick := best(func(s Weighed) float64 { return float64(s.AcquireP99) })
	var blocked []string // by what
	if m.Crashes.NodeEvery > 0 {
		blocked = append(blocked, fmt.Sprintf("a crashed node stays away for %v", whole(there.RestartDelay)))
	}
	if m.Crashes.ClientEvery > 0 {
		blocked = append(blocked, fmt.Sprintf("a dead holder blocks the lock for %v", textfmt.Duration(there.BlockedByDead)))
	}
	why := map[string]string{
		wishHold:         fmt.Sprintf("holds of %v outlive their leases too often with every setting, a share of up to %.2g with a TTL of %v (%s).", m.Hold, late.Late, whole(late.TTL), limit),
		wishViolations:   fmt.Sprintf("the lowest upper bound is %.3g, with a TTL of %v (%s): pauses exceed the time left for them, or extensions fail. A resource that checks fences (fence_checked) would reject such writes.", late.PerBillion(), whole(late.TTL), limit),
		wishAvailability: fmt.Sprintf("a share of %.2g of the time may be lost. The least is %.2g, with a TTL of %v: %s.", 1-w.Availability, 1-there.Availability, whole(there.TTL), textfmt.List(blocked)),
		wishAcquire:      fmt.Sprintf("%v is wanted. The least in scouting runs was %v, with retries after %v to %v.", w.AcquireP99, textfmt.Duration(quick.AcquireP99), quick.RetryMin, quick.RetryMax),
	}
	var reasons []string
	for _, wish := range []string{wishHold, wishViolations, wishAvailability, wishAcquire} {
		if !slices.ContainsFunc(all, func(one Weighed) bool { return !slices.Contains(w.missed(one.Figures, noHeadroom), wish) }) {
			reasons = append(reasons, wish+": "+why[wish])
		}
	}
	if len(reasons) > 0 {
		return strings.Join(reasons, "\n")
	}
	closest := best(func(s Weighed) float64 { return float64(len(w.missed(s.Figures, noHeadroom))) })
	return fmt.Sprintf("each goal can be met by itself, but not all at once: a TTL of %v misses only %s (violations per 10⁹ grants %.3g, availability %s, acquire p99 %v)",
		whole(closest.TTL), strings.Join(w.missed(closest.Figures, noHeadroom), ", "), closest.PerBillion(), m.ShownAvailability(closest.Figures), textfmt.Duration(closest.AcquireP99))
}

// Basis says what one figure of an advice rests on.
type Basis struct {
	Figure string `json:"figure"`
	Value  string `json:"value"`
	Rests  string `json:"rests_on"`

	// Sure says how sure it is: exact follows from the known facts by a formula, modelled from a model of
	// them; measured is measured in the simulator; chosen is a rule of thumb, and a wrong one violates nothing.
	Sure string `json:"how_sure"`

	How string `json:"how"` // how it was found
}

// basis says what each figure rests on.
func (m *model) basis(want Wanted, w Weighed, v Validation) []Basis {
	const exact, modelled, measured, chosen = "exact", "modelled", "measured", "chosen"
	s, short, whole := w.Setting, textfmt.Duration, textfmt.Whole
	trips, quorum := "round trips take "+m.slowest.String(), "the round trip of the node that completes the quorum"
	if len(m.zones) > 1 {
		trips = "the zones' round trips are as stated"
		for i, z := range m.zones {
			quorum += fmt.Sprintf("; the loss of zone %d leaves %s", i+1, textfmt.Count(m.Nodes-z.Nodes, "node"))
			if m.Nodes-z.Nodes < m.quorum() {
				quorum += ", and no quorum"
			} else {
				p50, p99 := m.quorumWithout(i)
				quorum += fmt.Sprintf(", and a quorum in %v (p50) to %v (p99)", short(p50), short(p99))
			}
		}
	}
	clocks := fmt.Sprintf("clock rates are within %d ppm", m.Clocks.RatePPM)
	if m.Clocks == (Clocks{}) {
		clocks = "all clocks are right, because no clocks are stated: rates are within 0 ppm"
	}
	if m.Clocks.LargestStep > 0 {
		clocks += fmt.Sprintf(", and the steps of a node's wall clock within %v while a key lives", whole(m.Clocks.LargestStep))
	} else {
		clocks += ", and no wall clock of a node is stepped"
	}
	holds := fmt.Sprintf("holds take %v", m.Hold)
	for _, p := range m.Pauses {
		holds += fmt.Sprintf("; each client pauses every %v, for %v", whole(p.Every), p.Length)
	}
	ttl, extension := Basis{How: "the shortest of those weighed that meets the goals"}, Basis{Value: "none", Sure: chosen, How: "holds fit into the validity"}
	if want.ViolationsPerBillion == nil {
		ttl.How = "no goal for violations is stated: the shortest of those weighed that covers 99 % of the holds"
	}
	long, because := m.tooLong(s), ""
	if long > 0 {
		extension.How = fmt.Sprintf("a share of %.2g of the holds is longer than the validity, and late", long)
		because = fmt.Sprintf(" work that is longer than the validity %.2g, of", 1e9*long)
	}
	extension.How += "; without extensions nothing has to run in the background"
	switch {
	case s.ExtendEvery == 0 && !m.NoExtension:
		ttl.How += " without an extension"
	case s.ExtendEvery > 0:
		ttl.How += " with an extension; without, none does"
		extension = Basis{Value: fmt.Sprintf("every %v, up to the longest useful hold", whole(s.ExtendEvery)), Sure: modelled,
			How: fmt.Sprintf("%d in a row may fail; pauses of %v between two extensions do no harm", s.spareExtensions(), short(s.slack()))}
	}
	if m.TTL > 0 {
		ttl.How = "given"
	}
	needed := m.Clocks.NeededAllowance(s.TTL)
	allowance := fmt.Sprintf("the allowance is TTL × drift factor + 2 ms; clocks as stated need at least %v", short(needed))
	if float64(needed) < leastDrift*float64(s.TTL) {
		allowance += fmt.Sprintf(", but a drift factor of %g costs little and covers clocks that are worse than stated", leastDrift)
	}
	late := fmt.Sprintf("a share of %.2g of the slowest node's replies comes later", m.slowest.above(s.NodeTimeout))
	switch {
	case m.slowest.above(s.NodeTimeout) > 0:
	case m.slowest.maxStated:
		late = "no reply comes later"
	default:
		n := len(m.slowest.Samples)
		late = fmt.Sprintf("none of %s took longer, which leaves a share of up to %.2g of the replies open", textfmt.Count(n, "sample"), min(1, 3/float64(n)))
	}
	delay := fmt.Sprintf("counted from the crash (docs/tune.md shows how with systemd); at least %v are needed, or a quarantine of the TTL; TTL × (1 + clock rate error) + largest step is simpler and a little longer", short(m.Clocks.NeededRestartDelay(s.TTL, s.Allowance())))
	if !m.forgets() {
		delay = "a node syncs each key before it acknowledges it, so it may return at once, unless its disk loses synced data or somebody restores an old file"
	}
	p99 := Basis{Value: short(w.AcquireP99), How: "of the scouting runs, with shortened holds"}
	if v.Grants > 0 {
		p99 = Basis{Value: fmt.Sprintf("%v, from %v to %v", short(v.AcquireP99), short(v.AcquireP99Min), short(v.AcquireP99Max)),
			How: fmt.Sprintf("95 %% interval of %s to %s", textfmt.Count(v.Grants, "grant"), textfmt.Count(min(m.Contention.Clients, maxClients), "client"))}
		if v.Grants < 368 { // 0.99³⁶⁸, the probability that all are below the 99th percentile, is 2.5 %
			p99.How += ", too few for an upper end: it is the longest wait seen"
		}
	}
	there := m.ShownAvailability(w.Figures)
	if there == unknown {
		there += ": no crashes were stated"
	}
	violations := Basis{Value: fmt.Sprintf("at most %.3g", max(w.PerBillion(), 1e9*noise)), Sure: modelled, How: fmt.Sprintf("every late holder meets another client; late because of%s pauses %.2g, of failed extensions %.2g in 10⁹", because, 1e9*(m.lateHolder(s)-long), 1e9*m.lostExtensions(s))}
	if w.PerBillion() < 1e9*noise {
		violations.How += fmt.Sprintf("; the model resolves nothing below %.3g", 1e9*noise)
	}
	switch {
	case m.FenceChecked:
		violations = Basis{Value: "0", Sure: exact, How: "the resource rejects late reads and writes, if fences never go back"}
	case len(m.Pauses) == 0:
		violations.Value, violations.How = unknown+": any number", "nothing is known about pauses"
	}
	return []Basis{
		{"TTL", fmt.Sprintf("%v (validity %v)", whole(s.TTL), short(s.Validity())), holds, modelled,
			fmt.Sprintf("%s; a dead holder blocks the others for up to %v", ttl.How, short(w.BlockedByDead))},
		{"drift factor", fmt.Sprintf("%g (allowance %v)", s.DriftFactor, short(s.Allowance())), clocks, exact,
			allowance},
		{"node timeout", s.NodeTimeout.String(), trips, modelled,
			late + "; a wrong timeout costs time, never exclusion"},
		{"quorum", fmt.Sprintf("%d of %s, in %v (p50) to %v (p99)", m.quorum(), textfmt.Count(m.Nodes, "node"), short(m.quorumTrip(0.5)), short(m.quorumTrip(0.99))), trips + "; those of different nodes are independent", modelled, quorum},
		{"retry delay", fmt.Sprintf("%v to %v, random", s.RetryMin, s.RetryMax), "the number of clients, their holds and the time between holds are as stated", measured,
			"the longest that meets the goals in scouting runs"},
		{"extension", extension.Value, holds, extension.Sure, extension.How},
		{"restart delay", whole(s.RestartDelay), fmt.Sprintf("%s; no extension asks for more than the TTL; the persistence of nodes is %s", clocks, m.Crashes.Persistence), exact, delay},
		{"acquire p99", p99.Value, trips, measured, "from when the lock is wanted and free; " + p99.How},
		{"availability", there, crashes("node", m.Crashes.NodeEvery) + ", and " + crashes("client", m.Crashes.ClientEvery), modelled,
			"crashes are independent, and nodes return after the restart delay: crashes of several at once and longer repairs are not included"},
		{"violations per 10⁹ grants", violations.Value, holds + "; the resource replies as fast as the node that completes the quorum", violations.Sure, violations.How},
	}
}

const unknown = "unknown"

// ShownAvailability prints an availability, which is unknown if no crashes are stated.
func (k Known) ShownAvailability(f Figures) string {
	if k.Crashes.NodeEvery+k.Crashes.ClientEvery == 0 {
		return unknown
	}
	return fmt.Sprintf("%.6f", f.Availability)
}

// crashes says how often machines of a kind crash.
func crashes(kind string, every time.Duration) string {
	if every == 0 {
		return "no " + kind + " crashes"
	}
	return fmt.Sprintf("each %s crashes every %v", kind, textfmt.Whole(every))
}

// twoDigits prints a number to two digits, as in 0.043, 4.3 and 430,000.
func twoDigits(x float64) string {
	if x < 10 {
		return fmt.Sprintf("%.2g", x)
	}
	rounded, _ := strconv.ParseFloat(fmt.Sprintf("%.1e", x), 64)
	return textfmt.Grouped(int(rounded))
}

const farRarer = 1000 // times, at which a longer TTL is named

// fencing answers whether the lock needs fences. all has the weighed settings, front those of the advice.
func (m *model) fencing(want Wanted, w Weighed, all, front []Weighed) string {
	costs := fmt.Sprintf("A fence costs a number beside each guarded value and a comparison in each read and write; if the nodes draw it, also two round trips of the quorum a grant, %v at p99.", textfmt.Duration(2*m.quorumTrip(0.99)))
	if len(m.Pauses) == 0 {
		return "Yes, unless a double write does no lasting harm. No pauses are stated, and whatever the TTL, a holder that stands still for longer writes after it: without a fence this is a lock to save work. " + costs
	}
	each := m.hold + float64(m.pace.quantile(0.5)) // grants a second, at most:
	rate := float64(time.Second) * min(1/each, float64(m.Contention.Clients)/(each+m.think))
	often := func(late float64) string {
		yearly, rarer := max(late, noise)*rate*365.25*86400, ""
		if late < noise {
			rarer = "less than "
		}
		if yearly < 1 {
			return fmt.Sprintf("%sone late holder in %s years", rarer, twoDigits(1/yearly))
		}
		return fmt.Sprintf("%s late holders a year", twoDigits(yearly))
	}
	late := fmt.Sprintf("A share of at most %.2g of the holders works on after the validity. With %s grants a second, the most for these clients, that is %s", max(w.Late, noise), twoDigits(rate), often(w.Late))
	if m.FenceChecked {
		return fmt.Sprintf("You have it: late holders do no harm, only their work is wasted. %s. Without a fence each might overwrite what the next holder wrote. %s", late, costs)
	}
	fenced := slices.Clone(all)
	for i := range fenced {
		fenced[i].Violations = 0
	}
	if other := want.ranked(fenced)[0]; other.TTL < w.TTL && (other.ExtendEvery == 0) == (w.ExtendEvery == 0) {
		costs += fmt.Sprintf(" With fences a TTL of %v would do, so that a dead holder blocks the others for %v, not %v.", textfmt.Whole(other.TTL), textfmt.Duration(other.BlockedByDead), textfmt.Duration(w.BlockedByDead))
	}
	answer := "Yes, if a late write costs more than a fence"
	if want.ViolationsPerBillion == nil {
		safer := want.ranked(slices.DeleteFunc(slices.Clone(front), func(o Weighed) bool {
			return o.TTL <= w.TTL || o.ExtendEvery != w.ExtendEvery && w.ExtendEvery == 0 || max(o.Late, noise)*farRarer > w.Late
		}))
		if len(safer) > 0 {
			costs += fmt.Sprintf(" Without a fence, a TTL of %v makes it %s; a dead holder then blocks the others for %v. State want.violations_per_billion to have the TTL chosen for that.", textfmt.Whole(safer[0].TTL), often(safer[0].Late), textfmt.Duration(safer[0].BlockedByDead))
		}
	} else {
		goal := fmt.Sprintf("%g violations", *want.ViolationsPerBillion)
		if *want.ViolationsPerBillion == 1 {
			goal = "1 violation"
		}
		answer = fmt.Sprintf("Not for your goal of %s in 10⁹ grants, if pauses are as stated. A holder that pauses for longer can still write after its validity, as under any lock with a time limit (docs/which-lock.md)", goal)
	}
	return fmt.Sprintf("%s. %s. Such a holder may overwrite what the next one wrote; a fence rejects that. %s", answer, late, costs)
}
