// Package manifests checks what internal/manifest writes against the schedulers' own types: k8s.io/api
// for Kubernetes, compose-go for compose. Their modules stay out of the command's.
package manifests
