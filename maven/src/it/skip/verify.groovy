assert !new File(basedir, 'target/tracegen').exists()
assert !new File(localRepositoryPath, 'dev/tracegen/it/skip/1.0').list().any { it.contains('tracegen-mapping') }
true
