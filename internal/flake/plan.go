//go:build linux

package main

// plan says which job is next: breadth first, so that what there was time for is a table of
// everything.
type plan struct {
	jobs   []*job
	target int // runs of each
}

// resume begins a plan with the results that are kept.
func resume(jobs []*job, kept *store, target int) *plan {
	for _, j := range jobs {
		j.begun, j.takes = len(kept.of(*j)), kept.lasted(*j)
	}
	return &plan{jobs, target}
}

// next returns a job that has begun the fewest times, of those the one that took least, and
// counts it as begun; nil: all have begun often enough.
func (p *plan) next() (least *job) {
	for _, j := range p.jobs {
		if j.begun < p.target && (least == nil || j.begun < least.begun || j.begun == least.begun && j.takes < least.takes) {
			least = j
		}
	}
	if least != nil {
		least.begun++
	}
	return least
}

// left returns how many runs have not begun.
func (p *plan) left() (n int) {
	for _, j := range p.jobs {
		n += max(0, p.target-j.begun)
	}
	return n
}
