package scenarios

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"reflect"
	"sort"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/lockstorm/lockstorm/nemesis"
)

// Print writes the scenario as YAML.
func (s Scenario) Print(w io.Writer) error {
	enc := yaml.NewEncoder(w)
	enc.SetIndent(2)
	if err := enc.Encode(s); err != nil {
		return err
	}
	return enc.Close()
}

// Parse reads one scenario in YAML, or in JSON, which is part of YAML. An
// error names the line; unknown fields are errors.
func Parse(text []byte) (Scenario, error) {
	f, err := ParseFile(text)
	return f.Scenario, err
}

// ParseFile is [Parse] for the whole content of a scenario file.
func ParseFile(text []byte) (File, error) {
	f, err := decodeFile(text)
	if err == nil {
		err = Locate(text, f.Validate())
	}
	if err == nil {
		err = Locate(text, cmp.Or(f.validateDebate(), f.validatePublished()))
	}
	if err != nil {
		return File{}, err
	}
	return f, nil
}

// decode reads a scenario whose values may be invalid.
func decode(text []byte) (Scenario, error) {
	f, err := decodeFile(text)
	return f.Scenario, err
}

func decodeFile(text []byte) (f File, err error) {
	err = Decode(text, "scenario", &f)
	return f, err
}

// Decode decodes the only document of a YAML text into value, a pointer to a struct
// with tags like those of a scenario's types. It reports all mistakes in the form at once, unknown
// fields included, each with its line ([Mistakes]). The caller checks the values, and adds the line
// with [Locate]. what is the name of the document in messages, such as "scenario".
func Decode(text []byte, what string, value any) error {
	if len(text) > maxText {
		return fmt.Errorf("longer than %d MiB: that is no %s", maxText>>20, what)
	}
	var root yaml.Node
	if err := onlyDocument(text, what, &root); err != nil {
		return err
	}
	if len(root.Content) == 0 || root.Content[0].ShortTag() == "!!null" {
		return errors.New("the file is empty")
	}
	if mistakes := checkForm(root.Content[0], what, reflect.TypeOf(value)); len(mistakes) > 0 {
		return mistakes
	}
	if err := root.Decode(value); err != nil {
		return tidy(text, err)
	}
	return nil
}

// onlyDocument reads the only document of a text.
func onlyDocument(text []byte, what string, root *yaml.Node) error {
	documents := yaml.NewDecoder(bytes.NewReader(text))
	err := documents.Decode(root)
	if errors.Is(err, io.EOF) {
		return errors.New("the file is empty")
	}
	var second yaml.Node
	if err == nil {
		err = documents.Decode(&second)
	}
	switch {
	case errors.Is(err, io.EOF):
		return nil
	case err != nil:
		return tidy(text, err)
	}
	return fmt.Errorf("line %d: a second document: a file holds one %s", second.Content[0].Line, what)
}

// Mistakes are all mistakes in the form of a text, each with its line.
type Mistakes []error

func (m Mistakes) Error() string {
	texts := make([]string, len(m))
	for i, err := range m {
		texts[i] = err.Error()
	}
	return strings.Join(texts, "; ")
}

// Unwrap returns all of them.
func (m Mistakes) Unwrap() []error { return m }

// tidy rewrites an error of the YAML library on one line, without the library's name and with
// the number of the line.
func tidy(text []byte, err error) error {
	var all *yaml.TypeError
	if errors.As(err, &all) {
		return errors.New(strings.Join(all.Errors, "; "))
	}
	message := strings.TrimPrefix(err.Error(), "yaml: ")
	number := 0
	if _, none := fmt.Sscanf(message, "line %d:", &number); none != nil {
		number = lineOfError(text, err)
		message = fmt.Sprintf("line %d: %s", number, message)
	}
	if line := indentedWithTab(text, number); line > 0 {
		message = fmt.Sprintf("line %d: indented with a tab, where YAML wants spaces", line)
	}
	return errors.New(message)
}

// indentedWithTab returns the number of the line if it, or the next one, is indented with a tab
// (the library may be off by one); otherwise 0.
func indentedWithTab(text []byte, number int) int {
	lines := bytes.Split(text, []byte("\n"))
	for n := number; n <= number+1 && n <= len(lines); n++ {
		if n > 0 && bytes.HasPrefix(bytes.TrimLeft(lines[n-1], " "), []byte("\t")) {
			return n
		}
	}
	return 0
}

// lineOfError returns the line of an error for which the library names none: the
// last line of the shortest prefix of the text that has the same error.
func lineOfError(text []byte, err error) int {
	lines := bytes.SplitAfter(text, []byte("\n"))
	ends := make([]int, len(lines))
	for i, l := range lines {
		ends[i] = len(l)
		if i > 0 {
			ends[i] += ends[i-1]
		}
	}
	return 1 + sort.Search(len(lines)-1, func(i int) bool {
		shorter := yaml.Unmarshal(text[:ends[i]], new(yaml.Node))
		return shorter != nil && shorter.Error() == err.Error()
	})
}

// Locate prefixes an error that knows the path to its value with the line of the text. Any other
// error stays as it is.
func Locate(text []byte, err error) error {
	var wrong *nemesis.FieldError
	if !errors.As(err, &wrong) {
		return err
	}
	var root yaml.Node
	if yaml.Unmarshal(text, &root) != nil || len(root.Content) == 0 {
		return err
	}
	return fmt.Errorf("line %d: %w", line(root.Content[0], wrong.Path), err)
}

// line returns the line of the value at the path, or of the last part of the path that exists.
func line(n *yaml.Node, path string) int {
	for _, part := range strings.FieldsFunc(path, func(r rune) bool { return strings.ContainsRune(".[]", r) }) {
		next := child(n, part)
		if next == nil {
			break
		}
		n = next
	}
	return n.Line
}

func child(n *yaml.Node, part string) *yaml.Node {
	switch n.Kind {
	case yaml.SequenceNode:
		if i, err := strconv.Atoi(part); err == nil && i < len(n.Content) {
			return n.Content[i]
		}
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			if n.Content[i].Value == part {
				return n.Content[i+1]
			}
		}
	}
	return nil
}

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
