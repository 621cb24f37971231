// Translates `restart` and `deploy.restart_policy.condition`: Holdfast starts every container again that exits.

import type { Translation } from '../draft.ts'
import { textOf, type Written } from '../source/written.ts'

const ALWAYS: ReadonlySet<string> = new Set(['always', 'unless-stopped', 'any'])
const WHY = 'A container of a deployment is always started again when it exits.'
const NEXT = 'Leave out services that end on their own, such as migrations.'

export function translateRestart({ report }: Translation, node: Written): void {
  if (!ALWAYS.has(textOf(node) ?? '')) report.changed(node, 'the container is always restarted', WHY, NEXT)
}
