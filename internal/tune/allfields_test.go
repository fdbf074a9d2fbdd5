package tune

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/lockstorm/lockstorm/nemesis"
)

// alternative matches a commented line of the page's file with another form of a field.
var alternative = regexp.MustCompile(`(?m)^# or: ((\w+): [^#\n]*)`)

// Law: the file that shows all requirements is a question, also with each of the other forms that it
// shows, and it leaves no field out.
func TestAllRequirementsAreShown(t *testing.T) {
	text, err := os.ReadFile("../../docs/service-all.yaml")
	if err != nil {
		t.Fatal(err)
	}
	shown := map[string]bool{}
	accepted(t, string(text), shown)
	forms := alternative.FindAllStringSubmatch(string(text), -1)
	for _, form := range forms {
		line := regexp.MustCompile(`(?m)^` + form[2] + `:.*`)
		other := line.ReplaceAllLiteralString(string(text), form[1])
		if !line.Match(text) {
			other += form[1] + "\n"
		}
		if strings.Contains(form[1], "unbounded") { // which the page says, too
			other = strings.Replace(other, "fence_checked: false", "fence_checked: true", 1)
		}
		accepted(t, other, shown)
	}
	if len(forms) < 6 {
		t.Errorf("only %d other forms found: this test looks in the wrong place", len(forms))
	}
	for _, path := range fieldsOf("", reflect.TypeFor[Question]()) {
		if !shown[path] {
			t.Errorf("the file does not show %s", path)
		}
	}
}

// accepted loads a question from its text, and notes the paths of the fields in it.
func accepted(t *testing.T, text string, shown map[string]bool) {
	t.Helper()
	dir := t.TempDir()
	for name, content := range map[string]string{"service.yaml": text, "rtt.txt": "300us\n1.2\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	q, err := Load(filepath.Join(dir, "service.yaml"))
	if err == nil {
		err = q.Validate()
	}
	var fields map[string]any
	if err == nil {
		err = yaml.Unmarshal([]byte(text), &fields)
	}
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	note("", fields, shown)
}

func note(path string, fields map[string]any, shown map[string]bool) {
	for name, value := range fields {
		shown[path+name] = true
		if inner, is := value.(map[string]any); is {
			note(pathOf(path, name), inner, shown)
		}
	}
}

// pathOf is what the paths of the fields of a field begin with. The fields of all distributions are
// the same.
func pathOf(path, name string) string {
	switch name {
	case "round_trip", "hold", "think", "length":
		return "distribution."
	}
	return path + name + "."
}

// fieldsOf returns the paths of all fields of a type.
func fieldsOf(path string, of reflect.Type) (all []string) {
	for i := range of.NumField() {
		field := of.Field(i)
		name, options, _ := strings.Cut(field.Tag.Get("yaml"), ",")
		inner := field.Type
		if inner.Kind() == reflect.Pointer {
			inner = inner.Elem()
		}
		switch {
		case !field.IsExported() || name == "-":
			continue
		case strings.HasPrefix(options, "inline"):
			all = append(all, fieldsOf(path, inner)...)
			continue
		}
		all = append(all, path+name)
		if inner.Kind() == reflect.Struct && inner != reflect.TypeFor[time.Duration]() {
			all = append(all, fieldsOf(pathOf(path, name), inner)...)
		}
	}
	return all
}

// Every distribution is one for which pathOf has a name.
func TestDistributionsHaveOnePath(t *testing.T) {
	of := reflect.TypeFor[nemesis.Distribution]()
	for _, path := range fieldsOf("", reflect.TypeFor[Question]()) {
		if strings.HasSuffix(path, ".samples") && path != "distribution.samples" {
			t.Errorf("%s is a field of a %v: pathOf does not know it", path, of)
		}
	}
}
