// What there is, one line each.

import { LIVE_KINDS, RESOURCE_NAMES } from '../args/resource-names.ts'
import type { OnlineCommand } from '../command.ts'
import { EXIT } from '../exit-codes.ts'
import { printError, printFailure } from '../print/failure.ts'
import { OUTPUT_OPTION, refuseYamlWatch } from '../print/output.ts'
import { print } from '../terminal/terminal.ts'

export const get: OnlineCommand = {
  name: 'get',
  summary: 'list things of one kind, or show one of them',
  args: [
    { name: 'kind', summary: 'what to list', choices: RESOURCE_NAMES },
    { name: 'name', summary: 'one of them', optional: true, completes: ([kind = '']) => LIVE_KINDS[kind] },
  ],
  options: [
    OUTPUT_OPTION,
    {
      flags: '-w, --watch',
      summary: 'go on, and show each line again when it changes; with -o json one object a line',
    },
  ],
  examples: [
    ['holdfast get deployments', 'All deployments of the tenant.'],
    ['holdfast get deployment web -o yaml', 'One of them, whole.'],
    ['holdfast get nodes -o wide -w', 'The nodes, and every change of them.'],
  ],
  online: true,
  async run({ args: [kind = '', name], terminal, text, flag }, client) {
    const { findResource } = await import('../resources/index.ts')
    const resource = findResource(kind)
    if (resource === undefined) return EXIT.usage
    const form = text('output')
    if (flag('watch') && form === 'yaml') return refuseYamlWatch(terminal)
    const first = await resource.look(client, name)
    if (!first.ok) return printFailure(terminal, first.failure)
    const isFound = first.value.rows({ nowMs: terminal.now() }).size > 0
    if (name !== undefined && !isFound) {
      printError(terminal, `there is no ${kind} ${name}`)
      return EXIT.notFound
    }
    if (!flag('watch')) {
      await first.value.print(terminal, form)
      return EXIT.ok
    }
    const { watchRows } = await import('../follow/watch-rows.ts')
    const look = () => resource.look(client, name)
    if (form !== 'json' && form !== 'name') {
      await first.value.print(terminal, form)
      return watchRows(terminal, first.value, look, { wide: form === 'wide' })
    }
    for (const row of first.value.rows({ nowMs: terminal.now(), form }).values()) print(terminal, row)
    return watchRows(terminal, first.value, look, { form })
  },
}
