// What would change, alterations included, and what would come of it.

import type { OnlineCommand } from '../command.ts'
import { EXIT } from '../exit-codes.ts'
import { FILENAME_OPTION } from '../manifest/read-sources.ts'

export const diff: OnlineCommand = {
  name: 'diff',
  summary: 'show what applying manifests would change, where replicas would go, and in which steps',
  details:
    'The platform plans and stores nothing. Exit code 0 whether something would change or not; with --exit-code it is 1 where something would.',
  options: [
    FILENAME_OPTION,
    { flags: '--exit-code', summary: 'exit with 1 where something would change' },
    {
      flags: '-o, --output <form>',
      summary: 'the whole plan as data: changes, alterations, placement, steps of the update',
      choices: ['json', 'yaml'],
    },
  ],
  examples: [
    ['holdfast diff -f web.yaml', 'Each field as it is and as it would be.'],
    ['holdfast diff -f manifests/ --exit-code', 'For a script: does what runs differ from these files?'],
    ['holdfast diff -f web.yaml -o json', "The platform's plan."],
  ],
  online: true,
  async run(invocation, client) {
    const [{ loadManifests }, { orderByDependencies }, { planAll }] = await Promise.all([
      import('../manifest/load-manifests.ts'),
      import('../manifest/order.ts'),
      import('../plan-all.ts'),
    ])
    const loaded = await loadManifests(invocation)
    if (!loaded.ok) return loaded.exitCode
    const output = invocation.text('output')
    const form = output === 'json' || output === 'yaml' ? output : 'difference'
    const ordered = orderByDependencies(loaded.manifests)
    const { exitCode, differs } = await planAll(invocation.terminal, client, ordered, form)
    return exitCode === EXIT.ok && differs && invocation.flag('exit-code') ? EXIT.error : exitCode
  },
}
