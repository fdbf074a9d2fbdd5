// Package testkit has helpers for tests.
//
// [GoldenFile] compares what a test makes with a stored file. The flag -update renews the files,
// and "make bless" runs all tests that have it:
//
//	GoldenFile(t, "testdata/plans.yaml", text, "the same seed now draws another plan.")
//
// [StartOrphan] starts the test binary again as a program that is killed, to check what is left of
// it:
//
//	func TestMain(m *testing.M) { OrphanMain(m, program) }
//	...
//	o := StartOrphan(t, "")
//	o.End(t, func(pid int) error { return syscall.Kill(pid, syscall.SIGKILL) })
//
// [NeedEngine] skips a test that needs a Docker engine. [NewAuthority] issues certificates for
// Redis servers that use TLS.
package testkit
