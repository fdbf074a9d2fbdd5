package manifest

import (
	_ "embed" // the templates are files beside this one
	"errors"
	"fmt"
	"strings"
	"text/template"
	"time"
)

//go:embed slurm.tmpl
var slurmText string

var slurmTemplate = template.Must(template.New("slurm").Funcs(template.FuncMap{"words": shellWords}).Parse(slurmText))

// slurmNotice is how long before its end Slurm tells a job. Slurm may do so a minute early, and takes
// minutes only.
const slurmNotice = time.Minute

// Slurm returns a script for sbatch: an array with a task for each machine. Without servers it puts the
// parts together when it runs outside an array.
func (m Manifest) Slurm() (string, error) {
	if err := m.validate(); err != nil {
		return "", err
	}
	switch {
	case m.Time < 3*slurmNotice:
		return "", fmt.Errorf("a time limit of %s: want at least %s, because the tasks are told to stop up to %s before it", m.Time, 3*slurmNotice, 2*slurmNotice)
	case m.Servers.URL == "" && m.Out == "":
		return "", errors.New("want a directory for the parts, which all machines share")
	}
	v := slurmValues{Manifest: m, Minutes: int((m.Time + time.Minute - 1) / time.Minute), Notice: int(slurmNotice.Seconds())}
	if m.Servers.URL != "" {
		v.Work = m.work(func(f file) string { return f.Path })
	} else {
		v.Part, v.PartFile = m.part(), shellWord(m.Out+"/")+m.partName(`"$SLURM_ARRAY_TASK_ID"`)
		v.Merge, v.Dir = m.merge(m.Out, 1), shellWord(m.Out)
	}
	return execute(slurmTemplate, v)
}

// slurmValues are what the template shows.
type slurmValues struct {
	Manifest
	Minutes, Notice   int
	Work, Part, Merge []string
	PartFile, Dir     string // quoted
}

func execute(t *template.Template, values any) (string, error) {
	var b strings.Builder
	err := t.Execute(&b, values)
	return b.String(), err
}
