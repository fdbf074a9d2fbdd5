package form

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"sort"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// maxText is the largest size of a text. A scenario has some kilobytes, or ten megabytes with the
// largest number of samples. Reading much more takes gigabytes of memory.
const maxText = 32 << 20

// ReadText reads a text up to the size that [Decode] rejects.
func ReadText(r io.Reader) ([]byte, error) { return io.ReadAll(io.LimitReader(r, maxText+1)) }

// Decode decodes the only document of a text in YAML, or in JSON, which is part of YAML, into value, a
// pointer to a struct. It reports all mistakes in the form at once, unknown fields included, each with
// its line ([Mistakes]). The caller checks the values ([Check]), and adds the line with [Locate]. what
// is the name of the document in messages, such as "scenario".
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
	return Apply(root.Content[0], what, value)
}

// Load is [Decode] and [Check].
func Load(text []byte, what string, value any) error {
	if err := Decode(text, what, value); err != nil {
		return err
	}
	return Locate(text, Check(value))
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

// UnknownField is the mistake of a field that does not exist.
type UnknownField struct {
	Name string
	error
}

// tidy rewrites a syntax error of the YAML library without the library's name and with the number of
// the line.
func tidy(text []byte, err error) error {
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

// Locate prefixes an error that knows the path to its value with the line of the text. Of a number that the text
// does not have it says that, in place of the 0 that Go has there. Any other error stays as it is.
func Locate(text []byte, err error) error {
	var wrong *FieldError
	if !errors.As(err, &wrong) {
		return err
	}
	var root yaml.Node
	if yaml.Unmarshal(text, &root) != nil || len(root.Content) == 0 {
		return err
	}
	n, found := find(root.Content[0], wrong.Path)
	if out := new(outOfRange); !found && errors.As(wrong.Err, &out) && reflect.ValueOf(out.shown).IsZero() {
		err = &FieldError{Path: wrong.Path, Err: fmt.Errorf("%w: want %s", errMissing, out.want)}
	}
	return fmt.Errorf("line %d: %w", n.Line, err)
}

// find returns the node of the value at the path, or else of the last part of the path that exists.
func find(n *yaml.Node, path string) (last *yaml.Node, found bool) {
	for _, part := range strings.FieldsFunc(path, func(r rune) bool { return strings.ContainsRune(".[]", r) }) {
		next := child(n, part)
		if next == nil {
			return n, false
		}
		n = next
	}
	return n, true
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

// Print writes a value in YAML, as [Decode] reads it.
func Print(w io.Writer, value any) error {
	enc := yaml.NewEncoder(w)
	enc.SetIndent(2)
	if err := enc.Encode(value); err != nil {
		return err
	}
	return enc.Close()
}

// PutWords puts, into the YAML of a struct of a type, the words for which its numbers stand: see [Limit].
func PutWords(n *yaml.Node, t reflect.Type) {
	for _, f := range Fields(t) {
		if f.Limit == nil || f.Limit.Word == "" {
			continue
		}
		if value := child(n, f.Name); value != nil && value.Value == strconv.Itoa(WordValue) {
			value.SetString(f.Limit.Word)
		}
	}
}

// JSON returns what [Print] writes as JSON, with the members in alphabetical order.
func JSON(value any) ([]byte, error) {
	var n yaml.Node
	if err := n.Encode(value); err != nil {
		return nil, err
	}
	var plain any
	if err := n.Decode(&plain); err != nil {
		return nil, err
	}
	return json.Marshal(plain)
}
