package checker

import (
	"math/bits"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/timeline"
)

// Measurements are figures of one history, over all of its resources, or of many histories. Each
// topic has a file, measure_*.go, with its figures, the meter that takes them, and their texts.
//
// Durations are in nanoseconds on the ground clock. The tag runs says how the figure of many
// histories is computed: the sum, the max, or the median of another figure of the same topic
// ("median LongestOutage"; "median>0": of the values above 0). A figure without a tag is derived
// from others of its topic.
type Measurements struct {
	Work
	Acquiring
	Outages
	Vacancies
	Waits
	Deaths
	Rounds
	Queues
	UpdateLosses
	GrantLosses
	Orphans
	StaleWrites
	FaultCount
	Rejections
}

// meters take the measurements, in this order. Observers of series of tries come before the meter
// of waits, and observers of who holds or wants a resource come before the meter of outages, so
// that they see the state before an event.
var meters = []func(l *timeline.Timeline, d *demand) meter{
	newWorkMeter, newAcquiringMeter, newDeathMeter, newRoundMeter, newWaitMeter, newOutageMeter, newVacancyMeter,
	newQueueMeter, newUpdateMeter, newGrantMeter, newOrphanMeter, newStalenessMeter, newFaultMeter, newRejectionMeter,
}

// Derive computes the figures that follow from others.
func (m *Measurements) Derive() {
	m.each(func(t any) {
		if d, ok := t.(derived); ok {
			d.derive()
		}
	})
}

// Figures returns the measurements of a number of runs as text, topic by topic.
func (m Measurements) Figures(runs int) []Figure {
	var list []Figure
	m.each(func(t any) {
		for _, f := range t.(topic).figures(runs) {
			if n := len(list); n > 0 && f.Name == also && list[n-1].Name == also {
				list[n-1].Parts = append(list[n-1].Parts, f.Parts...)
			} else {
				list = append(list, f)
			}
		}
	})
	return list
}

// Columns returns the measurements by which locks are compared, topic by topic.
func (m Measurements) Columns() []Column {
	var list []Column
	m.each(func(t any) {
		if c, ok := t.(compared); ok {
			list = append(list, c.columns(&m)...)
		}
	})
	return list
}

func (m *Measurements) each(do func(topic any)) {
	v := reflect.ValueOf(m).Elem()
	for i := range v.NumField() {
		do(v.Field(i).Addr().Interface())
	}
}

// Unit is the unit of a measurement.
type Unit uint8

// The units of measurements.
const (
	Number      Unit = iota + 1 // of tries, grants, keys and so on
	Nanoseconds                 // on the ground clock
	Fraction                    // from 0 to 1
)

// NamedFigure is the name of a measurement in JSON and CSV, such as acquire_p99, and its unit.
type NamedFigure struct {
	Name  string
	Unit  Unit
	Index []int // of its field in [Measurements]
}

// Of returns the figure of some measurements.
func (f NamedFigure) Of(m Measurements) float64 {
	v := reflect.ValueOf(m).FieldByIndex(f.Index)
	if v.CanFloat() {
		return v.Float()
	}
	return float64(v.Int())
}

// NamedFigures lists the measurements that are numbers, in the order of [Measurements].
func NamedFigures() []NamedFigure { return namedFigures }

var namedFigures = readFigures(reflect.TypeFor[Measurements]())

func readFigures(t reflect.Type) (list []NamedFigure) {
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		unit := Number
		switch {
		case name == "" || name == "-":
			continue
		case f.Type == reflect.TypeFor[time.Duration]():
			unit = Nanoseconds
		case f.Type.Kind() == reflect.Float64:
			unit = Fraction
		case f.Type.Kind() != reflect.Int:
			continue
		}
		list = append(list, NamedFigure{name, unit, f.Index})
	}
	return list
}

// meter takes the measurements on one topic.
type meter interface {
	timeline.Observer
	// measure stores the measurements. It is called once, after everything else; end is the instant
	// of the last event.
	measure(m *Measurements, end history.Time)
}

// demand is who holds and who wants what, counted by validity. The meters share it.
type demand struct {
	shared    *shared // with the properties
	holds     timeline.PerHold[usage]
	resources timeline.PerResource[users]
	rows      timeline.PerClient[[]row]
}

// usage is what meters remember of a hold.
type usage struct {
	trying, holding bool  // it counts as tried, or as held
	before          int32 // the grants of the resource, as of the call
	joined          int32 // the number of the round that the try takes part in; 0: none
	woken           int32 // the number of grants when the try was woken last, and one
}

