package plots

import (
	"math"
	"math/rand/v2"
)

// wilson is the 95 % interval of k in n.
func wilson(k, n float64) (lo, hi float64) {
	const z = 1.959964
	p := k / n
	mid := (p + z*z/(2*n)) / (1 + z*z/n)
	half := z / (1 + z*z/n) * math.Sqrt(p*(1-p)/n+z*z/(4*n*n))
	return mid - half, mid + half
}

// delays is a chart like those of sweep restart-delay: two schemes, three persistences.
func delays(runs, points int) Curves {
	random := rand.New(rand.NewPCG(1, 2))
	plain := func(d float64) float64 { return max(0, 1-d/0.98) }
	extended := func(d float64) float64 { return min(1, max(0, (0.98-d)/0.3)) }
	curve := func(name string, p func(float64) float64) Curve {
		c := Curve{Name: name}
		for i := range points {
			x := 1.5 * float64(i) / float64(points-1)
			k := 0.0
			for range runs {
				if random.Float64() < p(x) {
					k++
				}
			}
			lo, hi := wilson(k, float64(runs))
			c.Points, c.Runs = append(c.Points, Point{x, k / float64(runs), lo, hi}), append(c.Runs, runs)
			c.Formula = append(c.Formula, XY{x, p(x)})
		}
		return c
	}
	never := func(float64) float64 { return 0 }
	return Curves{
		Title: "V1 (lease exclusion) is violated after a restart without keys, 1 node of 5 crashing",
		X:     Axis{Name: "restart delay", Unit: "TTL", From: 0, To: 1.5},
		Y:     Axis{Name: "probability of a violation", From: 0, To: 1},
		Curves: []Curve{
			curve("plain, no persistence", plain),
			curve("plain, AOF everysec", func(d float64) float64 { return 0.6 * plain(d) }),
			curve("plain, AOF always", never),
			curve("extended, no persistence", extended),
			curve("extended, AOF everysec", func(d float64) float64 { return 0.6 * extended(d) }),
			curve("extended, AOF always", never),
		},
		Marks:    []Mark{{0.98, "safe delay by formula, T − a"}, {1, "TTL"}, {1.02, "rule of thumb TTL × (1 + d)"}},
		Interval: "95 % interval (Wilson)",
	}
}

// drifts is a map like those of sweep drift.
func drifts(log bool) HeatMap {
	h := HeatMap{
		Title: "V1 (lease exclusion) against clock rate error and drift allowance, client clocks",
		X:     Axis{Name: "relative clock rate error", Unit: "ppm", Log: log},
		Y:     Axis{Name: "drift allowance", Unit: "% of the TTL"},
		Value: "probability of a violation", Zero: "none in 2000 runs",
		LineName: "allowance = error × TTL",
	}
	for i := range 21 {
		x := float64(i) * 1000
		if log {
			x = 10 * math.Pow(10, float64(i)/5)
		}
		h.Xs = append(h.Xs, x)
		h.Line = append(h.Line, XY{x, x / 10000})
	}
	for j := range 16 {
		y := float64(j) / 10
		h.Ys = append(h.Ys, y)
		row := make([]float64, len(h.Xs))
		for i, x := range h.Xs {
			row[i] = math.Round(2000*min(1, max(0, (x/10000-y)*0.7))) / 2000
		}
		h.Values = append(h.Values, row)
	}
	h.Values[3][4], h.Values[7][2] = math.NaN(), math.NaN()
	return h
}

// choices is a front like those of tune.
func choices() Front {
	f := Front{
		Title: "Settings for 5 nodes, round trip p99 12 ms, clocks within 200 ppm",
		X:     Axis{Name: "unavailable after a crash", Unit: "s"},
		Y:     Axis{Name: "violations per 1e9 grants", Log: true},
	}
	random := rand.New(rand.NewPCG(3, 4))
	for range 120 {
		x := 0.5 + 29*random.Float64()
		f.Settings = append(f.Settings, Setting{X: x, Y: 3e4 / (x * x) * math.Exp(0.3+3*random.Float64())})
	}
	for i, ttl := range []string{"500 ms", "1 s", "2 s", "3 s", "5 s", "8 s", "15 s", "30 s"} {
		x := []float64{0.5, 1, 2, 3, 5, 8, 15, 30}[i]
		f.Settings = append(f.Settings, Setting{X: x, Y: 3e4 / (x * x), Label: "TTL " + ttl, Best: true, Recommended: ttl == "5 s"})
	}
	return f
}

// bounds is measured boundaries against a formula.
func bounds() Curves {
	c := Curves{
		Title: "Where the restart delay becomes safe, against the formula (1 + ρr)(T − a)/(1 − ρc)",
		X:     Axis{Name: "ρc, holder's clock slow by", Unit: "%"},
		Y:     Axis{Name: "safe restart delay", Unit: "TTL"},
	}
	for j, a := range []float64{0.01, 0.05} {
		for k, rr := range []float64{0, 0.05} {
			one := Curve{Name: []string{"a = 1 %", "a = 5 %"}[j] + []string{", ρr = 0", ", ρr = 5 %"}[k]}
			for i := range 11 {
				rc := float64(i) / 100
				y := (1 + rr) * (1 - a) / (1 - rc)
				one.Points = append(one.Points, Point{100 * rc, y - 0.003, y - 0.008, y + 0.002})
				one.Formula = append(one.Formula, XY{100 * rc, y})
			}
			c.Curves = append(c.Curves, one)
		}
	}
	c.Curves = append(c.Curves, Curve{Name: "rule of thumb, TTL × (1 + d)", Formula: []XY{{0, 1.01}, {10, 1.01}}})
	return c
}
