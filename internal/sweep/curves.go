package sweep

import "slices"

// Curve is the outcomes of one curve, in the order of their units.
type Curve struct {
	Name     string
	Outcomes []Outcome
}

// Curves groups outcomes by their curves, in the order in which these begin.
func Curves(all []Outcome) (list []Curve) {
	for _, o := range all {
		i := slices.IndexFunc(list, func(c Curve) bool { return c.Name == o.Curve })
		if i < 0 {
			i, list = len(list), append(list, Curve{Name: o.Curve})
		}
		list[i].Outcomes = append(list[i].Outcomes, o)
	}
	return list
}
