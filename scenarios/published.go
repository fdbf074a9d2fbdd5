package scenarios

import (
	"cmp"
	"embed"
	"fmt"
	"path"
	"sync"

	"github.com/lockstorm/lockstorm/nemesis"
)

// Results that others have published are scenario files: published/NAME.yaml. Each contains a
// scenario, and the block "published" with what they measured.
//
//go:embed published
var publishedFiles embed.FS

// Publication is a result that others have published on a scenario.
type Publication struct {
	// Sources are the articles, with their addresses.
	Sources []string `yaml:"sources,omitempty"`

	// Measured is the published result.
	Measured string `yaml:"measured,omitempty"`

	// Measurement is the share that is printed for it, of the measurements of runs. Nothing means
	// lost_update_share.
	Measurement string `yaml:"measurement,omitempty" want:"lost_update_share|forgotten_grant_share"`

	// Differs is the difference between their experiment and this one, and what follows from it.
	Differs string `yaml:"differs,omitempty"`
}

// validatePublished returns an error if the publication lacks a field.
func (f File) validatePublished() error {
	p := f.Published
	if p == nil {
		return nil
	}
	err := cmp.Or(present("sources", len(p.Sources) > 0), present("measured", p.Measured != ""), present("differs", p.Differs != ""))
	return nemesis.InField("published", err)
}

// PublishedResult is a scenario that repeats a published result.
type PublishedResult struct {
	Scenario
	Publication
}

// publishedNames are the files, in the order of their tables.
var publishedNames = []string{
	"etcd-lost-updates", "etcd-lost-updates-mended", "etcd-lost-updates-verified",
	"redis-failover", "redis-sentinel-failover", "redis-sentinel-failover-wait", "redis-cluster-failover", "redis-cluster-failover-wait",
	"postgresql-failover", "postgresql-commit-off", "postgresql-failover-synchronous",
	"etcd-power-loss",
}

// Published returns the scenarios that repeat published results.
func Published() []PublishedResult { return publishedResults() }

// publishedResults are all of them. A file that cannot be read is a defect of this package.
var publishedResults = sync.OnceValue(func() (list []PublishedResult) {
	for _, name := range publishedNames {
		r, err := readPublished(name)
		if err != nil {
			panic("scenarios: " + err.Error())
		}
		list = append(list, r)
	}
	return list
})

func readPublished(name string) (PublishedResult, error) {
	file := path.Join("published", name+".yaml")
	text, err := publishedFiles.ReadFile(file)
	if err != nil {
		return PublishedResult{}, err
	}
	f, err := ParseFile(text)
	switch {
	case err != nil:
	case f.Name != name:
		err = fmt.Errorf("name: %s: the file has another name", f.Name)
	case f.Published == nil:
		err = present("published", false)
	}
	if err != nil {
		return PublishedResult{}, fmt.Errorf("%s: %w", file, err)
	}
	f.Expect = f.Expect.complete()
	return PublishedResult{f.Scenario, *f.Published}, nil
}
