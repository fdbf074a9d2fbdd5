package manifests

import (
	"slices"
	"strings"
	"testing"

	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/yaml"

	"github.com/lockstorm/lockstorm/internal/manifest"
)

// jobs decodes strictly: an unknown or repeated field, or a value of another type, is an error.
func jobs(t *testing.T, m manifest.Manifest) (list []batch.Job) {
	t.Helper()
	text, err := m.Kubernetes()
	if err != nil {
		t.Fatal(err)
	}
	for one := range strings.SplitSeq(text, "\n---\n") {
		var j batch.Job
		if err := yaml.UnmarshalStrict([]byte(one), &j); err != nil {
			t.Fatalf("%v in:\n%s", err, one)
		}
		list = append(list, j)
	}
	return list
}

func TestKubernetesDecodesStrictly(t *testing.T) {
	for _, word := range words {
		list := jobs(t, workers(word))
		if len(list) != 1 {
			t.Fatalf("%q: %d jobs", word, len(list))
		}
		checkJob(t, list[0], 8)
		c := list[0].Spec.Template.Spec.Containers[0]
		want(t, "image", c.Image, "image"+word)
		if got := expanded(c.Command); !slices.Equal(got, []string{
			"/bin/" + word, "work", "--nats", "tls://nats-1:4222", "--creds", "/run/secrets/lockstorm/creds",
			"--tls-ca", "/run/secrets/lockstorm/tls-ca", "--tls-cert", "/run/secrets/lockstorm/tls-cert", "--tls-key", "/run/secrets/lockstorm/tls-key",
			"--campaign", "sweep-0a1b2c3d", "--workers", "4", "--once",
		}) {
			t.Errorf("%q: %q", word, got)
		}
		checkSecret(t, list[0])

		list = jobs(t, parts(word))
		if len(list) != 2 {
			t.Fatalf("%q: %d jobs", word, len(list))
		}
		checkJob(t, list[0], 3)
		checkJob(t, list[1], 1)
		want(t, "the second waits", *list[1].Spec.Suspend, true)
		got := list[0].Spec.Template.Spec.Containers[0].Command
		want(t, "the part", got[len(got)-1], "/results/part-$(JOB_COMPLETION_INDEX)")
		want(t, "the word", expanded(got)[2], word)
	}
}

// checkJob checks the promises of the guide.
func checkJob(t *testing.T, j batch.Job, pods int32) {
	t.Helper()
	s, pod := j.Spec, j.Spec.Template.Spec
	want(t, "API version", j.APIVersion+" "+j.Kind, "batch/v1 Job")
	want(t, "completion mode", *s.CompletionMode, batch.IndexedCompletion)
	want(t, "completions", *s.Completions, pods)
	want(t, "parallelism", *s.Parallelism, pods)
	want(t, "limit of time, in s", *s.ActiveDeadlineSeconds, 5400)
	want(t, "attempts of each", *s.BackoffLimitPerIndex, 6)
	rule := s.PodFailurePolicy.Rules[0]
	want(t, "drained nodes", rule.Action, batch.PodFailurePolicyActionIgnore)
	want(t, "their condition", rule.OnPodConditions[0], batch.PodFailurePolicyOnPodConditionsPattern{Type: core.DisruptionTarget, Status: core.ConditionTrue})
	want(t, "restarts", pod.RestartPolicy, core.RestartPolicyNever)
	want(t, "no token", *pod.AutomountServiceAccountToken, false)
	want(t, "not root", *pod.SecurityContext.RunAsNonRoot, true)
	want(t, "seccomp", pod.SecurityContext.SeccompProfile.Type, core.SeccompProfileTypeRuntimeDefault)
	if wrong := validation.IsDNS1123Label(j.Name); wrong != nil {
		t.Error(j.Name, wrong)
	}
	if len(pod.Containers) != 1 || len(pod.InitContainers) > 0 {
		t.Fatalf("containers: %+v", pod)
	}
	c := pod.Containers[0]
	want(t, "root file system", *c.SecurityContext.ReadOnlyRootFilesystem, true)
	want(t, "more privileges", *c.SecurityContext.AllowPrivilegeEscalation, false)
	want(t, "privileged", *c.SecurityContext.Privileged, false)
	want(t, "capabilities", c.SecurityContext.Capabilities.Drop[0], core.Capability("ALL"))
	for _, of := range []core.ResourceList{c.Resources.Limits, c.Resources.Requests} {
		want(t, "CPUs", of.Cpu().Cmp(resource.MustParse("4")), 0)
		want(t, "memory", of.Memory().Cmp(resource.MustParse("8Gi")), 0)
	}
	want(t, "environment", len(c.Env), 1)
	want(t, "TMPDIR", c.Env[0], core.EnvVar{Name: "TMPDIR", Value: "/tmp"})
	want(t, "mount of /tmp", c.VolumeMounts[0], core.VolumeMount{Name: "tmp", MountPath: "/tmp"})
	if pod.Volumes[0].EmptyDir == nil {
		t.Error("/tmp is no emptyDir")
	}
}

// checkSecret checks that credentials come from the Secret, and are not written by anybody.
func checkSecret(t *testing.T, j batch.Job) {
	t.Helper()
	pod := j.Spec.Template.Spec
	s := pod.Volumes[1].Secret
	want(t, "secret", s.SecretName, "nats")
	want(t, "its mode", *s.DefaultMode, int32(0o440))
	var keys []string
	for _, i := range s.Items {
		keys = append(keys, i.Key)
	}
	want(t, "its keys", strings.Join(keys, " "), "creds tls-ca tls-cert tls-key")
	want(t, "its mount", pod.Containers[0].VolumeMounts[1], core.VolumeMount{Name: "credentials", MountPath: "/run/secrets/lockstorm", ReadOnly: true})
}

// expanded returns the words as Kubernetes runs them, if no variable of them is set.
func expanded(command []string) (list []string) {
	for _, w := range command {
		list = append(list, strings.ReplaceAll(w, "$$", "$"))
	}
	return list
}
