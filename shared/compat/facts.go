package compat

import (
	"fmt"
	"strings"
)

// Facts are what a host found out about itself. A version that a host has only
// one way to know goes into HostVersion, Packages and NodeVersion; one that it
// can learn in several ways goes into Answers, so that the ways can be compared:
// a stale mirror of a package says nothing about what runs.
type Facts struct {
	// Host is its name: "dsh", "standalone", "test".
	Host string
	// HostVersion is the version of the host's package.
	HostVersion string
	// Packages are the versions of packages found, by name.
	Packages map[string]string
	// NodeVersion is that of the running Node, with or without a leading v.
	NodeVersion string
	// Protocol is the shared.ProtocolVersion that the host's half was built with.
	Protocol int
	// Answers are further answers, each with its source.
	Answers []Answer
	// Features are the names of the features that were found.
	Features []string
	// Probed are the scopes (ScopeHost, ScopePage) whose features were looked for.
	// A feature of another scope is not judged yet; with none, all of them are missing.
	Probed []string
	// Override is the version of the host that the user runs at their own risk
	// although it was not tested; "" for none.
	Override string
}

// Sources of an [Answer].
const (
	// SourceLoaded: what the running loader resolves.
	SourceLoaded = "loaded"
	// SourceOwn: what the host's own binary resolves.
	SourceOwn = "own"
	// SourceServed: what the page was served, by its boot manifest.
	SourceServed = "served"
	// SourceInstalled: what lies in an installation that does not run (the command's gate).
	SourceInstalled = "installed"
)

// SubjectNode is the subject of an answer about the Node version.
const SubjectNode = "node"

// Answer is one source's answer to which version of something there is. A source
// that need not know of the subject gives none.
type Answer struct {
	// Subject is a package's name (the host's own included) or SubjectNode.
	Subject string
	// Source is who answers.
	Source string
	// Version found; "" says that the source looked and found none.
	Version string
	// Where it was found, for messages; may be empty.
	Where string
	// Problem tells why there is no answer ("no answer within 5 s"); then Version is "".
	Problem string
}

func (a Answer) String() string {
	var b strings.Builder
	switch {
	case a.Problem != "":
		b.WriteString(a.Problem)
	case a.Version == "":
		b.WriteString("none")
	default:
		b.WriteString(a.Version)
	}
	switch {
	case a.Source != "" && a.Where != "":
		fmt.Fprintf(&b, " (%s: %s)", a.Source, a.Where)
	case a.Source != "":
		fmt.Fprintf(&b, " (%s)", a.Source)
	}
	return b.String()
}

// about gives all answers about a subject, the single one first.
func (f Facts) about(subject, single string) []Answer {
	var answers []Answer
	if single != "" {
		answers = append(answers, Answer{Subject: subject, Version: single})
	}
	for _, a := range f.Answers {
		if a.Subject == subject {
			answers = append(answers, a)
		}
	}
	return answers
}

// agreed is the version that all answers give, or the reason why there is none.
// expected is what the table wants, for that reason.
func agreed(subject, expected string, answers []Answer) (string, *Reason) {
	all := make([]string, len(answers))
	version, failed, missing, differ, twice := "", false, len(answers) == 0, false, false
	sources := map[string]bool{}
	for i, a := range answers {
		all[i] = a.String()
		failed = failed || a.Problem != ""
		missing = missing || a.Version == ""
		twice = twice || sources[a.Source]
		sources[a.Source] = true
		differ = differ || version != "" && a.Version != "" && strings.TrimPrefix(version, "v") != strings.TrimPrefix(a.Version, "v")
		if version == "" {
			version = a.Version
		}
	}
	reason := &Reason{Subject: subject, Expected: expected, Found: strings.Join(all, ", ")}
	switch {
	case failed:
		reason.Code = ProbeFailed
		reason.Message = "A version could not be found out, so nothing is known about it; see why, mend it and start the host again."
	case twice:
		reason.Code = PackageCopies
		reason.Message = "This part of the host is there more than once, so it is open which one runs; install the host again at the tested version."
	case differ:
		reason.Code = FactsDisagree
		reason.Message = "What runs and what is installed are of different versions; install the host again and start it anew, so that there is one."
	case missing:
		reason.Code = PackageMissing
		if version == "" {
			reason.Found = ""
		}
		reason.Message = "A part of the host that drafts build on was not found; install the host again at the tested version."
	default:
		return version, nil
	}
	return "", reason
}
