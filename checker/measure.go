package checker

import (
	"math/bits"
	"reflect"
	"time"

	"github.com/lockstorm/lockstorm/history"
)

// Measurements are figures of one history, over all of its resources, or of many
// histories. Each topic has a file of its own, measure_*.go, with its figures, the
// meter that takes them and the words in which they are told.
//
// Durations are on the ground clock, in nanoseconds. The tag runs says what the
// figure of many histories is: the sum of theirs, the max, or the median of another
// figure of the same topic ("median LongestOutage"; "median>0": of those that are
// not 0). A figure without a tag follows from the others of its topic.
type Measurements struct {
	Work
	Acquiring
	Outages
	Waits
	Deaths
	Rounds
	Queues
	Orphans
	StaleWrites
	FaultCount
	Rejections
}

// meters take the measurements, in this order. Whoever asks for rows of tries comes
// before the meter of waits, and whoever asks who holds a resource and who tries for
// it before that of outages: they see what was so before an event.
var meters = []func(h history.Header, l *state) meter{
	newWorkMeter, newAcquiringMeter, newDeathMeter, newRoundMeter, newWaitMeter, newOutageMeter,
	newQueueMeter, newOrphanMeter, newStalenessMeter, newFaultMeter, newRejectionMeter,
}

// meter takes the measurements on one topic.
type meter interface {
	observer
	// measure enters what was measured. It is called once, after everything else;
	// end is the instant of the last event.
	measure(m *Measurements, end history.Time)
}

// Figure is what a person is told of some measurements, as in "longest wait: 1s,
// passed over by nobody".
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

// also is the name of the figure of what does not happen in most runs.
const also = "also"

// topic is the figures on one topic.
type topic interface {
	// figures tells them, of so many runs. What did not happen is left out.
	figures(runs int) []Figure
}

// compared is implemented by topics that have columns where locks are compared.
type compared interface {
	columns(m *Measurements) []Column
}

// derived is implemented by topics in which one figure follows from others.
type derived interface{ derive() }

// Derive works out the figures that follow from others.
func (m *Measurements) Derive() {
	m.each(func(t any) {
		if d, ok := t.(derived); ok {
			d.derive()
		}
	})
}

// Figures tells the measurements of so many runs, topic after topic.
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

// Columns are the measurements by which locks are compared, topic after topic.
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

// histogram counts durations in buckets that are 1/32 of a power of two wide,
// after the way of HdrHistogram: memory is fixed, the error relative.
type histogram struct {
	buckets [64 * perPower]int
	total   int
	longest time.Duration
}

const (
	powerBits = 5
	perPower  = 1 << powerBits
)

func (g *histogram) add(d time.Duration) {
	g.buckets[bucket(d)]++
	g.total++
	g.longest = max(g.longest, d)
}

// bucket returns the bucket of a duration. Below perPower nanoseconds each has
// its own.
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

// quantile returns an upper bound of the shortest duration that is not
// exceeded by so many of a thousand.
func (g *histogram) quantile(perMille int) time.Duration {
	rank := (g.total*perMille + 999) / 1000
	seen := 0
	for b, n := range g.buckets {
		if seen += n; n > 0 && seen >= rank {
			return min(upper(b), g.longest)
		}
	}
	return 0
}
