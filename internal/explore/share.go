package explore

import "math"

// shape is what is known of the runs of a search: the most points of one, and the other ways at a point
// of it, on the average.
type shape struct {
	points int
	others float64
}

// see takes note of the points of a run.
func (h *shape) see(path []fork) {
	if len(path) <= h.points {
		return
	}
	others := 0
	for _, f := range path {
		others += int(f.ways) - 1
	}
	h.points, h.others = len(path), float64(others)/float64(len(path))
}

// share estimates the share of the runs that have been made, as if every run had as many points as the
// longest, and no state were recognised.
func (h *shape) share(s *search) float64 {
	all := h.runs(0, s.deviations)
	if h.points == 0 || math.IsInf(all, 1) {
		return 0
	}
	done, left := 0.0, s.deviations
	for i, f := range s.path {
		if f.way == 0 {
			continue
		}
		done += h.runs(i+1, left)
		left--
		done += float64(f.way-1) * h.runs(i+1, left)
	}
	return min(done/all, 1)
}

// runs returns the number of runs that are alike up to a point, and have at most so many deviations
// from there on.
func (h *shape) runs(point, deviations int) float64 {
	points := max(h.points-point, 0)
	total, of := 1.0, 1.0 // of: those with k deviations
	for k := 1; k <= min(points, deviations); k++ {
		of *= float64(points-k+1) / float64(k) * h.others
		total += of
	}
	return total
}
