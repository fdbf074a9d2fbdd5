// Package manifest writes what schedulers need to start workers: a script for sbatch, an Indexed Job
// of Kubernetes, a compose file.
//
// There are two kinds of work. With NATS servers every machine runs "lockstorm work --once" for a
// campaign. Without them every machine makes one part of a sweep or an exploration by "--shard
// auto/N", and one more command puts the parts together.
//
// The functions are pure. Text of the user reaches a manifest only through [shellWord] and
// [yamlWord], or after a check that leaves nothing to quote.
package manifest
