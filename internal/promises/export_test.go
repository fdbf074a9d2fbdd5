package promises

import (
	"go.yaml.in/yaml/v3"

	"github.com/lockstorm/lockstorm/checker"
)

// MarshalYAML writes the properties in their order, as under "properties" in a file.
func (t Terms) MarshalYAML() (any, error) {
	n := &yaml.Node{Kind: yaml.MappingNode}
	for _, p := range checker.Properties() {
		a, promised := t[p]
		if !promised {
			continue
		}
		var under yaml.Node
		if err := under.Encode(a); err != nil {
			return nil, err
		}
		n.Content = append(n.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: p.String()}, &under)
	}
	return n, nil
}
