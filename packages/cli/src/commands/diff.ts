// `holdfast diff`: shows what applying manifests would change.

import type { OnlineCommand } from '../command.ts'
import { EXIT } from '../exit-codes.ts'
import { FILENAME_OPTION } from '../manifest/read-sources.ts'

export const diff: OnlineCommand = {
  name: 'diff',
  summary: 'show what applying manifests would change: fields, placement and update steps',
  details:
    'The platform plans the change without storing it. With --exit-code, the exit code is 1 if something would change.',
  options: [
    FILENAME_OPTION,
    { flags: '--exit-code', summary: 'exit with 1 if something would change' },
    {
      flags: '-o, --output <form>',
      summary: 'print the whole plan as data: changes, alterations, placement and update steps',
      choices: ['json', 'yaml'],
    },
  ],
  examples: [
    ['holdfast diff -f web.yaml', 'Shows the old and the new value of each changed field.'],
    [
      'holdfast diff -f manifests/ --exit-code',
      'Checks in a script whether the platform differs from the files.',
    ],
    ['holdfast diff -f web.yaml -o json', 'Prints the plan as JSON.'],
  ],
  online: true,
  async run(invocation, client) {
    const [{ loadManifests }, { orderDocuments }, { planAll }] = await Promise.all([
      import('../manifest/load-manifests.ts'),
      import('../manifest/order.ts'),
      import('../plan-all.ts'),
    ])
    const loaded = await loadManifests(invocation)
    if (!loaded.ok) return loaded.exitCode
    const output = invocation.text('output')
    const form = output === 'json' || output === 'yaml' ? output : 'difference'
    const ordered = orderDocuments(loaded.manifests)
    const { exitCode, differs } = await planAll(invocation, client, ordered, form)
    return exitCode === EXIT.ok && differs && invocation.flag('exit-code') ? EXIT.error : exitCode
  },
}
