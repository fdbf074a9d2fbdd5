package nemesis

import (
	"reflect"
	"slices"
)

// Named returns the numbers of the clients and nodes that an action names, each in
// ascending order. Of whom it names none it is about all, or about none.
func Named(a Action) (clients, nodes []int) {
	all := map[string][]int{}
	gatherNames(reflect.ValueOf(a), "", all)
	sorted := func(names ...string) (list []int) {
		for _, n := range names {
			list = append(list, all[n]...)
		}
		slices.Sort(list)
		return slices.Compact(list)
	}
	return sorted("client", "clients"), sorted("node", "nodes")
}

// gatherNames adds the numbers that stand in fields to those of the fields' names.
func gatherNames(v reflect.Value, name string, all map[string][]int) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			gatherNames(v.Elem(), name, all)
		}
	case reflect.Slice:
		for i := range v.Len() {
			gatherNames(v.Index(i), name, all)
		}
	case reflect.Struct:
		for _, m := range MembersOf(v.Type()) {
			gatherNames(v.Field(m.Index), m.Name, all)
		}
	case reflect.Int:
		if v.Int() > 0 {
			all[name] = append(all[name], int(v.Int()))
		}
	}
}
