// Adapts base commits that lack a name which the measuring files use. Each row is a name that was introduced later, what a build
// without it gets instead, and nothing of it changes what the measured code does.

import { appendFileSync, existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { applyEdit, type Edit } from '@holdfast/testkit/builds/copy-packages'

/** Files that a build of November 16 has under another name. */
const RENAMED: readonly (readonly [file: string, text: string])[] = [
  ['packages/server/src/system-clock.ts', `export * from './real-world.ts'\n`],
  [
    'packages/server/src/operations/tenants/initialize.ts',
    `export { initialise as initialize } from '../initialise.ts'\n`,
  ],
  ['packages/core/src/scheduling/scheduling.fixture.ts', `export * from './fixture.ts'\n`],
]

/** Functions that it lacks: placements and consumers were only those of deployments, so their keys named no kind. */
const ADDED: readonly (readonly [file: string, text: string])[] = [
  [
    'packages/contract/src/index.ts',
    `
export const ownerOf = (_kind: string, uid: string) => uid
export const consumerOf = (_kind: string, name: string): string => name
`,
  ],
  [
    'packages/server/src/store/transaction.ts',
    `
import { placements as allPlacements } from './records.ts'
export const placementAt = (tenant: Parameters<typeof inTenant>[0], uid: string) => inTenant(tenant, allPlacements, uid)
`,
  ],
]

const EDITS: readonly Edit[] = [
  {
    file: 'packages/core/package.json',
    find: `"./reconcile": "./src/reconcile/index.ts"`,
    replace: `"./reconcile": "./src/reconcile/index.ts", "./*": "./src/*.ts"`,
  },
  {
    file: 'bench/lib/scheduling-load.ts',
    find: `import { desiredResidency } from '@holdfast/core'`,
    replace: `import { residencyWish as desiredResidency } from '@holdfast/core'`,
  },
  {
    file: 'bench/lib/cost/place-with-secret.ts',
    find: '...{ v: 1, owner, name, revision: 1, everAssigned: true },',
    replace: '...{ v: 1, uid: owner, name, revision: 1, everAssigned: true },',
  },
  {
    file: 'bench/lib/cost/place-with-secret.ts',
    find: `...{ reportedRefusals: '', reportedPhase: '', templates:`,
    replace: `...{ toldRefusals: '', toldPhase: '', templates:`,
  },
  {
    file: 'bench/lib/cost/place-with-secret.ts',
    find: 'return { tenant, nodeId, owner, assignmentId }',
    replace: 'return { tenant, nodeId, deployment: owner, assignmentId }',
  },
]

/** Adapts the build in this folder if it is older than the names. */
export function adaptOlder(folder: string): void {
  if (existsSync(join(folder, 'packages/server/src/system-clock.ts'))) return
  for (const [file, text] of RENAMED) {
    mkdirSync(dirname(join(folder, file)), { recursive: true })
    writeFileSync(join(folder, file), text)
  }
  for (const [file, text] of ADDED) appendFileSync(join(folder, file), text)
  for (const edit of EDITS) applyEdit(folder, edit)
}
