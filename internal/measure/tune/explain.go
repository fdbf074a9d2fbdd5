package tune

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/internal/textfmt"
	"github.com/lockstorm/lockstorm/nemesis"
)

// refusal says why no setting meets the wishes.
func (m *model) refusal(w Wanted, all []Weighed) string {
	if len(all) == 0 {
		which := fmt.Sprintf("no TTL up to %v leaves any validity", m.longestTTL())
		if m.TTL > 0 {
			which = fmt.Sprintf("a TTL of %v leaves no validity", m.TTL)
		}
		return fmt.Sprintf("%s with clock errors of %d ppm, steps of %v and a node timeout of %v", which, m.Clocks.RatePPM, m.Clocks.LargestStep, m.timeouts()[0])
	}
	var reasons []string
	for _, wish := range []string{wishHold, wishViolations, wishAvailability, wishAcquire} {
		never := !slices.ContainsFunc(all, func(one Weighed) bool {
			return !slices.Contains(w.missed(one.Figures, noHeadroom), wish)
		})
		if never {
			reasons = append(reasons, wish+": "+m.whyUnmet(wish, w, all))
		}
	}
	if len(reasons) > 0 {
		return strings.Join(reasons, "; ")
	}
	closest := slices.MinFunc(all, func(a, b Weighed) int {
		return len(w.missed(a.Figures, noHeadroom)) - len(w.missed(b.Figures, noHeadroom))
	})
	return fmt.Sprintf("each wish can be met by itself, but not all at once: a TTL of %v misses only %s (violations per 10⁹ grants %.3g, availability %.6f, acquire p99 %v)",
		closest.TTL, strings.Join(w.missed(closest.Figures, noHeadroom), ", "), closest.Risk.PerBillion(), closest.Availability, textfmt.Duration(closest.AcquireP99))
}

// whyUnmet says why no setting meets one wish.
func (m *model) whyUnmet(wish string, w Wanted, all []Weighed) string {
	best := func(of func(Weighed) float64) Weighed {
		return slices.MinFunc(all, func(a, b Weighed) int {
			switch {
			case of(a) < of(b):
				return -1
			case of(a) > of(b):
				return 1
			}
			return 0
		})
	}
	switch wish {
	case wishAvailability:
		b := best(func(s Weighed) float64 { return -s.Availability })
		return fmt.Sprintf("%g is wanted, so that %.2g of the time may be lost. The least is %.2g, with a TTL of %v: nodes stay away for %v, and dead holders block the lock", w.Availability, 1-w.Availability, 1-b.Availability, b.TTL, b.RestartDelay)
	case wishAcquire:
		b := best(func(s Weighed) float64 { return float64(s.AcquireP99) })
		return fmt.Sprintf("%v is wanted, and the least in scouting runs was %v, with retries after %v to %v", w.AcquireP99, textfmt.Duration(b.AcquireP99), b.RetryMin, b.RetryMax)
	case wishHold:
		b := best(func(s Weighed) float64 { return s.Late })
		return fmt.Sprintf("holds of up to %v, with pauses, outlive their leases too often with every setting: a share of up to %.2g with a TTL of %v, and %s", longest(m.Hold), b.Late, b.TTL, m.ttlLimit())
	}
	b := best(func(s Weighed) float64 { return s.Risk.Total() })
	return fmt.Sprintf("%g are wanted at most, and the lowest upper bound is %.3g, with a TTL of %v%s: %s%s. %s", *w.ViolationsPerBillion, b.Risk.PerBillion(), b.TTL, extended(b.Setting), m.mainCause(b), m.longerAway(w, all), remedy)
}

// ttlLimit names the field that limits the TTL.
func (k Known) ttlLimit() string {
	if k.TTL > 0 {
		return "ttl fixes it"
	}
	return fmt.Sprintf("longest_ttl is %v", k.longestTTL())
}

// longerAway names a TTL that would do if nodes stayed away long enough.
func (m *model) longerAway(w Wanted, all []Weighed) string {
	for _, one := range all {
		if r := one.Risk; r.Restarts > 0 && 1e9*(r.Pauses+r.Extensions) <= *w.ViolationsPerBillion {
			return fmt.Sprintf("; a TTL of %v%s would do if nodes without their keys stayed away for %v, not %v",
				one.TTL, extended(one.Setting), textfmt.Duration(m.Clocks.NeededRestartDelay(one.TTL, one.Allowance())), one.RestartDelay)
		}
	}
	return ""
}

