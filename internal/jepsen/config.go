package jepsen

// config is one way in which a history can have gone so far.
type config struct {
	place
	used set // operations of unknown outcome that have taken effect, by kind
	past *use
}

// use is one operation of unknown outcome that has taken effect, and those before it.
// It is for the story alone: no search looks at it.
type use struct {
	kind   int
	at     int // the place of the return that it was for
	before *use
}

// place is a config but for what it has used up.
type place struct {
	state any // of the model
	done  set // operations in progress that have already taken effect
}

// frontier is a set of configs of which none makes another superfluous: of two
// that differ only in what they have used, the one that has used less can do
// all that the other can.
type frontier struct {
	used   map[place][]set
	order  []config // as they came, with some that have become superfluous
	most   int      // how many of a place are told apart; 0: all
	merged bool     // some were not
}

func newFrontier(most int) *frontier { return &frontier{used: map[place][]set{}, most: most} }

// add returns c, and whether it was not superfluous. Where there are too many of
// its place it returns one for all of them, that has used what all have used.
func (f *frontier) add(c config) (config, bool) {
	var kept []set
	for _, u := range f.used[c.place] {
		if u.within(c.used) {
			return c, false
		}
		if !c.used.within(u) {
			kept = append(kept, u)
		}
	}
	if f.most > 0 && len(kept) >= f.most {
		for _, u := range kept {
			c.used = c.used.common(u)
		}
		kept, f.merged = nil, true
	}
	f.used[c.place] = append(kept, c.used)
	f.order = append(f.order, c)
	return c, true
}

// holds reports whether c has not become superfluous.
func (f *frontier) holds(c config) bool {
	for _, u := range f.used[c.place] {
		if u == c.used {
			return true
		}
	}
	return false
}

// configs returns what is left, in the order in which it came.
func (f *frontier) configs() []config {
	var list []config
	for _, c := range f.order {
		if f.holds(c) {
			list = append(list, c)
		}
	}
	return list
}
