// The sentence above the changed fields of a plan: whose fields they are, or why there are none.

import { canaryPlanTexts } from '../../texts/en/canary.ts'
import { texts } from '../../texts/en.ts'

interface Plan {
  readonly action: 'create' | 'update' | 'none' | 'delete'
  readonly canary?: 'start' | 'abort'
}

/** `count`: how many fields are listed. Undefined if the list needs no explanation. */
export function fieldsNote({ action, canary }: Plan, count: number): string | undefined {
  if (canary !== undefined) return canaryPlanTexts[canary]
  if (count > 0) return undefined
  return action === 'create' ? texts.plan.newRecord : texts.plan.noFields
}