const remedy = "A resource that checks fences (fence_checked) would reject such writes"

func extended(s Setting) string {
	if s.ExtendEvery == 0 {
		return ""
	}
	return fmt.Sprintf(" that is extended every %v", s.ExtendEvery)
}

// mainCause names the largest part of a risk.
func (m *model) mainCause(w Weighed) string {
	r := w.Risk
	switch largest := max(r.Pauses, r.Extensions, r.Restarts); {
	case largest == r.Restarts:
		return fmt.Sprintf("nodes come back without their keys after %v, which is too early for any TTL that is long enough for the work (this one needs %v)",
			w.RestartDelay, m.Clocks.NeededRestartDelay(w.TTL, w.Allowance()))
	case largest == r.Extensions:
		return "extensions fail because of round trips beyond the node timeout, or because a majority of the nodes is down"
	}
	if p := m.Pauses.Length; p != nil && len(p.Samples) > 0 {
		limit := "with a stated max of " + p.Max.String()
		if p.Range == (nemesis.Range{}) {
			limit = "without a stated max (pauses.length.max)"
		}
		return fmt.Sprintf("%d samples of pauses %s cannot exclude longer ones with a share below %.2g", len(p.Samples), limit, 3/float64(len(p.Samples)))
	}
	if m.Pauses.Bound != nil {
		return fmt.Sprintf("a hold with its pauses of up to %v does not fit", *m.Pauses.Bound)
	}
	return fmt.Sprintf("pauses and holds exceed the %v that are left for them too often", w.slack(time.Duration(m.hold)).Round(time.Millisecond))
}

// Basis says what one figure of an advice rests on.
type Basis struct {
	Figure string    `json:"figure"`
	Value  string    `json:"value"`
	Rests  string    `json:"rests_on"`
	Sure   Certainty `json:"how_sure"`
	How    string    `json:"how"` // how it was found or confirmed
}

// Certainty says how sure a figure is.
type Certainty string

// The degrees of certainty.
const (
	Exact    Certainty = "exact"    // follows from the known facts by a formula
	Modelled Certainty = "modelled" // follows from a model of the known facts
	Measured Certainty = "measured" // measured in the simulator, with an interval
	Chosen   Certainty = "chosen"   // a rule of thumb: a wrong one violates nothing
)

// basis says what each figure rests on.
func (m *model) basis(w Weighed, v Validation) []Basis {
	s := w.Setting
	list := []Basis{
		m.ttlBasis(w),
		{"drift factor", fmt.Sprintf("%g (allowance %v)", s.DriftFactor, textfmt.Duration(s.Allowance())),
			fmt.Sprintf("clock rates within %d ppm; steps of a node's wall clock within %v while a key lives", m.Clocks.RatePPM, m.Clocks.LargestStep),
			Exact, fmt.Sprintf("%s; the allowance is the TTL × drift factor + 2 ms, and at least %v is needed", v.seen("edge"), textfmt.Duration(m.Clocks.NeededAllowance(s.TTL)))},
		{"node timeout", s.NodeTimeout.String(), m.tripBasis(), Modelled,
			fmt.Sprintf("a share of %.2g of the replies comes later; a wrong timeout costs time, never exclusion", above(m.RoundTrip, s.NodeTimeout))},
		{"retry delay", fmt.Sprintf("%v to %v, random", s.RetryMin, s.RetryMax), "the number of clients, their holds and the time between them", Measured,
			"the longest that meets the wish in scouting runs"},
		m.extensionBasis(s),
		m.restartBasis(w, v),
		{"acquire p99", v.p99Value(w), m.tripBasis() + "; from when the lock is wanted and free", Measured, v.p99Basis() + m.fewerClients()},
		{"availability", m.availabilityValue(w), m.crashBasis(), Modelled,
			"assumes that crashes are independent, and that nodes return after the restart delay: crashes of several nodes at once and longer repairs are not included" + m.evenNodes()},
		m.riskBasis(w, v),
	}
	return list
}

// fewGrants is the number of grants from which on the longest wait is an upper end at 97.5 %:
// the probability that n of them are all below the 99th percentile is 0.99ⁿ.
const fewGrants = 368

