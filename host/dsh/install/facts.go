package install

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/draft-sessions/dsh-draft-sessions/shared"
	"github.com/draft-sessions/dsh-draft-sessions/shared/compat"
)

const (
	// probeWithin bounds each program that is asked for its version, unless a DSH says otherwise.
	probeWithin = 10 * time.Second
	// maxPackages bounds the search for a pinned package.
	maxPackages = 20_000
)

// Facts tell what the gate decides on, of an installation that need not run: the
// host's version by its package and by its own word, the node of the PATH, and the
// pinned packages as its next start resolves them. The mirror of packages in the
// home is not asked: DSH makes it anew at each start. Features are not looked for.
// An answer that did not come in time is told as such, so there is no error.
func (d *DSH) Facts(ctx context.Context, home, profile string, host compat.Host) compat.Facts {
	f := compat.Facts{Host: "dsh", Protocol: shared.ProtocolVersion, Probed: []string{compat.ScopeNothing}}
	within := d.ProbeWithin
	if within == 0 {
		within = probeWithin
	}
	f.Answers = append(f.Answers,
		compat.Answer{Subject: host.Package, Source: compat.SourceInstalled, Version: d.Version, Where: d.Root},
		probe(ctx, within, host.Package, append(slices.Clone(d.Command), "--version")...),
		probe(ctx, within, compat.SubjectNode, "node", "--version"),
	)
	found, problem := d.resolve(ctx, slices.Sorted(maps.Keys(host.Pins)))
	for _, name := range slices.Sorted(maps.Keys(host.Pins)) {
		if problem != "" {
			f.Answers = append(f.Answers, compat.Answer{Subject: name, Source: compat.SourceInstalled, Problem: problem})
		} else if len(found[name]) == 0 {
			f.Answers = append(f.Answers, compat.Answer{Subject: name, Source: compat.SourceInstalled})
		}
		f.Answers = append(f.Answers, found[name]...)
		// A copy of the profile's own would be loaded instead.
		own := filepath.Join(profileFolder(home, profile), "node_modules", filepath.FromSlash(name))
		if manifest, err := readPackage(own); err == nil {
			f.Answers = append(f.Answers, compat.Answer{Subject: name, Source: compat.SourceLoaded, Version: manifest.Version, Where: own})
		}
	}
	return f
}

func probe(ctx context.Context, within time.Duration, subject string, argv ...string) compat.Answer {
	a := compat.Answer{Subject: subject, Source: compat.SourceOwn}
	out, err := run(ctx, within, "", nil, argv...)
	if err != nil {
		a.Problem = fmt.Sprintf("%s --version: %v", filepath.Base(argv[0]), err)
		return a
	}
	a.Version = out
	return a
}

// resolve finds packages as DSH does at its start: breadth first through the
// dependencies of its own package, each from where it really lies, the first of a
// name winning. Another version of a name that is reached later is told too.
func (d *DSH) resolve(ctx context.Context, names []string) (map[string][]compat.Answer, string) {
	found := map[string][]compat.Answer{}
	seen := map[string]bool{}
	queue := []string{d.Root}
	for len(queue) > 0 && len(seen) < maxPackages {
		if ctx.Err() != nil {
			return nil, ctx.Err().Error()
		}
		dir := queue[0]
		queue = queue[1:]
		real, err := filepath.EvalSymlinks(dir)
		if err != nil || seen[real] {
			continue
		}
		seen[real] = true
		manifest, err := readPackage(real)
		if err != nil {
			continue // a package that cannot be read is none that DSH can load
		}
		if slices.Contains(names, manifest.Name) && !told(found[manifest.Name], manifest.Version) {
			found[manifest.Name] = append(found[manifest.Name], compat.Answer{
				Subject: manifest.Name, Source: compat.SourceInstalled, Version: manifest.Version, Where: real,
			})
		}
		for _, dependencies := range []map[string]string{manifest.Dependencies, manifest.Peers} {
			for _, name := range slices.Sorted(maps.Keys(dependencies)) {
				if next := lookup(real, name); next != "" {
					queue = append(queue, next)
				}
			}
		}
	}
	return found, ""
}

func told(answers []compat.Answer, version string) bool {
	return slices.ContainsFunc(answers, func(a compat.Answer) bool { return a.Version == version })
}

// lookup is the folder that Node would load a package from.
func lookup(from, name string) string {
	for dir := from; ; dir = filepath.Dir(dir) {
		if filepath.Base(dir) != "node_modules" {
			candidate := filepath.Join(dir, "node_modules", filepath.FromSlash(name))
			if _, err := os.Stat(filepath.Join(candidate, "package.json")); err == nil {
				return candidate
			}
		}
		if dir == filepath.Dir(dir) {
			return ""
		}
	}
}
