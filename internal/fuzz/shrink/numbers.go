package shrink

import "iter"

// lowerNumbers changes the places of two clients, or of two nodes, so that those come
// first of whom the plan tells.
func lowerNumbers(k *shrinking) {
	for order := range k.going(swaps(len(k.best.Clients))) {
		k.try(onlyClients(k.best, order))
	}
	for order := range k.going(swaps(k.best.Nodes)) {
		k.try(onlyNodes(k.best, order))
	}
}

// swaps yields the orders of 1 to n in which two have changed places. They are made one by
// one: of a thousand clients there are half a million.
func swaps(n int) iter.Seq[[]int] {
	return func(yield func([]int) bool) {
		for i := range n {
			for j := range i {
				order := make([]int, n)
				for at := range order {
					order[at] = at + 1
				}
				order[i], order[j] = order[j], order[i]
				if !yield(order) {
					return
				}
			}
		}
	}
}