// p99Value is the p99 of the everyday trial, or that of the scouting runs.
func (v Validation) p99Value(w Weighed) string {
	if v.Grants == 0 {
		return textfmt.Duration(w.AcquireP99)
	}
	return fmt.Sprintf("%v, from %v to %v", textfmt.Duration(v.AcquireP99), textfmt.Duration(v.AcquireP99Min), textfmt.Duration(v.AcquireP99Max))
}

// p99Basis says how sure the p99 is.
func (v Validation) p99Basis() string {
	if v.Grants == 0 {
		return "of the scouting runs, with shortened holds"
	}
	text := fmt.Sprintf("95 %% interval of %d grants", v.Grants)
	if v.Grants < fewGrants {
		text += ", too few for an upper end: it is the longest wait seen"
	}
	return text
}

// seen says what a trial has shown, as in "edge: 0 of 300 runs violated it, so at most 1 %".
func (v Validation) seen(name string) string {
	for _, t := range v.Trials {
		if t.Name != name {
			continue
		}
		text := fmt.Sprintf("%s: %d of %d violated %s exclusion", t.Name, t.K, t.N, t.Property)
		if t.Open > 0 {
			text += fmt.Sprintf(" (%d runs without a verdict)", t.Open)
		}
		switch {
		case t.Control:
			return text + ", as they have to"
		case t.K == 0:
			return text + fmt.Sprintf(", at most %.2g at 95 %%", t.High)
		}
		return text + fmt.Sprintf(", %.2g to %.2g at 95 %%; the model predicts %.2g at most", t.Low, t.High, t.Predicted)
	}
	return name + ": not run"
}

func (m *model) ttlBasis(w Weighed) Basis {
	s, how := w.Setting, "the shortest that meets the wishes with an extension (none does without)"
	switch {
	case m.TTL > 0:
		how = "given"
	case s.ExtendEvery == 0:
		how = "the shortest that meets the wishes without an extension"
	}
	b := Basis{"TTL", fmt.Sprintf("%v (validity %v)", s.TTL, textfmt.Duration(s.Validity())), "holds of up to " + longest(m.Hold).String() + ", and " + m.pauseBasis(), Modelled,
		fmt.Sprintf("%s; a dead holder blocks the others for up to %v", how, textfmt.Duration(w.BlockedByDead))}
	if s.ExtendEvery == 0 {
		b.How = fmt.Sprintf("room for pauses beside the longest hold: %v; ", textfmt.Duration(s.slack(longest(m.Hold)))) + b.How
	}
	return b
}

func (m *model) extensionBasis(s Setting) Basis {
	if s.ExtendEvery == 0 {
		return Basis{"extension", "none", "holds of up to " + longest(m.Hold).String(), Chosen, "holds fit into the validity; without extensions nothing has to run in the background"}
	}
	return Basis{"extension", fmt.Sprintf("every %v, up to the longest useful hold", s.ExtendEvery), m.pauseBasis(), Modelled,
		fmt.Sprintf("%d in a row may fail; pauses of %v between two do no harm", s.spareExtensions(), textfmt.Duration(s.slack(0)))}
}

func (m *model) restartBasis(w Weighed, v Validation) Basis {
	s := w.Setting
	b := Basis{"restart delay", s.RestartDelay.String(), fmt.Sprintf("clock rates within %d ppm; no extension asks for more than the TTL; persistence %s", m.Clocks.RatePPM, m.persistence()),
		Exact, fmt.Sprintf("from the crash on; at least %v are needed, or a quarantine of the TTL; %s; %s", textfmt.Duration(m.Clocks.NeededRestartDelay(s.TTL, s.Allowance())), m.delayRule(), v.seenOfRestarts())}
	switch {
	case !m.forgets():
		b.Rests = "persistence aof-always: disks keep synced data, and nobody restores an old file"
		b.How = "no delay is needed: a node syncs each key before it acknowledges it, so it may return at once; " + v.seenOfRestarts()
	case m.earlyRestart(w.Setting) > 0:
		b.Sure, b.How = Modelled, fmt.Sprintf("given, and shorter than the required %v: an upper bound of %.2g per grant; %s",
			m.Clocks.NeededRestartDelay(s.TTL, s.Allowance()), w.Risk.Restarts, v.seen("restart"))
	}
	return b
}

// delayRule says where a restart delay that suffices comes from.
func (k Known) delayRule() string {
	if k.Crashes.RestartDelay != nil {
		return "this delay is given"
	}
	return "recommended is TTL × (1 + clock rate error) + largest step, rounded up, which is simpler and a little longer"
}

