// The seeded bugs that unit tests must catch.

import type { TestedBug } from './tested-bug.ts'
import { TRUST_BUGS } from './trust-bugs.ts'

export const TESTED_BUGS: readonly TestedBug[] = [...TRUST_BUGS]
