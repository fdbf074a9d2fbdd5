package main

import (
	"slices"
	"strings"
	"testing"

	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/lockstorm/lockstorm/internal/testkit"
)

// TestIndexedJob decodes docs/indexed-job.yaml strictly: an unknown or repeated field, or a value of another
// type, is an error. Its parts have to fit each other.
func TestIndexedJob(t *testing.T) {
	text := testkit.Read(t, "../docs/indexed-job.yaml")
	documents := strings.Split(text, "\n---\n")
	if len(documents) != 3 {
		t.Fatalf("%d documents", len(documents))
	}
	var claim core.PersistentVolumeClaim
	var shards, merge batch.Job
	for i, into := range []any{&claim, &shards, &merge} {
		if err := yaml.UnmarshalStrict([]byte(documents[i]), into); err != nil {
			t.Fatalf("document %d: %v", i+1, err)
		}
	}
	s := shards.Spec
	if *s.CompletionMode != batch.IndexedCompletion || *s.Completions != 8 || *s.Parallelism != 8 || *s.BackoffLimitPerIndex < 1 {
		t.Errorf("the shards: %+v", s)
	}
	if !*merge.Spec.Suspend {
		t.Error("the merge does not wait for the shards")
	}
	for _, j := range []batch.Job{shards, merge} {
		pod := j.Spec.Template.Spec
		if j.APIVersion != "batch/v1" || j.Kind != "Job" || pod.RestartPolicy != core.RestartPolicyNever || !*pod.SecurityContext.RunAsNonRoot {
			t.Errorf("%s: %+v", j.Name, j)
		}
		if got := pod.Volumes[0].PersistentVolumeClaim.ClaimName; got != claim.Name {
			t.Errorf("%s has the claim %s, and not %s", j.Name, got, claim.Name)
		}
	}
	made, joined := shards.Spec.Template.Spec.Containers[0].Args, merge.Spec.Template.Spec.Containers[0].Args
	shard, join := slices.Index(made, "--shard"), slices.Index(joined, "--merge")
	if shard < 0 || join < 0 || !slices.Equal(made[:shard], joined[:join]) {
		t.Fatalf("%q and %q are of different work", made, joined)
	}
	if made[shard+1] != "auto/8" || made[shard+3] != joined[join+1] {
		t.Errorf("%q makes other shards than %q joins", made, joined)
	}
}
