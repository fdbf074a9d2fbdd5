package shrink

// lowerNumbers changes the places of two clients, or of two nodes, so that those come
// first of whom the plan tells.
func lowerNumbers(k *shrinking) {
	for _, order := range swaps(len(k.best.Clients)) {
		k.try(onlyClients(k.best, order))
	}
	for _, order := range swaps(k.best.Nodes) {
		k.try(onlyNodes(k.best, order))
	}
}

// swaps lists the orders of 1 to n in which two have changed places.
func swaps(n int) (orders [][]int) {
	for i := range n {
		for j := range i {
			order := make([]int, n)
			for at := range order {
				order[at] = at + 1
			}
			order[i], order[j] = order[j], order[i]
			orders = append(orders, order)
		}
	}
	return orders
}
