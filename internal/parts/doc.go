// Package parts divides the runs of scenarios into parts that can run anywhere, stores the result
// of each part as bytes, and joins them to what one process would have measured: the same counts,
// measurements, medians, intervals and first violations. Only the findings of the first verdict
// that is unknown are not carried.
package parts
