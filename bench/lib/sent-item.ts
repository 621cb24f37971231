// Finds the desired item that an agent received. Benchmarks create containers from it directly on the engine, for
// comparison.

import { join } from 'node:path'
import { openDesiredFile } from '@holdfast/agent/state/desired-file'
import { loadNodeState } from '@holdfast/agent/state/node-state'
import type { DesiredItem } from '@holdfast/contract'
import { waitUntil } from '@holdfast/testkit'
import type { LabPlatform } from '@holdfast/testkit/scenarios/start-lab-platform'

/** `image`: a part of the wanted image reference, such as its digest; if absent, an item with any image is returned. */
export function sentItem(cluster: LabPlatform, node: string, name: string, image = ''): Promise<DesiredItem> {
  return waitUntil(
    async () => {
      const folder = join(cluster.node(node).folder, 'agent')
      const state = await loadNodeState(folder)
      const kept = state && (await openDesiredFile(folder, state, () => {}).read())
      return kept?.items.find(
        ({ template, desired }) =>
          template.name === name && desired === 'running' && template.image.includes(image),
      )
    },
    { what: 'the agent has stored the desired item' },
  )
}
