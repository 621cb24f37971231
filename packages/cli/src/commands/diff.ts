// What would change, alterations included.

import type { OnlineCommand } from '../command.ts'
import { FILENAME_OPTION } from '../manifest/read-sources.ts'

export const diff: OnlineCommand = {
  name: 'diff',
  summary: 'show what applying manifests would change',
  details: 'The platform plans and stores nothing. Exit code 0 whether something would change or not.',
  options: [FILENAME_OPTION],
  examples: [['holdfast diff -f web.yaml', 'Each field as it is and as it would be.']],
  online: true,
  async run(invocation, client) {
    const [{ loadManifests }, { orderByDependencies }, { planAll }] = await Promise.all([
      import('../manifest/load-manifests.ts'),
      import('../manifest/order.ts'),
      import('../plan-all.ts'),
    ])
    const loaded = await loadManifests(invocation)
    if (!loaded.ok) return loaded.exitCode
    return planAll(invocation.terminal, client, orderByDependencies(loaded.manifests), 'difference')
  },
}
