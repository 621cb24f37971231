// The seeded bugs that unit tests must catch.

import { DEFECT_BUGS } from './defect-bugs.ts'
import { LIMIT_BUGS } from './limit-bugs.ts'
import { STORE_AND_NODE_BUGS } from './store-and-node-bugs.ts'
import type { TestedBug } from './tested-bug.ts'
import { TRUST_BUGS } from './trust-bugs.ts'

export const TESTED_BUGS: readonly TestedBug[] = [
  ...TRUST_BUGS,
  ...LIMIT_BUGS,
  ...STORE_AND_NODE_BUGS,
  ...DEFECT_BUGS,
]
