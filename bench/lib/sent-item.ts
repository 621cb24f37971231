// What the agent of a lab node was told to have of a deployment: a bare side makes its containers from it.

import { join } from 'node:path'
import { openDesiredFile } from '@holdfast/agent/state/desired-file'
import { loadNodeState } from '@holdfast/agent/state/node-state'
import type { DesiredItem } from '@holdfast/contract'
import { waitUntil } from '@holdfast/testkit'
import type { LabPlatform } from '@holdfast/testkit/scenarios/start-lab-platform'

/** `image`: a part of the reference, such as its digest; any without it. */
export function sentItem(whole: LabPlatform, node: string, name: string, image = ''): Promise<DesiredItem> {
  return waitUntil(
    async () => {
      const folder = join(whole.node(node).folder, 'agent')
      const state = await loadNodeState(folder)
      const kept = state && (await openDesiredFile(folder, state, () => {}).read())
      return kept?.items.find(
        ({ template, desired }) =>
          template.name === name && desired === 'running' && template.image.includes(image),
      )
    },
    { what: 'the agent keeps what it was told' },
  )
}
