package scenarios

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Words describes the lock on one line, by the fields that a file would set.
func (l Lock) Words() string { return flow(l) }

// Words describes the client on one line, by the fields that a file would set.
func (c Client) Words() string { return flow(c) }

// flow prints a value on one line, as in "kind: redlock, ttl: 1s".
func flow(v any) string {
	var n yaml.Node
	if err := n.Encode(v); err != nil {
		return fmt.Sprint(err)
	}
	n.Style = yaml.FlowStyle
	for _, child := range n.Content {
		child.Style &^= yaml.LiteralStyle
		if child.Kind == yaml.MappingNode {
			child.Style = yaml.FlowStyle
		}
	}
	text, err := yaml.Marshal(&n)
	if err != nil {
		return fmt.Sprint(err)
	}
	line := strings.Join(strings.Fields(string(text)), " ") // the printer breaks long lines
	return strings.TrimSuffix(strings.TrimPrefix(line, "{"), "}")
}
