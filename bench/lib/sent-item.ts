// Finds a desired item (the desired state of one replica) that an agent received. For comparison, benchmarks create
// containers from this item directly on the engine.

import { join } from 'node:path'
import { openDesiredFile } from '@holdfast/agent/state/desired-file'
import { loadNodeState } from '@holdfast/agent/state/node-state'
import type { DesiredItem } from '@holdfast/contract'
import { waitUntil } from '@holdfast/testkit'
import type { LabPlatform } from '@holdfast/testkit/scenarios/start-lab-platform'

/** Returns an item of the deployment whose image reference contains `image`; by default an item with any image. */
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
