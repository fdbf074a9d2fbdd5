//go:build !kubernetes

package locks

// client-go has 500 packages, which take minutes to compile. So the lock of Kubernetes is on the board only
// with -tags kubernetes, as go -C evidence run . scoreboard-stores builds it.
var (
	kubernetesLocks    []Subject
	kubernetesFindings []Finding
)