// seenOfRestarts says what the trials with restarts have shown.
func (v Validation) seenOfRestarts() string { return v.seen("restart") + "; " + v.seen("too early") }

func (m *model) riskBasis(w Weighed, v Validation) Basis {
	value := fmt.Sprintf("at most %.3g", w.Risk.PerBillion())
	if w.Risk.Total() == 0 && m.Pauses.Length != nil {
		value = fmt.Sprintf("less than %.3g", 1e9*noise)
	}
	b := Basis{"violations per 10⁹ grants", value, m.pauseBasis() + "; a resource that replies as fast as a node", Modelled,
		fmt.Sprintf("upper bounds: late holders %.2g, extensions %.2g, restarts %.2g; %s; %s", 1e9*w.Risk.Pauses, 1e9*w.Risk.Extensions, 1e9*w.Risk.Restarts, v.seen("everyday"), v.seen("slips"))}
	if late := v.LateHolders; late != nil {
		b.How += "; " + late.Agreement()
	}
	if m.Crashes.NodeEvery == 0 && m.forgets() {
		b.Rests += "; no crash rate of nodes was stated: whenever a node crashes, it stays away for the restart delay"
	}
	switch {
	case m.FenceChecked:
		vain := fmt.Sprintf("a share of at most %.2g of the holds is wasted", w.Late)
		if m.Pauses.Unbounded {
			vain = "without a bound of pauses the share of wasted holds is unknown"
		}
		b.Value, b.Rests = "0", "the resource checks fences on reads and writes, and fences never go back"
		b.Sure, b.How = Exact, fmt.Sprintf("leases may still fail: %s; %s", vain, v.seen("slips"))
	case m.Pauses.Unbounded:
		b.Value = "unknown: any number"
		b.How = "a holder that is paused for longer than its lease writes after it, with every setting: it is a lock to save work, not for correctness. Bound the pauses, or have the resource check fences (fence_checked)"
	}
	return b
}

func (m *model) pauseBasis() string {
	switch p := m.Pauses; {
	case p.Unbounded:
		return "pauses of any length"
	case p.Bound != nil:
		return fmt.Sprintf("pauses of at most %v per hold", *p.Bound)
	default:
		return fmt.Sprintf("a pause every %v, %s, independent of each other", p.Every, describe(*p.Length))
	}
}

// fewerClients says so if runs have fewer clients than stated.
func (m *model) fewerClients() string {
	if m.Contention.Clients <= maxClients {
		return ""
	}
	return fmt.Sprintf(", with %d clients, the most in a run: %d of them may wait longer", maxClients, m.Contention.Clients)
}

func (m *model) tripBasis() string { return "round trips of " + describe(m.RoundTrip) }

// availabilityValue is the share, or "unknown" if no crashes were stated.
func (m *model) availabilityValue(w Weighed) string {
	if m.Crashes.NodeEvery == 0 && m.Crashes.ClientEvery == 0 {
		return "unknown: no crashes were stated"
	}
	return fmt.Sprintf("%.6f", w.Availability)
}

// evenNodes says so if fewer nodes would tolerate as many failures.
func (m *model) evenNodes() string {
	if m.Nodes%2 != 0 || m.Nodes < 2 {
		return ""
	}
	return fmt.Sprintf(". %d nodes tolerate %d that are down; so do %d", m.Nodes, m.spare(), m.Nodes-1)
}

func (m *model) crashBasis() string {
	c := m.Crashes
	every := func(what string, d time.Duration) string {
		if d == 0 {
			return "no crash of " + what
		}
		return fmt.Sprintf("a crash of %s every %v", what, d)
	}
	if c.NodeEvery == 0 && c.ClientEvery == 0 {
		return "no crashes were stated"
	}
	return every("a node", c.NodeEvery) + ", " + every("a client", c.ClientEvery)
}

// describe describes a distribution. Samples without a stated range are described by theirs.
func describe(d nemesis.Distribution) string {
	if len(d.Samples) > 0 && d.Range == (nemesis.Range{}) {
		return fmt.Sprintf("%v to %v (%d samples of now; events rarer than 3 in as many are not shown)", textfmt.Duration(quantile(d, 0)), textfmt.Duration(longest(d)), len(d.Samples))
	}
	return d.String()
}
