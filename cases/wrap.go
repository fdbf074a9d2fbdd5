package cases

import (
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/lockstorm/lockstorm/internal/textfmt"
)

// width is how long a line of a story may become, its indentation not counted.
const width = 90

// wrapped writes a field with a long text: folded into lines, which YAML joins again;
// or quoted, if it is a text that would not come back as it was.
func wrapped(name, text string) (string, error) {
	var b strings.Builder
	b.WriteString(name + ": >-\n")
	for i, paragraph := range strings.Split(text, "\n") {
		if i > 0 {
			b.WriteString("\n") // an empty line is a line break
		}
		for _, l := range textfmt.Lines(paragraph, width) {
			b.WriteString("  " + l + "\n")
		}
	}
	var back map[string]string
	if err := yaml.Unmarshal([]byte(b.String()), &back); err == nil && back[name] == text {
		return b.String(), nil
	}
	quoted, err := yaml.Marshal(map[string]*yaml.Node{name: {Kind: yaml.ScalarNode, Tag: "!!str", Value: text, Style: yaml.DoubleQuotedStyle}})
	return string(quoted), err
}
