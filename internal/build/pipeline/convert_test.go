package pipeline

// Tests of several operations describe them by one Config. These are the parts of it that other operations take.

// ForScan returns what [Scan] takes of the configuration.
func (c Config) ForScan() ScanConfig {
	inputs, _ := pathsOf(c.Inputs, "")
	return ScanConfig{Inputs: inputs, Reading: c.Reading, Filter: c.Filter, Inject: c.Inject, FocusHooks: c.FocusHooks,
		AddRequires: c.AddRequires, R8: c.R8,
		Verify: c.Verify, ClassPath: c.ClassPath, Jobs: c.Jobs, Progress: c.Progress}
}

// ForAssign returns what [Assign] takes of the configuration.
func (c Config) ForAssign() AssignConfig {
	return AssignConfig{Filter: c.Filter, RuntimeClass: c.Inject.RuntimeClass, FocusHooks: c.FocusHooks,
		RuntimeExternal: c.RuntimeExternal,
		AddRequires:     c.AddRequires, R8: c.R8, Base: c.Base, Prune: c.Prune, Order: c.Order,
		ClassPath: c.ClassPath.Paths, Lines: c.Lines,
		Files: c.Files, DryRun: c.DryRun}
}

// ForSlice returns what [Instrument] takes of the configuration.
func (c Config) ForSlice() SliceConfig {
	return SliceConfig{Inputs: c.Inputs, Reading: c.Reading, Inject: c.Inject,
		AddRequires: c.AddRequires, Verify: c.Verify, ClassPath: c.ClassPath,
		Level: c.Level, Jobs: c.Jobs, Incremental: c.Incremental, DryRun: c.DryRun, Progress: c.Progress}
}
