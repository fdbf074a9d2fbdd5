package model

import "github.com/anishathalye/porcupine"

// byKey partitions a history by a key of each operation's input, in the order
// in which the keys first appear.
func byKey(key func(input any) string) func([]porcupine.Operation) [][]porcupine.Operation {
	return func(ops []porcupine.Operation) [][]porcupine.Operation {
		var parts [][]porcupine.Operation
		index := map[string]int{}
		for _, op := range ops {
			k := key(op.Input)
			i, ok := index[k]
			if !ok {
				i = len(parts)
				index[k] = i
				parts = append(parts, nil)
			}
			parts[i] = append(parts[i], op)
		}
		return parts
	}
}
