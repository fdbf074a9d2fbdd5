package manifest

import (
	_ "embed" // the templates are files beside this one
	"errors"
	"fmt"
	"path"
	"text/template"
	"time"
)

//go:embed kubernetes.tmpl
var kubernetesText string

var kubernetesTemplate = template.Must(template.New("kubernetes").Funcs(yamlFuncs).Parse(kubernetesText))

// yamlFuncs are the functions of templates that write YAML.
var yamlFuncs = template.FuncMap{"text": yamlWord, "literal": yamlLiteral}

// Where containers find their files.
const (
	secretDir  = "/run/secrets/lockstorm"
	resultsDir = "/results"
)

// maxLabel is the length of a label of DNS. The pods of an Indexed Job have the name of the job and
// their index as one.
const maxLabel = 63

// Kubernetes returns an Indexed Job with a pod for each machine. Without servers a second Job, which is
// suspended, puts the parts together.
func (m Manifest) Kubernetes() (string, error) {
	if err := m.containers(); err != nil {
		return "", err
	}
	switch longest := fmt.Sprintf("%s-%d", m.Name, m.Machines-1); {
	case len(longest) > maxLabel || len(m.Name+mergeSuffix+"-0") > maxLabel:
		return "", fmt.Errorf("name %q of the job: it is too long for the names of pods, such as %s", m.Name, longest)
	case m.Time < time.Second:
		return "", fmt.Errorf("a time limit of %s: want at least 1s", m.Time)
	case len(m.Files()) > 0 && m.Secret == "":
		return "", errors.New("want the Secret with the credentials")
	case m.Servers.URL == "" && m.Claim == "":
		return "", errors.New("want the PersistentVolumeClaim for the parts")
	}
	v := containerValues{Manifest: m, Seconds: int(m.Time.Seconds()), ResultsDir: resultsDir, SecretDir: secretDir}
	if m.Servers.URL != "" {
		words := m.work(func(f file) string { return path.Join(secretDir, f.Key) })
		v.Jobs = []containerJob{{Name: m.Name, Pods: m.Machines, Words: literals(words)}}
		return execute(kubernetesTemplate, v)
	}
	part := path.Join(resultsDir, m.partName("$(JOB_COMPLETION_INDEX)"))
	v.Jobs = []containerJob{
		{Name: m.Name, Pods: m.Machines, Words: append(literals(m.part()), part)},
		{Name: m.Name + mergeSuffix, Pods: 1, Words: literals(m.merge(resultsDir, 0)), Suspended: true},
	}
	return execute(kubernetesTemplate, v)
}

// mergeSuffix ends the name of the job that puts the parts together.
const mergeSuffix = "-merge"

// containerValues are what the templates of containers show.
type containerValues struct {
	Manifest
	Jobs                  []containerJob
	Seconds               int
	ResultsDir, SecretDir string
}

// containerJob is one command in some containers.
type containerJob struct {
	Name      string
	Pods      int
	Words     []string // in which two dollars are one
	Suspended bool
}

// literals makes words in which nothing is replaced.
func literals(words []string) (list []string) {
	for _, w := range words {
		list = append(list, literal(w))
	}
	return list
}
