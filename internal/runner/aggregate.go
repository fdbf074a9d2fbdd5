package runner

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/lockstorm/lockstorm/checker"
)

// Aggregate is the measurements of many runs: a column for each, with the value of every run. Everything else
// is computed from the columns. The zero value has no runs.
type Aggregate struct {
	runs    int
	columns map[string][]int64    // by the name of the measurement in JSON
	stored  *checker.Measurements // instead of columns
}

// StoredAggregate returns an aggregate with a stored number of runs and stored
// measurements. Runs cannot be added to it.
func StoredAggregate(runs int, all checker.Measurements) Aggregate {
	return Aggregate{runs: runs, stored: &all}
}

// Runs returns the number of runs.
func (a *Aggregate) Runs() int { return a.runs }

// Add adds the measurements of one run.
func (a *Aggregate) Add(m checker.Measurements) {
	a.begin()
	a.runs++
	v := reflect.ValueOf(m)
	for name, index := range columns {
		a.columns[name] = append(a.columns[name], v.FieldByIndex(index).Int())
	}
}

func (a *Aggregate) begin() {
	if a.columns == nil {
		a.columns = map[string][]int64{}
	}
}

// Columns returns the columns that have other values than 0.
func (a *Aggregate) Columns() map[string][]int64 {
	some := map[string][]int64{}
	for name, values := range a.columns {
		if slices.ContainsFunc(values, func(v int64) bool { return v != 0 }) {
			some[name] = values
		}
	}
	return some
}

// Join adds some runs with these columns.
func (a *Aggregate) Join(runs int, values map[string][]int64) {
	a.begin()
	a.runs += runs
	for name := range columns {
		all := append(a.columns[name], values[name]...)
		a.columns[name] = append(all, make([]int64, a.runs-len(all))...)
	}
}

// All returns the measurements as of one long history. The tag of each field of
// [checker.Measurements] says whether it is the sum, the maximum or the median of the
// runs. Of two middle values the median is the lower; without values it is 0.
func (a *Aggregate) All() checker.Measurements {
	if a.stored != nil {
		return *a.stored
	}
	var m checker.Measurements
	v := reflect.ValueOf(&m).Elem()
	for _, f := range figures {
		v.FieldByIndex(f.index).SetInt(f.of(a.columns[f.column]))
	}
	m.Derive()
	return m
}

// Figures describes all measurements in words.
func (a *Aggregate) Figures() []checker.Figure { return a.All().Figures(a.runs) }

// interval returns the 95 % interval of a measurement: of a share, which is a ratio of sums, or of a
// median.
func (a *Aggregate) interval(n checker.NamedFigure) (low, high float64, known bool) {
	for _, s := range shares {
		if s.name == n.Name {
			return shareInterval(a.columns[s.part], a.columns[s.less], a.columns[s.whole])
		}
	}
	for _, f := range figures {
		if f.isMedian() && slices.Equal(f.index, n.Index) {
			return medianInterval(f.values(a.columns[f.column]))
		}
	}
	return 0, 0, false
}

// figure is a measurement of many runs, and how it follows from those of single runs.
type figure struct {
	index  []int // of the field
	how    string
	column string // of the values that it is made of
}

// The ways, as the tag runs names them.
const (
	sum          = "sum"
	most         = "max"
	median       = "median"
	medianOfSome = "median>0" // of the values that are not 0
)

func (f figure) isMedian() bool { return f.how == median || f.how == medianOfSome }

// values returns the values of a column that count.
func (f figure) values(column []int64) []int64 {
	if f.how == medianOfSome {
		return slices.DeleteFunc(slices.Clone(column), func(v int64) bool { return v == 0 })
	}
	return column
}

// of returns the figure of a column.
func (f figure) of(column []int64) (all int64) {
	if values := f.values(column); f.isMedian() && len(values) > 0 {
		return slices.Sorted(slices.Values(values))[(len(values)-1)/2]
	} else if f.isMedian() {
		return 0
	}
	for _, v := range column {
		if f.how == sum {
			all += v
		} else {
			all = max(all, v)
		}
	}
	return all
}

// figures are the measurements of many runs, columns the fields of a single one, by name.
var figures, columns = readFigures(reflect.TypeFor[checker.Measurements]())

// readFigures reads the tags of all fields. A wrong tag is a programming error.
func readFigures(t reflect.Type) (all []figure, columns map[string][]int) {
	columns = map[string][]int{}
	for _, field := range reflect.VisibleFields(t) {
		tag := field.Tag.Get("runs")
		if tag == "" {
			continue
		}
		how, name, named := strings.Cut(tag, " ")
		from, known := field, true
		if named {
			from, known = t.FieldByName(name)
		}
		if !known || from.Type != field.Type || !slices.Contains([]string{sum, most, median, medianOfSome}, how) {
			panic(fmt.Sprintf("runner: measurement %s has the tag runs:%q", field.Name, tag))
		}
		column, _, _ := strings.Cut(from.Tag.Get("json"), ",")
		columns[column] = from.Index
		all = append(all, figure{field.Index, how, column})
	}
	return all, columns
}

// medianInterval returns the distribution-free 95 % interval of the median: the order statistics
// between which it lies with that probability, by the binomial distribution (David and Nagaraja,
// Order Statistics, 2003, section 7.1). Less than six values have none.
func medianInterval(values []int64) (low, high float64, known bool) {
	n := len(values)
	rank := medianRank(n)
	if rank == 0 {
		return 0, 0, false
	}
	sorted := slices.Sorted(slices.Values(values))
	return float64(sorted[rank-1]), float64(sorted[n-rank]), true
}

// medianRank returns the rank of the lower end of the interval among n values; 0: there is none.
func medianRank(n int) (rank int) {
	if n > 1000 { // 2^-n vanishes, and the normal distribution is close enough
		return int(float64(n)/2 - z*math.Sqrt(float64(n))/2)
	}
	for tail, term := 0.0, math.Pow(0.5, float64(n)); rank < n/2; rank++ {
		if tail += term; tail > 0.025 {
			break
		}
		term *= float64(n-rank) / float64(rank+1)
	}
	return rank
}

// shares lists the measurements that are shares: ratios of two sums over all runs, of a part, of which
// something else may be subtracted, and a whole. Neither is negative.
var shares = []struct{ name, part, less, whole string }{
	{"availability", "wanted", "total_outage", "wanted"},
	{"lost_update_share", "lost_updates", "", "updates"},
	{"forgotten_grant_share", "forgotten_grants", "", "stored_grants"},
}

// shareInterval returns the 95 % interval of the sum of the parts over that of the wholes, by
// linearization (Cochran, Sampling Techniques, 1977, section 6.4). Less than six runs have none.
func shareInterval(part, less, whole []int64) (low, high float64, known bool) {
	var parts, wholes, partSquares, wholeSquares, mixed float64
	for i := range whole {
		p, w := float64(part[i]), float64(whole[i])
		if less != nil {
			p -= float64(less[i])
		}
		parts, wholes = parts+p, wholes+w
		partSquares, wholeSquares, mixed = partSquares+p*p, wholeSquares+w*w, mixed+p*w
	}
	if len(whole) < 6 || wholes == 0 {
		return 0, 0, false
	}
	n, share := float64(len(whole)), parts/wholes
	residue := partSquares - 2*share*mixed + share*share*wholeSquares
	half := z * math.Sqrt(max(residue, 0)*n/(n-1)) / wholes
	return max(share-half, 0), min(share+half, 1), true
}
