// Package results keeps runs on disk, so that they can be judged again. A run
// is a directory with run.json ([Run]: the scenario, the findings, the
// versions) and history.jsonl (package history). A [Keeper] makes them.
//
// It also keeps the results of many scenarios, without their histories: the
// [Reference] from which tables and pages are printed, and with which later runs are
// compared.
package results
