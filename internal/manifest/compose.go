package manifest

import (
	_ "embed" // the templates are files beside this one
	"errors"
	"fmt"
	"path"
	"text/template"
)

//go:embed compose.tmpl
var composeText string

var composeTemplate = template.Must(template.New("compose").Funcs(yamlFuncs).Parse(composeText))

// Compose returns a compose file: one service with a container for each machine, or without servers a
// service for each part, and one that puts them together when they have succeeded.
func (m Manifest) Compose() (string, error) {
	if err := m.containers(); err != nil {
		return "", err
	}
	if m.Servers.URL == "" && m.Out == "" {
		return "", errors.New("want a directory for the parts")
	}
	v := composeValues{Manifest: m, ResultsDir: resultsDir}
	if m.Servers.URL != "" {
		v.Work = literals(m.work(func(f file) string { return path.Join("/run/secrets", f.Key) }))
		return execute(composeTemplate, v)
	}
	for i := range m.Machines {
		file := path.Join(resultsDir, m.partName(fmt.Sprint(i+1)))
		v.Parts = append(v.Parts, composePart{Number: i + 1, Index: i, Words: literals(append(m.part(), file))})
	}
	v.Merge = literals(m.merge(resultsDir, 1))
	return execute(composeTemplate, v)
}

// composeValues are what the template shows. In words two dollars are one.
type composeValues struct {
	Manifest
	Work, Merge []string
	Parts       []composePart
	ResultsDir  string
}

// composePart is the service that makes a part.
type composePart struct {
	Number int // from 1
	Index  int // from 0
	Words  []string
}