// users are how many holds of a resource count so.
type users struct{ holders, triers int }

func (d *demand) hold(h *timeline.Hold) *usage { return d.holds.Of(h) }

func (d *demand) resource(r *timeline.Resource) *users { return d.resources.Of(r) }

func (d *demand) stopTrying(h *timeline.Hold) {
	if u := d.hold(h); u.trying {
		u.trying = false
		d.resource(h.Resource).triers--
	}
}

// alongside reports whether the client has another try for the resource in progress.
func (d *demand) alongside(h *timeline.Hold) bool {
	return slices.ContainsFunc(h.Client.Holds, func(o *timeline.Hold) bool { return o != h && o.Resource == h.Resource && d.hold(o).trying })
}

// row returns the client's series of tries for the resource, or nil.
func (d *demand) row(c *timeline.Client, r *timeline.Resource) *row {
	rows := *d.rows.Of(c)
	for i := range rows {
		if rows[i].resource == r {
			return &rows[i]
		}
	}
	return nil
}

// endRow removes a series, if there is one. The order of series has no meaning.
func (d *demand) endRow(c *timeline.Client, r *timeline.Resource) {
	w := d.row(c, r)
	if w == nil {
		return
	}
	rows := d.rows.Of(c)
	last := len(*rows) - 1
	*w = (*rows)[last]
	(*rows)[last] = row{}
	*rows = (*rows)[:last]
}

// Figure is a measurement as text, such as "longest wait: 1s, passed over by nobody".
type Figure struct {
	Name  string
	Parts []string
}

// Column is a measurement in a table that compares locks.
type Column struct {
	Head   string
	Cell   string
	Legend string // what a reader is told of the column, a line
}

// also is the name of the figure for what does not happen in most runs.
const also = "also"

// topic is the figures of one topic.
type topic interface {
	// figures returns them as text, for a number of runs. It omits what did not happen.
	figures(runs int) []Figure
}

// compared is implemented by topics with columns in the comparison of locks.
type compared interface {
	columns(m *Measurements) []Column
}

// derived is implemented by topics with figures that follow from others.
type derived interface{ derive() }

// shareOf returns k/n, or 0 of nothing.
func shareOf(k, n int) float64 {
	if n == 0 {
		return 0
	}
	return float64(k) / float64(n)
}

// histogram counts durations in buckets whose width is 1/32 of a power of two, like HdrHistogram:
// bounded memory, relative error.
type histogram struct {
	powers  [64]*[perPower]int // nil: none counted. Most histories have durations of a few powers.
	total   int
	longest time.Duration
}

const (
	powerBits = 5
	perPower  = 1 << powerBits
)

func (g *histogram) add(d time.Duration) {
	b := bucket(d)
	power := &g.powers[b/perPower]
	if *power == nil {
		*power = new([perPower]int)
	}
	(*power)[b%perPower]++
	g.total++
	g.longest = max(g.longest, d)
}

// bucket returns the bucket of a duration. Below perPower nanoseconds each duration has its own.
func bucket(d time.Duration) int {
	v := uint64(max(d, 0))
	if v < perPower {
		return int(v)
	}
	shift := bits.Len64(v) - powerBits - 1
	return (shift+1)*perPower + int(v>>shift) - perPower
}

// upper returns the longest duration of a bucket.
func upper(bucket int) time.Duration {
	if bucket < perPower {
		return time.Duration(bucket)
	}
	shift := bucket/perPower - 1
	return time.Duration((uint64(bucket%perPower)+perPower+1)<<shift - 1)
}

// quantile returns an upper bound of the shortest duration that a given number of a thousand do not
// exceed.
func (g *histogram) quantile(perMille int) time.Duration {
	rank := (g.total*perMille + 999) / 1000
	seen := 0
	for p, power := range g.powers {
		if power == nil {
			continue
		}
		for b, n := range power {
			if seen += n; n > 0 && seen >= rank {
				return min(upper(p*perPower+b), g.longest)
			}
		}
	}
	return 0
}

// row is a series of refused tries. It begins with the first refusal; a single try needs only its
// hold.
type row struct {
	resource *timeline.Resource
	since    history.Time // the first call
	last     history.Time // the last return
	grants   int32        // that the resource had seen at the first call
	tries    int          // that were refused
}
