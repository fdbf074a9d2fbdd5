package scenarios

import (
	"embed"
	"fmt"
	"sync"
)

// Results that others have published are scenario files: published/NAME.yaml. Each contains a
// scenario, and the block "published" with what they measured.
//
//go:embed published
var publishedFiles embed.FS

// Publication is a result that others have published on a scenario.
type Publication struct {
	// Sources are the articles, with their addresses.
	Sources []string `yaml:"sources" want:"1.. items"`

	// Measured is the published result.
	Measured string `yaml:"measured"`

	// Measurement is the share that is printed for it, of the measurements of runs. Nothing means
	// lost_update_share.
	Measurement string `yaml:"measurement,omitempty" want:"lost_update_share|forgotten_grant_share"`

	// Differs is the difference between their experiment and this one, and what follows from it.
	Differs string `yaml:"differs"`
}

// publishedNames are the files, in the order of their tables.
var publishedNames = []string{
	"etcd-lost-updates", "etcd-lost-updates-mended", "etcd-lost-updates-verified",
	"redis-failover", "redis-sentinel-failover", "redis-sentinel-failover-wait", "redis-cluster-failover", "redis-cluster-failover-wait",
	"postgresql-failover", "postgresql-commit-off", "postgresql-failover-synchronous",
	"etcd-power-loss",
}

// Published returns the scenarios that repeat published results, and those.
func Published() []File { return publishedResults() }

// publishedResults are all of them. A file that cannot be read is a defect of this package.
var publishedResults = sync.OnceValue(func() (list []File) {
	for _, name := range publishedNames {
		f, err := readFile(publishedFiles, "published", name)
		if err == nil && f.Published == nil {
			err = fmt.Errorf("published/%s.yaml: nothing is published", name)
		}
		if err != nil {
			panic("scenarios: " + err.Error())
		}
		list = append(list, f)
	}
	return list
})
